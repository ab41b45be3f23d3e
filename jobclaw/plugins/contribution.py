"""Asks a plugin's hooks once and checks what they return, as a whole."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar, cast

import pluggy

from jobclaw.errors import PluginError
from jobclaw.plugins.failure import describe
from jobclaw.spi import Agent, ChannelPlugin, Command, IdentityGate, hooks

T = TypeVar("T")
_PREFIX = "jobclaw_"
_SHOWN = 80


@dataclass(frozen=True)
class Contribution:
    """Everything that one plugin provides."""

    agents: tuple[Agent, ...] = ()
    channels: tuple[ChannelPlugin, ...] = ()
    commands: tuple[Command, ...] = ()
    gate: IdentityGate | None = None


def collect(plugin: str, namespace: object) -> Contribution:
    """Ask the hooks of a loaded plugin (a module, or an object with the hooks on it).

    Raises:
        PluginError: a hook is misspelt, unmarked, takes arguments, raises, or returns something
        else than it should.
    """
    manager = pluggy.PluginManager(hooks.GROUP)
    manager.add_hookspecs(hooks)
    known = _known_hooks()
    found = list(_marked(manager, namespace))
    for name in found:
        if name not in known:
            raise _unknown(plugin, name, known)
    _check_unmarked(plugin, namespace, known)
    if not found:
        raise PluginError("plugins.no-hook", plugin=plugin)
    try:
        manager.register(namespace, name=plugin)
    except pluggy.PluginValidationError as error:
        raise PluginError("plugins.bad-signature", plugin=plugin, error=str(error)) from error
    asking = _Asking(plugin, manager, frozenset(found))
    gates = asking.values("jobclaw_identity_gate")
    return Contribution(
        agents=asking.items("jobclaw_agents", Agent),
        channels=asking.items("jobclaw_channels", ChannelPlugin),
        commands=asking.items("jobclaw_commands", Command),
        gate=asking.gate(gates[0]) if gates else None,
    )


def _known_hooks() -> tuple[str, ...]:
    return tuple(name for name in vars(hooks) if name.startswith(_PREFIX))


def _marked(manager: pluggy.PluginManager, namespace: object) -> Iterable[str]:
    """The names of the hooks that carry the mark."""
    for name in dir(namespace):
        options = manager.parse_hookimpl_opts(namespace, name)
        if options is not None:
            yield options.get("specname") or name


def _unknown(plugin: str, name: str, known: Sequence[str]) -> PluginError:
    near = difflib.get_close_matches(name, known, 1) or [", ".join(known)]
    return PluginError("plugins.unknown-hook", plugin=plugin, hook=name, near=near[0])


def _check_unmarked(plugin: str, namespace: object, known: Sequence[str]) -> None:
    """A function of the plugin's own called jobclaw_… was meant as a hook."""
    for name, value in inspect.getmembers(namespace, inspect.isfunction):
        own = value.__module__ == getattr(namespace, "__name__", "")
        if own and name.startswith(_PREFIX) and not hasattr(value, f"{hooks.GROUP}_impl"):
            if name not in known:
                raise _unknown(plugin, name, known)
            raise PluginError("plugins.unmarked-hook", plugin=plugin, hook=name)


@dataclass(frozen=True)
class _Asking:
    """Calls hooks; each is asked once."""

    plugin: str
    manager: pluggy.PluginManager
    found: frozenset[str]

    def values(self, hook: str) -> list[object]:
        """What the hook returned, without None: one value, or none."""
        caller = cast("Callable[[], list[object]]", getattr(self.manager.hook, hook))
        try:
            return caller()
        except Exception as error:
            raise PluginError(
                "plugins.hook-raised", plugin=self.plugin, hook=hook, error=describe(error)
            ) from error

    def items(self, hook: str, kind: type[T]) -> tuple[T, ...]:
        """The items of a hook that gives a list."""
        if hook not in self.found:
            return ()
        due = f"list[{kind.__name__}]"
        given = next(iter(self.values(hook)), None)
        if not isinstance(given, list | tuple):
            raise self._refuse(hook, given, due)
        items = cast("Sequence[object]", given)
        for item in items:
            if not isinstance(item, kind):
                raise self._refuse(hook, item, due)
        return tuple(cast("Sequence[T]", items))

    def gate(self, given: object) -> IdentityGate:
        """The profile gate."""
        agent_id: object = getattr(given, "agent_id", None)
        fields: object = getattr(given, "fields", None)
        named = isinstance(agent_id, str) and isinstance(fields, tuple)
        if not named or not callable(getattr(given, "missing", None)):
            raise self._refuse("jobclaw_identity_gate", given, "IdentityGate")
        return cast("IdentityGate", given)

    def _refuse(self, hook: str, given: object, due: str) -> PluginError:
        shown = " ".join(repr(given).split())[:_SHOWN]
        return PluginError(
            "plugins.wrong-return", plugin=self.plugin, hook=hook, given=shown, due=due
        )
