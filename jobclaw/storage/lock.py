"""One daemon per workspace: a lock that is held for life and goes with the process."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import msgspec
from filelock import FileLock, Timeout

from jobclaw.errors import StorageError
from jobclaw.model import Value, from_json, to_json
from jobclaw.storage.database import FILE_MODE, io_error, secure_folder

LOCK_NAME = "workspace.lock"
HOLDER_NAME = "workspace.holder.json"
EXIT_HELD = 73


class Holder(Value, frozen=True):
    """Who holds a workspace: the verb that runs, its process, since when; its API, if any."""

    verb: str
    pid: int
    started_at: datetime
    address: str = ""


class WorkspaceLock:
    """The lock of a workspace, held by at most one process."""

    def __init__(self, workspace: Path) -> None:
        self._workspace = workspace
        self._holder_path = workspace / HOLDER_NAME
        self._own: Holder | None = None
        self._lock = FileLock(
            workspace / LOCK_NAME, timeout=0, mode=FILE_MODE, thread_local=False
        )

    def acquire(self, verb: str, at: datetime) -> None:
        """Hold the workspace from now on.

        Raises:
            StorageError: another process holds it; the error names that one (exit 73).
        """
        secure_folder(self._workspace)
        try:
            self._lock.acquire()
        except Timeout as error:
            raise self._held() from error
        except OSError as error:
            raise io_error(error, self._workspace / LOCK_NAME) from error
        self._own = Holder(verb=verb, pid=os.getpid(), started_at=at)
        self._write(self._own)

    def announce(self, address: str) -> None:
        """Tell other processes where the holder's API is."""
        if self._own is not None:
            self._own = msgspec.structs.replace(self._own, address=address)
            self._write(self._own)

    def release(self) -> None:
        """Let go; harmless when not held."""
        if self._lock.is_locked:
            self._holder_path.unlink(missing_ok=True)
            self._lock.release()

    @contextmanager
    def hold(self, verb: str, at: datetime) -> Generator[WorkspaceLock]:
        """Hold the workspace inside a `with`."""
        self.acquire(verb, at)
        try:
            yield self
        finally:
            self.release()

    def is_held(self) -> bool:
        """Whether a process holds the workspace now."""
        if self._lock.is_locked:
            return True
        if not self._holder_path.exists():
            return False
        try:
            self._lock.acquire()
        except Timeout:
            return True
        except OSError:
            return False
        self._lock.release()
        return False

    def holder(self) -> Holder | None:
        """Who wrote its name last; it may be gone, `is_held` tells."""
        try:
            return from_json(self._holder_path.read_bytes(), Holder)
        except (OSError, msgspec.DecodeError):  # not there yet, or being written
            return None

    def _held(self) -> StorageError:
        workspace = str(self._workspace)
        holder = self.holder()
        if holder is None:
            return StorageError("storage.held", exit_code=EXIT_HELD, workspace=workspace)
        return StorageError(
            "storage.held-by",
            exit_code=EXIT_HELD,
            workspace=workspace,
            verb=holder.verb,
            pid=holder.pid,
            since=holder.started_at.isoformat(timespec="seconds"),
        )

    def _write(self, holder: Holder) -> None:
        new = self._holder_path.with_suffix(".tmp")
        try:
            new.unlink(missing_ok=True)
            handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE)
            with os.fdopen(handle, "wb") as file:
                file.write(to_json(holder))
            new.replace(self._holder_path)
        except OSError as error:
            self._lock.release()
            raise io_error(error, self._holder_path) from error
