"""Refuses plugin files that somebody else could have written."""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path

from jobclaw.errors import PluginError

_ROOT = 0


def check_ownership(plugin: str, paths: Iterable[Path], trusted: Sequence[Path]) -> None:
    """Check that only root and this process's user can have written the files.

    Files below a `trusted` folder pass, as does everything on a system without owners.

    Raises:
        PluginError: the first file that fails, with the command that mends it.
    """
    if os.name != "posix":
        return
    roots = [folder.resolve() for folder in trusted]
    user = os.getuid()
    for path in paths:
        if any(path.resolve().is_relative_to(root) for root in roots):
            continue
        found = path.stat()
        if found.st_uid not in {user, _ROOT}:
            raise PluginError(
                "plugins.unsafe-owner",
                plugin=plugin,
                file=str(path),
                owner=_name_of(found.st_uid),
                command=f"chown {_name_of(user)} {shlex.quote(str(path))}",
            )
        if found.st_mode & stat.S_IWOTH:
            raise PluginError(
                "plugins.unsafe-mode",
                plugin=plugin,
                file=str(path),
                command=f"chmod o-w {shlex.quote(str(path))}",
            )


def _name_of(user: int) -> str:
    import pwd  # noqa: PLC0415  (not there on every system)

    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return str(user)
