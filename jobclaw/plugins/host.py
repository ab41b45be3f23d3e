"""Loads plugins and keeps what they provide; each fault is reported and stays its plugin's own.

Importing and asking run in threads with a time limit; what comes out is checked and registered
on the caller's thread, all of a plugin or nothing. Reloading does the same with a new copy of
the module, and only then lets go of the old one.
"""

from __future__ import annotations

import asyncio
import errno
import gc
import logging
import os
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Generic, Literal, Protocol, TypeVar

from msgspec.structs import replace

from jobclaw.errors import PluginError
from jobclaw.model import Value
from jobclaw.plugins.candidate import (
    Candidate,
    Loaded,
    drop_in_candidates,
    installed_candidates,
)
from jobclaw.plugins.drop_in import find_drop_ins, is_unreadable
from jobclaw.plugins.failure import PluginFailure, failure_of
from jobclaw.plugins.trial import Trial, run_trials
from jobclaw.plugins.watch import FileWatch, moments
from jobclaw.settings.operation import PluginSettings
from jobclaw.spi import Agent, ChannelPlugin, Command, IdentityGate

_log = logging.getLogger(__name__)
LOAD_LIMIT_S = 5.0


class Registry(Protocol):
    """Where agents and commands go."""

    def replace(
        self, source: str, agents: Sequence[Agent], commands: Sequence[Command] = ()
    ) -> None:
        """Set what a plugin provides, or raise and change nothing."""
        ...

    def unregister(self, source: str) -> None:
        """Forget what a plugin provided."""
        ...


R = TypeVar("R", bound=Registry)


class PluginInfo(Value, frozen=True):
    """A plugin as it is shown: where it comes from, and whether it is in use."""

    name: str
    origin: str
    state: Literal["ok", "failed", "disabled"]
    version: str = ""
    agents: tuple[str, ...] = ()
    channels: tuple[str, ...] = ()


class PluginHost(Generic[R]):
    """All plugins of a process; changes are made on one thread, the event loop's if it runs."""

    def __init__(
        self, settings: PluginSettings, registry: R, *, limit_s: float = LOAD_LIMIT_S
    ) -> None:
        self.registry = registry
        self._settings = settings
        self._limit_s = limit_s
        self._candidates: dict[str, Candidate] = {}
        self._present: dict[str, Loaded] = {}
        self._failures: dict[str, PluginFailure] = {}
        self._strays: dict[str, PluginFailure] = {}

    @property
    def channels(self) -> Mapping[str, ChannelPlugin]:
        """The channels by name."""
        return {
            channel.name: channel
            for present in self._present.values()
            for channel in present.contribution.channels
        }

    @property
    def gate(self) -> IdentityGate | None:
        """The profile gate of the first plugin that has one."""
        return next((gate for _, gate in self._gates()), None)

    @property
    def failures(self) -> tuple[PluginFailure, ...]:
        """What is wrong; so are a second plugin of a name and a second profile gate."""
        strays = self._strays.values()
        return (*self._failures.values(), *strays, *self._spare_gates())

    @property
    def plugins(self) -> tuple[PluginInfo, ...]:
        """Every plugin that was found, in the order of loading."""
        return tuple(self._info(candidate) for candidate in self._candidates.values())

    def broken(self) -> tuple[str, ...]:
        """The names of the plugins that failed; an earlier version of one may be in use."""
        return tuple(self._failures)

    def load(self) -> None:
        """Load everything; blocks for little more than the time limit, never raises for one."""
        self._adopt(self._try_out(self._distinct(installed_candidates() + self._drop_ins())))

    def watch(
        self,
        stop: asyncio.Event,
        files: Sequence[Path] = (),
        *,
        on_plugins: Callable[[], object],
        on_files: Callable[[], Awaitable[object]],
    ) -> Coroutine[object, object, None]:
        """Until `stop`: load changed, new and removed drop-ins, and look at `files` as well.

        `on_plugins` is told after a change has been dealt with, `on_files` awaited when a file
        is another than at the time of this call; neither may raise.
        """
        return self._watch(stop, FileWatch(files), on_plugins, on_files)

    async def _watch(
        self,
        stop: asyncio.Event,
        files: FileWatch,
        on_plugins: Callable[[], object],
        on_files: Callable[[], Awaitable[object]],
    ) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self._watch_drop_ins(stop, on_plugins))
            group.create_task(files.run(stop, on_files))

    def refresh(self) -> bool:
        """Look once, as `watch` does, and tell whether anything had changed; blocks."""
        changed, removed = self._changes(self._drop_ins())
        self._remove(removed)
        self._adopt(self._try_out(changed))
        if changed or removed:
            gc.collect()  # a module is a cycle, and the old ones would pile up
        return bool(changed or removed)

    async def _watch_drop_ins(
        self, stop: asyncio.Event, on_change: Callable[[], object]
    ) -> None:
        """Look on a thread, import on threads, register here."""
        async for _ in moments(stop, self._settings.drop_in_dirs, recursive=True):
            changed, removed = self._changes(await asyncio.to_thread(self._drop_ins))
            if changed or removed:
                self._remove(removed)
                self._adopt(await asyncio.to_thread(self._try_out, changed))
                on_change()
                gc.collect()

    def _changes(self, drop_ins: Sequence[Candidate]) -> tuple[list[Candidate], list[str]]:
        """The drop-ins to load and the names to let go.

        Whenever there are any, what failed before is tried again too: its id may be free now.
        """
        there = {candidate.name: candidate for candidate in self._distinct(drop_ins)}
        known = self._candidates
        changed = {
            name
            for name, one in there.items()
            if name not in known or known[name].stamp != one.stamp
        }
        removed = [
            name for name, one in known.items() if one.stamp is not None and name not in there
        ]
        if changed or removed:
            changed |= self._failures.keys() & there.keys()
        return [one for name, one in there.items() if name in changed], removed

    def _drop_ins(self) -> list[Candidate]:
        drop_ins = find_drop_ins(self._settings.drop_in_dirs)
        return drop_in_candidates(drop_ins, self._settings.trust_dirs)

    def _distinct(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """The first candidate of each name, installed ones before all; reports the others.

        Reports folders that may not be read as well.
        """
        first = {name: one for name, one in self._candidates.items() if one.stamp is None}
        strays: dict[str, PluginFailure] = {}
        for candidate in candidates:
            if first.setdefault(candidate.name, candidate) is not candidate:
                error = PluginError("plugins.duplicate-plugin", plugin=candidate.origin)
                strays[candidate.origin] = failure_of(candidate.origin, error, error.text_id)
        for folder in filter(is_unreadable, self._settings.drop_in_dirs):
            values: dict[str, object] = {
                "file": str(folder),
                "reason": os.strerror(errno.EACCES),
            }
            strays[str(folder)] = PluginFailure(
                plugin=str(folder), text_id="file.unreadable", values=values
            )
        for origin in strays.keys() - self._strays.keys():
            self._report(strays[origin])
        self._strays = strays
        return [one for one in candidates if first[one.name] is one]

    def _try_out(
        self, candidates: Sequence[Candidate]
    ) -> list[tuple[Candidate, Trial[Loaded] | None]]:
        """Import and ask plugins, within the time limit; registers nothing. None: disabled."""
        disabled = self._settings.disabled
        trials = {
            one.name: Trial(one.name, one.load)
            for one in candidates
            if one.name not in disabled
        }
        run_trials(list(trials.values()), self._limit_s)
        return [(candidate, trials.get(candidate.name)) for candidate in candidates]

    def _adopt(self, tried: Sequence[tuple[Candidate, Trial[Loaded] | None]]) -> None:
        """Register what came out, plugin by plugin; a failed one keeps its earlier version."""
        for candidate, trial in tried:
            self._candidates[candidate.name] = candidate
            if trial is None:
                continue
            outcome = trial.outcome
            failure = outcome.failure or self._register(candidate.name, outcome.results[0])
            if failure is None:
                self._failures.pop(candidate.name, None)
                continue
            for loaded in outcome.results:
                loaded.forget()
            kept = replace(failure, kept=candidate.name in self._present)
            self._failures[candidate.name] = kept
            self._report(kept)
        ranks = {name: at for at, name in enumerate(self._candidates)}
        self._present = dict(sorted(self._present.items(), key=lambda item: ranks[item[0]]))

    def _remove(self, names: Sequence[str]) -> None:
        for name in names:
            self._candidates.pop(name, None)
            self._failures.pop(name, None)
            present = self._present.pop(name, None)
            if present is not None:
                self.registry.unregister(name)
                present.forget()

    def _register(self, name: str, loaded: Loaded) -> PluginFailure | None:
        contribution = loaded.contribution
        try:
            self._check_channels(name, contribution.channels)
            self.registry.replace(name, contribution.agents, contribution.commands)
        except PluginError as error:
            return failure_of(name, error, error.text_id)
        except Exception as error:  # noqa: BLE001  (an attribute of an agent may raise anything)
            return failure_of(name, error, "plugins.unusable")
        old = self._present.get(name)
        self._present[name] = loaded
        if old is not None:
            old.forget()
        return None

    def _check_channels(self, plugin: str, channels: Sequence[ChannelPlugin]) -> None:
        owners = {
            channel.name: name
            for name, present in self._present.items()
            if name != plugin
            for channel in present.contribution.channels
        }
        for channel in channels:
            owner = owners.setdefault(channel.name, plugin)
            if owner != plugin or sum(one.name == channel.name for one in channels) > 1:
                raise PluginError(
                    "plugins.duplicate-channel",
                    plugin=plugin,
                    channel=channel.name,
                    owner=owner,
                )

    @staticmethod
    def _report(failure: PluginFailure) -> None:
        details = " ".join(f"{name}={value!r}" for name, value in failure.values.items())
        trace = f"\n{failure.traceback}" if failure.traceback else ""
        use = "its earlier version stays" if failure.kept else "it is left out"
        _log.error("%s %s, %s%s", failure.text_id, details, use, trace)

    def _gates(self) -> list[tuple[str, IdentityGate]]:
        return [
            (name, present.contribution.gate)
            for name, present in self._present.items()
            if present.contribution.gate is not None
        ]

    def _spare_gates(self) -> list[PluginFailure]:
        gates = self._gates()
        return [
            PluginFailure(
                plugin=name,
                text_id="plugins.second-gate",
                values={"plugin": name, "owner": gates[0][0]},
                kept=True,
            )
            for name, _ in gates[1:]
        ]

    def _info(self, candidate: Candidate) -> PluginInfo:
        present = self._present.get(candidate.name)
        if present is None:
            disabled = candidate.name in self._settings.disabled
            state = "disabled" if disabled else "failed"
            return PluginInfo(name=candidate.name, origin=candidate.origin, state=state)
        provided = present.contribution
        return PluginInfo(
            name=candidate.name,
            origin=candidate.origin,
            state="ok",
            version=present.version,
            agents=tuple(agent.intro.id for agent in provided.agents),
            channels=tuple(channel.name for channel in provided.channels),
        )
