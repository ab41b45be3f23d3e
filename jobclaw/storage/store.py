"""The embedded store: `spi.store.Store` on SQLite and session files, for one machine."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

from jobclaw.errors import StorageError
from jobclaw.spi.clock import Clock
from jobclaw.spi.store import Handled, OutboxRow
from jobclaw.storage.commits import Commit, Committed, commit_all
from jobclaw.storage.database import open_for_reading, open_for_writing, secure_folder
from jobclaw.storage.decisions import DecisionPart
from jobclaw.storage.inbox import InboxPart
from jobclaw.storage.outbox import OutboxPart
from jobclaw.storage.part import Access
from jobclaw.storage.people import PeoplePart
from jobclaw.storage.purge import Purge
from jobclaw.storage.session_book import FileProblem, Report, SessionBook
from jobclaw.storage.session_files import SessionFiles
from jobclaw.storage.session_folder import SessionFolder
from jobclaw.storage.session_rows import touch_session
from jobclaw.storage.sessions import SessionPart
from jobclaw.storage.usage import UsagePart
from jobclaw.storage.writer import Writer

JOURNAL_NAME = "journal.db"
SESSIONS_NAME = "sessions"
DEDUP_DAYS = 8
_log = logging.getLogger(__name__)


def _log_problem(problem: FileProblem) -> None:
    _log.warning("%s %s %s", problem.text_id, problem.values, problem.aside)


class SqliteStore(InboxPart, OutboxPart, PeoplePart, SessionPart, DecisionPart, UsagePart):
    """See `spi.store`. Made by `open_store`; belongs to one event loop at a time."""

    def __init__(self, access: Access, workspace: Path, report: Report) -> None:
        super().__init__(access)
        self._workspace = workspace
        folder = SessionFolder(workspace / SESSIONS_NAME)
        self._files = None
        repair = None
        if access.writer is not None:
            reader = open_for_reading(workspace / JOURNAL_NAME)
            self._files = SessionFiles(reader, access.writer, folder, access.clock, report)
            repair = self._repair
        self._book = SessionBook(access.reader, folder, access.clock, report, repair)

    @property
    def failure(self) -> StorageError | None:
        """Why nothing can be written any more; None while all is well."""
        return None if self._access.writer is None else self._access.writer.failure

    async def commit(self, handled: Handled, *, sending: bool = False) -> tuple[OutboxRow, ...]:
        """See `Journal.commit`."""
        session = handled.session
        write = None if session is None else self._session_write(session)

        def after(done: Committed) -> None:
            if write is not None and done.fresh:
                self._saved(write)
            if handled.user is not None:
                self._written(handled.user.id)

        commit = Commit(handled, write, sending)
        return (await self._writer.submit(commit_all, commit, after)).rows

    async def flush(self) -> None:
        """Write the session files that are behind their rows."""
        if self._files is not None:
            await asyncio.to_thread(self._files.flush)

    async def close(self) -> None:
        """See `Store.close`."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        if self._files is not None:
            self._files.close()
        self._reader.close()  # before the writer: who is last folds the log into the database
        if self._access.writer is not None:
            self._access.writer.close()

    def _repair(self, key: str) -> None:
        self._writer.post(touch_session, key, lambda _: self._follow())

    def _follow(self) -> None:
        if self._files is not None:
            self._files.follow(urgent=True)


def open_store(
    workspace: Path,
    clock: Clock,
    *,
    dedup_days: int = DEDUP_DAYS,
    read_only: bool = False,
    report: Report = _log_problem,
) -> SqliteStore:
    """Open the store of a workspace, made if missing; `dedup_days` is how long keys are kept.

    `read_only` changes nothing, works beside a daemon, and reads a missing store as empty.
    `report` learns of session files that cannot be used or written; it may be called from
    another thread.

    Raises:
        StorageError: damaged or newer (exit 65), or the disk refuses (74).
    """
    path = workspace / JOURNAL_NAME
    if read_only:
        access = Access(open_for_reading(path), None, clock, dedup_days)
        return SqliteStore(access, workspace, report)
    secure_folder(workspace)
    secure_folder(workspace / SESSIONS_NAME)
    db = open_for_writing(path)
    writer = Writer(db, str(path), clock, Purge(clock, dedup_days))
    access = Access(open_for_reading(path), writer, clock, dedup_days)
    return SqliteStore(access, workspace, report)
