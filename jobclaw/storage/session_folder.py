"""The folder `sessions/`: reading and replacing one file safely.

No link is followed below the folder itself, nothing but a plain file of at most 64 KiB is read,
and a file is only ever replaced as a whole: a new one beside it, synced, renamed over it. Right
before the rename the old one is compared with what was read, so that a person's edit made
meanwhile is kept.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Generator
from pathlib import Path
from typing import NamedTuple

from jobclaw.errors import ConfigError
from jobclaw.storage.database import FILE_MODE, FOLDER_MODE
from jobclaw.storage.session_names import encode_name, file_name
from jobclaw.storage.session_text import LIMIT_BYTES

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = ".session-new.tmp"

Mark = tuple[int, int, int, int]


class Found(NamedTuple):
    """A file as it is; `data` is None when it is missing or cannot be used.

    `fault` says why it cannot be used.
    """

    data: bytes | None
    mark: Mark | None
    fault: ConfigError | None = None


MISSING = Found(None, None)


def _mark_of(status: os.stat_result) -> Mark:
    return (status.st_mtime_ns, status.st_size, status.st_ino, status.st_ctime_ns)


def mark_at(path: str) -> Mark | None:
    """What changes with every edit of a file; None when there is none."""
    try:
        return _mark_of(os.lstat(path))
    except OSError:
        return None


class SessionFolder:
    """Where session files live: `{root}/{user}/session-{key}.yaml`."""

    def __init__(self, root: Path) -> None:
        self._root = str(root)

    def folder_of(self, user_id: str) -> str:
        """The folder of a user's files."""
        return f"{self._root}/{encode_name(user_id)}"

    def path_of(self, user_id: str, key: str) -> str:
        """The file of a session."""
        return f"{self.folder_of(user_id)}/{file_name(key)}"

    def read(self, path: str) -> Found:
        """Read a file, however odd it is."""
        folder, _, name = path.rpartition("/")
        try:
            place = os.open(folder, _FOLDER)
            try:
                handle = os.open(name, _READ, dir_fd=place)
                try:
                    return _read(handle, path)
                finally:
                    os.close(handle)
            finally:
                os.close(place)
        except FileNotFoundError:
            return MISSING
        except OSError as error:
            reason = error.strerror or str(error)
            fault = ConfigError("file.unreadable", file=path, reason=reason)
            return Found(None, mark_at(path), fault)

    def replace(self, path: str, data: bytes, expected: Mark | None) -> bool:
        """Write a file whole, unless it is no longer the expected one; True if written.

        Raises:
            OSError: the disk or the folder refuses; the old file is untouched.
        """
        folder, _, name = path.rpartition("/")
        Path(folder).mkdir(FOLDER_MODE, exist_ok=True)  # lost in a crash, it is made again
        with _opened(folder, _FOLDER) as place:
            with contextlib.suppress(FileNotFoundError):  # left by a process that was killed
                os.unlink(_NEW, dir_fd=place)
            try:
                with _opened(_NEW, _CREATE, place) as handle:
                    _write(handle, data)
                if mark_at(path) != expected:
                    return False
                os.rename(_NEW, name, src_dir_fd=place, dst_dir_fd=place)
                os.fsync(place)
            finally:
                with contextlib.suppress(FileNotFoundError):  # renamed
                    os.unlink(_NEW, dir_fd=place)
        return True

    def set_aside(self, path: str, stamp: str) -> str:
        """Rename a broken file out of the way, its bytes untouched; the new path.

        Raises:
            OSError: it cannot be renamed.
        """
        folder, _, name = path.rpartition("/")
        aside, number = f"{name}.broken-{stamp}", 1
        with _opened(folder, _FOLDER) as place:
            while os.path.lexists(f"{folder}/{aside}"):
                number += 1
                aside = f"{name}.broken-{stamp}-{number}"
            os.rename(name, aside, src_dir_fd=place, dst_dir_fd=place)
        return f"{folder}/{aside}"

    def remove(self, path: str) -> None:
        """Remove a file of ours, if it is there.

        Raises:
            OSError: it cannot be removed.
        """
        folder, _, name = path.rpartition("/")
        with contextlib.suppress(FileNotFoundError), _opened(folder, _FOLDER) as place:
            os.unlink(name, dir_fd=place)


@contextlib.contextmanager
def _opened(name: str, flags: int, place: int | None = None) -> Generator[int]:
    handle = os.open(name, flags, FILE_MODE, dir_fd=place)
    try:
        yield handle
    finally:
        os.close(handle)


def _read(handle: int, path: str) -> Found:
    status = os.fstat(handle)
    mark = _mark_of(status)
    if not stat.S_ISREG(status.st_mode):
        return Found(None, mark, ConfigError("storage.not-plain-file", file=path))
    data = os.read(handle, LIMIT_BYTES + 1)
    if len(data) > LIMIT_BYTES:
        size, limit = status.st_size, LIMIT_BYTES
        fault = ConfigError("yaml.too-large", file=path, size=size, limit=limit)
        return Found(None, mark, fault)
    return Found(data, mark)


def _write(handle: int, data: bytes) -> None:
    while data:  # a nearly full disk takes a part, then says so
        data = data[os.write(handle, data) :]
    os.fsync(handle)
