"""What an agent declares, checked before anybody relies on it.

Every complaint names the plugin, the agent and the value, so that its author can mend it.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from pathlib import Path
from typing import cast, get_args

from msgspec import field

from jobclaw.errors import PluginError
from jobclaw.model import ROLES, UNKNOWN, Role, Value
from jobclaw.model.message import AttachmentKind
from jobclaw.spi import Agent, AgentIntro, Command

_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_INTENT = re.compile(r"[A-Z][A-Z0-9_]{0,62}")
_COMMAND = re.compile(r"[a-z0-9][a-z0-9-]{0,31}")
_RESERVED = frozenset({UNKNOWN, "OOS"})
_KINDS: tuple[AttachmentKind, ...] = get_args(AttachmentKind)
_SHOWN = 80


class Declaration(Value, frozen=True):
    """The checked declarations of one agent; command names have `-` for `_`.

    `on_loop`: `handle` is an async generator; anything else gets a thread. `always_available`:
    it does not override `is_available`.
    """

    id: str
    priority: int
    role: Role
    intents: tuple[str, ...]
    accepts: tuple[AttachmentKind, ...]
    keywords: dict[str, dict[str, float]] = field(default_factory=dict[str, dict[str, float]])
    commands: dict[str, str] = field(default_factory=dict[str, str])
    locales: tuple[Path, ...] = ()
    on_loop: bool = True
    always_available: bool = False


def read_declaration(plugin: str, agent: Agent) -> Declaration:
    """Check what an agent declares.

    Raises:
        PluginError: the first thing that is wrong, with the plugin and the agent named.
    """
    reader = _Reader(plugin, agent)
    reader.check_handle()
    intents = reader.intents()
    return Declaration(
        id=reader.id,
        priority=reader.priority(),
        role=reader.role(),
        intents=intents,
        accepts=reader.accepts(),
        keywords=reader.keywords(intents),
        commands=reader.commands(intents),
        locales=reader.locales(),
        on_loop=inspect.isasyncgenfunction(agent.handle),
        always_available=_is_default(agent.is_available),
    )


def _is_default(method: object) -> bool:
    """Whether an agent's `is_available` is the one that always says yes."""
    return getattr(method, "__func__", None) is Agent.is_available


def check_command(plugin: str, command: Command) -> None:
    """Check a plugin's command.

    Raises:
        PluginError: the name, the target, the role or the summary is wrong.
    """
    name = _shown(command.name)
    if not _matches(_COMMAND, command.name, swap=True):
        raise PluginError("plugins.bad-command", plugin=plugin, command=name)
    if bool(command.intent) == bool(command.agent):
        raise PluginError("plugins.command-target", plugin=plugin, command=name)
    if command.intent and not _is_intent(command.intent):
        raise PluginError("plugins.bad-intent", plugin=plugin, agent=name, given=command.intent)
    if command.role not in ROLES:
        raise PluginError("plugins.bad-role", plugin=plugin, agent=name, given=command.role)
    if not isinstance(cast("object", command.summary), Mapping):
        raise PluginError("plugins.command-summary", plugin=plugin, command=name)


def _shown(value: object) -> str:
    """A value as a complaint shows it: a line, bounded."""
    text = repr(value).replace("\n", " ")
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _matches(pattern: re.Pattern[str], value: object, *, swap: bool = False) -> bool:
    if not isinstance(value, str):
        return False
    return pattern.fullmatch(value.replace("_", "-") if swap else value) is not None


def _is_intent(value: object) -> bool:
    return _matches(_INTENT, value) and value not in _RESERVED


class _Reader:
    """Reads one agent's attributes, which are whatever its author wrote."""

    def __init__(self, plugin: str, agent: Agent) -> None:
        self._plugin = plugin
        self._agent = agent
        self.id = type(agent).__name__
        intro = getattr(agent, "intro", None)
        if not isinstance(intro, AgentIntro):
            raise self._refuse("plugins.bad-intro", intro)
        if not _matches(_ID, intro.id):
            raise self._refuse("plugins.bad-id", intro.id)
        self.id = intro.id
        self._check_intro(intro.name, intro.description, intro.examples)

    def _check_intro(self, name: object, description: object, examples: object) -> None:
        for text in (name, description):
            if not isinstance(text, str) or not text.strip():
                raise self._refuse("plugins.bad-intro", text)
        if not isinstance(examples, tuple | list):
            raise self._refuse("plugins.bad-examples", examples)

    def _declared(self, name: str) -> object:
        return getattr(self._agent, name)

    def _refuse(self, text_id: str, given: object, **values: object) -> PluginError:
        return PluginError(
            text_id, plugin=self._plugin, agent=self.id, given=_shown(given), **values
        )

    def check_handle(self) -> None:
        """`handle` must be the agent's own and must yield."""
        handle = type(self._agent).handle
        if handle is Agent.handle or inspect.iscoroutinefunction(handle):
            raise self._refuse("plugins.bad-handle", type(self._agent).__name__)

    def priority(self) -> int:
        """A whole number; "50", NaN and True are none."""
        value = self._declared("priority")
        if isinstance(value, bool) or not isinstance(value, int):
            raise self._refuse("plugins.bad-priority", value)
        return value

    def role(self) -> Role:
        """One of the three."""
        value = self._declared("role")
        if value not in ROLES:
            raise self._refuse("plugins.bad-role", value)
        return value

    def intents(self) -> tuple[str, ...]:
        """A sequence of names; a plain string would be read letter by letter."""
        value = self._declared("intents")
        if not isinstance(value, tuple | list):
            raise self._refuse("plugins.intents-shape", value)
        for name in cast("list[object]", value):
            if not _is_intent(name):
                raise self._refuse("plugins.bad-intent", name)
        return tuple(dict.fromkeys(cast("list[str]", value)))

    def accepts(self) -> tuple[AttachmentKind, ...]:
        """Kinds of attachment."""
        value = self._declared("accepts")
        if not isinstance(value, tuple | list):
            raise self._refuse("plugins.bad-accepts", value, known=", ".join(_KINDS))
        for kind in cast("list[object]", value):
            if kind not in _KINDS:
                raise self._refuse("plugins.bad-accepts", kind, known=", ".join(_KINDS))
        return tuple(dict.fromkeys(cast("list[AttachmentKind]", value)))

    def keywords(self, intents: tuple[str, ...]) -> dict[str, dict[str, float]]:
        """Keyword → weight for intents of its own."""
        return {
            intent: self._weights(intent, words)
            for intent, words in self._mapping(
                self._declared("keywords"), "plugins.keywords-shape"
            )
            if self._is_own(intent, intents, "plugins.foreign-intent")
        }

    def _weights(self, intent: str, words: object) -> dict[str, float]:
        found: dict[str, float] = {}
        for word, weight in self._mapping(words, "plugins.keywords-shape"):
            if not isinstance(cast("object", word), str) or not word.strip():
                raise self._refuse("plugins.empty-keyword", word, intent=intent)
            if isinstance(weight, bool) or not isinstance(weight, int | float):
                raise self._refuse("plugins.bad-weight", weight, intent=intent, keyword=word)
            if not 0 <= weight <= 1:  # NaN is not either
                raise self._refuse("plugins.bad-weight", weight, intent=intent, keyword=word)
            found[word] = float(weight)
        return found

    def commands(self, intents: tuple[str, ...]) -> dict[str, str]:
        """Command → intent of its own; a leading slash is tolerated."""
        found: dict[str, str] = {}
        for name, intent in self._mapping(self._declared("commands"), "plugins.commands-shape"):
            plain = name.removeprefix("/") if isinstance(cast("object", name), str) else name
            if not _matches(_COMMAND, plain, swap=True):
                raise PluginError(
                    "plugins.bad-command", plugin=self._plugin, command=_shown(name)
                )
            self._is_own(intent, intents, "plugins.foreign-intent")
            found[plain.replace("_", "-")] = cast("str", intent)
        return found

    def locales(self) -> tuple[Path, ...]:
        """The folders of its catalogues, later ones overriding earlier ones."""
        value = self._declared("locales")
        if value is None:
            return ()
        folders = cast("tuple[object, ...]", value) if isinstance(value, tuple) else (value,)
        for folder in folders:
            if not isinstance(folder, Path) or not folder.is_dir():
                raise self._refuse("plugins.bad-locales", folder)
        return cast("tuple[Path, ...]", folders)

    def _mapping(self, value: object, text_id: str) -> list[tuple[str, object]]:
        if not isinstance(value, Mapping):
            raise self._refuse(text_id, value)
        return list(cast("Mapping[str, object]", value).items())

    def _is_own(self, intent: object, intents: tuple[str, ...], text_id: str) -> bool:
        if intent not in intents:
            raise self._refuse(text_id, intent, own=", ".join(intents) or "-")
        return True
