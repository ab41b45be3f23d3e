"""Opens files below the workspace step by step, so that no link leads out of it.

Every name of a path is opened beside the folder before it, without following links; what is
neither a folder on the way nor a plain file at its end is as good as absent.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
FILE_MODE = 0o600
FOLDER_MODE = 0o700
PRIVATE_FOLDERS = frozenset({"sessions", "users", "logs"})
PRIVATE_ENDINGS = (".db", ".db-wal", ".db-shm", ".token", ".lock", ".holder.json")


def names_below(workspace: Path, ref: str) -> tuple[str, ...] | None:
    """The names from the workspace down to `ref`, None if it lies elsewhere."""
    root = PurePosixPath(workspace)
    path = PurePosixPath(ref)
    if "\0" in ref or ".." in path.parts:
        return None
    if path.is_absolute():
        if not path.is_relative_to(root):
            return None
        path = path.relative_to(root)
    return path.parts or None


def is_private(names: Sequence[str]) -> bool:
    """Whether a path is one of the daemon's own files, which no reply may hand out."""
    if any(name.startswith(".") for name in names) or names[0] in PRIVATE_FOLDERS:
        return True
    return len(names) == 1 and names[0].endswith(PRIVATE_ENDINGS)


def open_folder(workspace: Path, names: Sequence[str], *, create: bool = False) -> int:
    """A descriptor of a folder below the workspace.

    Raises:
        OSError: it is not there, or not a folder all the way.
    """
    workspace.mkdir(parents=True, exist_ok=True)
    place = os.open(workspace, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for name in names:
            if create and not _is_there(name, place):
                os.mkdir(name, FOLDER_MODE, dir_fd=place)
            below = os.open(name, _FOLDER, dir_fd=place)
            os.close(place)
            place = below
    except OSError:
        os.close(place)
        raise
    return place


def _is_there(name: str, place: int) -> bool:
    try:
        os.stat(name, dir_fd=place, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def open_file(workspace: Path, names: Sequence[str]) -> int:
    """A descriptor of a plain file below the workspace, to read.

    Raises:
        OSError: it is not there, or no plain file.
    """
    place = open_folder(workspace, names[:-1])
    try:
        handle = os.open(names[-1], _READ, dir_fd=place)
    finally:
        os.close(place)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise FileNotFoundError(names[-1])
    return handle


def write_new(place: int, name: str, data: bytes) -> None:
    """Write a file that is not there yet, whole and on disk, for this user's eyes only.

    Raises:
        OSError: it exists, or the disk refuses.
    """
    handle = os.open(name, _CREATE, FILE_MODE, dir_fd=place)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
