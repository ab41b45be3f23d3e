"""The plugins there are to load: installed packages by entry point, then drop-in files."""

from __future__ import annotations

import importlib.metadata
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jobclaw.errors import PluginError
from jobclaw.plugins.contribution import Contribution, collect
from jobclaw.plugins.drop_in import DropIn, Stamp, forget_module, import_drop_in
from jobclaw.plugins.ownership import check_ownership
from jobclaw.spi.hooks import GROUP

_OURS = "jobclaw"


@dataclass(frozen=True)
class Loaded:
    """A plugin that was imported and asked; `forget` takes it out of the interpreter again."""

    contribution: Contribution
    version: str = ""
    forget: Callable[[], None] = field(default=lambda: None)


@dataclass(frozen=True)
class Candidate:
    """A plugin to load; `stamp` tells versions of a drop-in apart, None if installed."""

    name: str
    origin: str
    load: Callable[[], Loaded]
    stamp: Stamp | None = None


def installed_candidates() -> list[Candidate]:
    """The entry points of the group, ours first, then by name; one that is met twice is one."""
    found: dict[tuple[str, str], tuple[str, str, Candidate]] = {}
    for entry in importlib.metadata.entry_points(group=GROUP):
        package = entry.dist.name if entry.dist is not None else ""
        version = entry.dist.version if entry.dist is not None else ""
        candidate = Candidate(
            name=entry.name,
            origin=f"{package} {version}".strip() or entry.value,
            load=_load_installed(entry, version),
        )
        found.setdefault((entry.name, entry.value), (package, entry.name, candidate))
    ordered = sorted(found.values(), key=lambda item: (item[0] != _OURS, item[1], item[0]))
    return [candidate for _, _, candidate in ordered]


def _load_installed(entry: importlib.metadata.EntryPoint, version: str) -> Callable[[], Loaded]:
    def load() -> Loaded:
        return Loaded(collect(entry.name, entry.load()), version)

    return load


def drop_in_candidates(drop_ins: Sequence[DropIn], trusted: Sequence[Path]) -> list[Candidate]:
    """The drop-ins; each time a version is imported, it is under a new name."""
    return [
        Candidate(
            name=one.name,
            origin=str(one.source),
            load=_load_drop_in(
                one, trusted, f"_jobclaw_dropin_{one.name}_{os.urandom(4).hex()}"
            ),
            stamp=one.stamp(),
        )
        for one in drop_ins
    ]


def _load_drop_in(
    drop_in: DropIn, trusted: Sequence[Path], module: str
) -> Callable[[], Loaded]:
    def load() -> Loaded:
        check_ownership(drop_in.name, drop_in.files(), trusted)
        namespace = import_drop_in(drop_in, module)
        try:
            contribution = collect(drop_in.name, namespace)
        except PluginError:
            forget_module(module)
            raise
        version = str(getattr(namespace, "__version__", ""))
        return Loaded(contribution, version, lambda: forget_module(module))

    return load
