"""Plugins that are files in a folder: found, imported by path under a private name, forgotten.

Compiled files are neither read nor written: an edit within the resolution of a time stamp must
count, and a foreign `__pycache__` must not.
"""

from __future__ import annotations

import importlib.util
import linecache
import os
import stat
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.machinery import FileFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

_RESERVED = ("_", ".", "jobclaw_")
Stamp = tuple[tuple[str, int, int, int], ...]


@dataclass(frozen=True)
class DropIn:
    """One plugin file, or one folder with an `__init__.py`."""

    name: str
    source: Path
    folder: Path | None

    def files(self) -> Iterator[Path]:
        """Everything that belongs to it, the folder included."""
        if self.folder is None:
            yield self.source
            return
        yield self.folder
        for path in sorted(self.folder.rglob("*")):
            if "__pycache__" not in path.parts and path.exists():
                yield path

    def stamp(self) -> Stamp:
        """What changes whenever one of its files does."""
        found: list[tuple[str, int, int, int]] = []
        for path in self.files():
            try:
                seen = path.stat()
            except FileNotFoundError:  # just removed: the next look tells
                continue
            if not stat.S_ISDIR(seen.st_mode):
                found.append((str(path), seen.st_mtime_ns, seen.st_size, seen.st_ino))
        return tuple(found)


def find_drop_ins(folders: Sequence[Path]) -> list[DropIn]:
    """The drop-ins of some folders, folder by folder, each by name.

    Names that begin with `_`, `.` or `jobclaw_` are none; a folder that is not there or that
    may not be read (see `is_unreadable`) has none.
    """
    found: list[DropIn] = []
    for folder in folders:
        if folder.is_dir() and not is_unreadable(folder):
            entries = sorted(folder.iterdir())
            found += [one for path in entries if (one := _drop_in(path)) is not None]
    return found


def is_unreadable(folder: Path) -> bool:
    """Whether a folder is there but may not be looked into."""
    return folder.is_dir() and not os.access(folder, os.R_OK | os.X_OK)


def _drop_in(path: Path) -> DropIn | None:
    if path.name.startswith(_RESERVED):
        return None
    if path.suffix == ".py" and path.is_file():
        return DropIn(path.stem, path, None)
    init = path / "__init__.py"
    return DropIn(path.name, init, path) if init.is_file() else None


class _FreshLoader(SourceFileLoader):
    """A loader that always compiles the source."""

    def path_stats(self, path: str) -> Any:  # noqa: ANN401  (importlib's signature)
        """Say that nothing is known about the file, so that no compiled one is used."""
        raise OSError(path)


def import_drop_in(drop_in: DropIn, module_name: str) -> ModuleType:
    """Import it under `module_name`, each time a new one; what it raises leaves no trace."""
    linecache.checkcache()
    location = [str(drop_in.folder)] if drop_in.folder is not None else None
    loader = _FreshLoader(module_name, str(drop_in.source))
    spec = importlib.util.spec_from_file_location(
        module_name, drop_in.source, loader=loader, submodule_search_locations=location
    )
    if spec is None:
        raise ImportError(str(drop_in.source))
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    if location is not None:
        sys.path_importer_cache[location[0]] = FileFinder(location[0], (_FreshLoader, [".py"]))
    try:
        loader.exec_module(module)
    except BaseException:
        forget_module(module_name)
        raise
    return module


def forget_module(module_name: str) -> None:
    """Take a drop-in and its parts out of the interpreter's tables."""
    inside = f"{module_name}."
    for name in tuple(sys.modules):
        if name == module_name or name.startswith(inside):
            sys.modules.pop(name, None)
