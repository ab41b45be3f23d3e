"""Writes session files behind the journal, in a thread of its own.

What is due stands in the rows (`file_due`), so a backlog costs no memory and outlives a crash.
A text is noted in the journal before it is written; a file that holds neither the noted text
nor the one before is a person's edit, and is left alone until it has been read.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import NamedTuple

import msgspec

from jobclaw.errors import StorageError
from jobclaw.model import Session
from jobclaw.spi.clock import Clock
from jobclaw.storage.database import Reader
from jobclaw.storage.session_book import Report, problem_of
from jobclaw.storage.session_folder import Mark, SessionFolder
from jobclaw.storage.session_rows import (
    DEBOUNCE_MS,
    FileSettled,
    FileWrite,
    record_files,
    settle_files,
)
from jobclaw.storage.session_text import render
from jobclaw.storage.states import to_ms
from jobclaw.storage.writer import Writer

POLL_S = 30.0
FLUSH_S = 5.0
_GROUP = 64
_DUE = """
    SELECT key, session.user_id, revision, session.session, written, previous, file.user_id
    FROM session LEFT JOIN session_file AS file USING (key)
    WHERE file_due <= ? ORDER BY file_due LIMIT ?"""
_DECODER = msgspec.json.Decoder(Session)
_log = logging.getLogger(__name__)


class _Due(NamedTuple):
    key: str
    user_id: str
    revision: int
    session: str
    written: bytes | None
    previous: bytes | None
    filed_user: str | None


class _Plan(NamedTuple):
    write: FileWrite
    path: str
    mark: Mark | None


class SessionFiles:
    """The thread that writes session files."""

    def __init__(
        self,
        reader: Reader,
        writer: Writer,
        folder: SessionFolder,
        clock: Clock,
        report: Report,
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._folder = folder
        self._clock = clock
        self._report = report
        self._awake = threading.Event()
        self._behind = False
        self._ended = False
        self._writing = threading.Lock()
        self._thread = threading.Thread(target=self._work, name="jobclaw-files", daemon=True)
        self._thread.start()

    def follow(self, *, urgent: bool) -> None:
        """Take note that a row was written; `urgent`: its file is due now."""
        self._behind = True
        if urgent:
            self._awake.set()

    def flush(self, within_s: float = FLUSH_S) -> None:
        """Write every file that is behind its row, due or not, for at most so many seconds.

        What is left stays due for the next start. Blocks.
        """
        deadline = time.monotonic() + within_s
        until = to_ms(self._clock.now()) + DEBOUNCE_MS
        with self._writing:
            while self._write_group(until) and time.monotonic() < deadline:
                pass

    def close(self) -> None:
        """End the thread, then write what this process left behind; blocks.

        One that wrote no session leaves the files to the process that does.
        """
        self._ended = True
        self._awake.set()
        self._thread.join()
        try:
            if self._behind:
                self.flush()
        except StorageError as error:  # the disk failed; the rows, if any, tell what is due
            _log.warning("session files: %s", error)
        self._reader.close()

    def _work(self) -> None:
        while not self._ended:
            self._awake.wait(POLL_S)
            self._awake.clear()
            try:
                self._write_due()
            except StorageError as error:
                _log.warning("session files: %s", error)

    def _write_due(self) -> None:
        more = True
        while more and not self._ended:
            with self._writing:
                more = self._write_group(to_ms(self._clock.now()))

    def _write_group(self, until: int) -> bool:
        """Bring some files up to date; True if there may be more."""
        rows = [_Due(*row) for row in self._reader.all(_DUE, (until, _GROUP))]
        planned = [(row, self._plan(row)) for row in rows]
        plans = [plan for _, plan in planned if plan is not None]
        settled = [
            FileSettled(row.key, row.revision, written=False)
            for row, plan in planned
            if plan is None
        ]
        if plans:
            self._writer.run(record_files, [plan.write for plan in plans])
        settled += [
            FileSettled(plan.write.key, plan.write.revision, written=True)
            for plan in plans
            if self._write(plan)
        ]
        if settled:
            self._writer.run(settle_files, settled)
        return len(rows) == _GROUP

    def _plan(self, row: _Due) -> _Plan | None:
        """What to write; None if the file is right, or a person's that is not read yet."""
        path = self._folder.path_of(row.user_id, row.key)
        known = (row.written, row.previous)
        if row.filed_user is not None and row.filed_user != row.user_id:
            self._clear_away(row)
            known = (None, None)
        found = self._folder.read(path)
        text = render(_DECODER.decode(row.session))
        edited = found.data is not None and found.data not in known
        broken = found.fault is not None and found.mark is not None  # moved aside when read
        if edited or broken or found.data == text == row.written:
            return None
        write = FileWrite(row.key, row.user_id, row.revision, text, found.data)
        return _Plan(write, path, found.mark)

    def _write(self, plan: _Plan) -> bool:
        try:
            return self._folder.replace(plan.path, plan.write.text, plan.mark)
        except OSError as error:
            self._report(problem_of(plan.path, error))
            return False

    def _clear_away(self, row: _Due) -> None:
        """Remove our file from the folder of the user whom the sender belonged to before."""
        path = self._folder.path_of(row.filed_user or "", row.key)
        if self._folder.read(path).data not in (row.written, row.previous):
            return
        try:
            self._folder.remove(path)
        except OSError as error:
            self._report(problem_of(path, error))
