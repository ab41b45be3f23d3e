"""Sessions as the event loop reads them: from memory, the journal's row, and the file.

The row is the record. The file counts where a person changed it, which is seen by its stat (in
memory) or by its text differing from what was written (else): the change is merged into what
`read` gives and reaches the row with the next commit, which then also notes the person's text
as known, so that the file may be written again. Until then nothing overwrites it.
"""

from __future__ import annotations

import os
import time
from collections import OrderedDict
from collections.abc import Callable

import msgspec

from jobclaw.errors import ConfigError
from jobclaw.model import Session, Value
from jobclaw.spi.clock import Clock
from jobclaw.storage.database import Reader
from jobclaw.storage.session_folder import Found, Mark, SessionFolder
from jobclaw.storage.session_text import Shown, merged, parse

CACHED_SESSIONS = 4096
_SETTLED_NS = 50_000_000  # file times have steps of some ms: a younger one can hide an edit
_UNKNOWN: Mark = (-1, -1, -1, -1)
_ROW = """
    SELECT session.session, session_file.written, session_file.previous
    FROM session LEFT JOIN session_file USING (key) WHERE session.key = ?"""
_DECODER = msgspec.json.Decoder(Session)


class FileProblem(Value, frozen=True):
    """A session file that could not be used or written: a catalogue sentence and its values.

    `aside` is where a broken file was moved, empty if it stayed.
    """

    path: str
    text_id: str
    values: dict[str, str]
    aside: str = ""


Report = Callable[[FileProblem], None]


def problem_of(path: str, error: ConfigError | OSError, aside: str = "") -> FileProblem:
    """The report of an error at a session file."""
    if isinstance(error, ConfigError):
        values = {name: str(value) for name, value in error.values.items()}
        return FileProblem(path=path, text_id=error.text_id, values=values, aside=aside)
    values = {"file": path, "problem": error.strerror or str(error)}
    return FileProblem(path=path, text_id="storage.session-not-written", values=values)


class _Entry:
    """A session in memory: `row` as stored, `edit` the person's text merged into `session`."""

    __slots__ = ("edit", "mark", "path", "row", "session", "user_id")

    def __init__(self, path: str, user_id: str, row: Session | None) -> None:
        self.path = path
        self.user_id = user_id
        self.row = row
        self.session: Session
        self.mark: Mark | None = None
        self.edit: bytes | None = None


class SessionBook:
    """Reads sessions, on the event loop; `repair` has a missing file written again."""

    def __init__(
        self,
        reader: Reader,
        folder: SessionFolder,
        clock: Clock,
        report: Report,
        repair: Callable[[str], None] | None,
    ) -> None:
        self._reader = reader
        self._folder = folder
        self._clock = clock
        self._report = report
        self._repair = repair
        self._entries: OrderedDict[str, _Entry] = OrderedDict()

    def read(self, key: str, user_id: str) -> Session:
        """The session now; a fresh one if it is unknown."""
        entry = self._entries.get(key)
        if entry is not None and entry.user_id == user_id:
            try:
                status = os.lstat(entry.path)  # in line: this is the path of every message
            except OSError:
                mark = None
            else:
                mark = (status.st_mtime_ns, status.st_size, status.st_ino, status.st_ctime_ns)
            if mark == entry.mark:
                self._entries.move_to_end(key)
                return entry.session
        return self._load(key, user_id)

    def absorbed(self, session: Session) -> bytes | None:
        """The person's text that a commit of this session carries into the row, if any.

        A turn that began before the edit was read does not carry it: its binding is still the
        row's, and the edit is merged again at the next read.
        """
        entry = self._entries.get(session.key)
        if entry is None or entry.edit is None:
            return None
        row, seen = entry.row, entry.session
        if row is not None and _binding(row) != _binding(seen):
            return None if _binding(session) == _binding(row) else entry.edit
        return entry.edit

    def is_rebound(self, session: Session) -> bool:
        """Whether the file must show this session soon.

        Its agent is another than before, or the default agent has taken it for a while.
        """
        entry = self._entries.get(session.key)
        if entry is None:
            return True
        row = entry.row
        before = ("", None) if row is None else (row.bound_agent, row.default_until)
        return before != (session.bound_agent, session.default_until)

    def saved(self, session: Session, carried: bytes | None) -> None:
        """Take over what has just been committed, with the edit that it carried."""
        entry = self._entries.get(session.key)
        if entry is None:
            return
        if entry.edit == carried:
            entry.row = entry.session = session
            entry.edit = None
        else:
            del self._entries[session.key]

    def _load(self, key: str, user_id: str) -> Session:
        text, written, previous = self._reader.one(_ROW, key) or (None, None, None)
        stored = None if text is None else _DECODER.decode(text)
        if stored is not None and stored.user_id != user_id:  # the sender was linked elsewhere
            stored = msgspec.structs.replace(stored, user_id=user_id)
            written = previous = None
        entry = _Entry(self._folder.path_of(user_id, key), user_id, stored)
        entry.session = stored or Session(key=key, user_id=user_id)
        self._look(entry, written, previous)
        self._entries[key] = entry
        self._entries.move_to_end(key)
        if len(self._entries) > CACHED_SESSIONS:
            self._entries.popitem(last=False)
        return entry.session

    def _look(self, entry: _Entry, written: bytes | None, previous: bytes | None) -> None:
        """Compare the file with what was written, and merge a person's changes."""
        found = self._folder.read(entry.path)
        entry.mark = self._trusted(found.mark)
        if found.fault is not None:
            self._reject(entry, found, found.fault)
        elif found.data is None:
            if written is not None and entry.row is not None:
                self._restore(entry)
        elif entry.row is None or found.data not in (written, previous):
            self._merge(entry, found, [text for text in (written, previous) if text])

    def _merge(self, entry: _Entry, found: Found, texts: list[bytes]) -> None:
        key = entry.session.key
        data = found.data or b""
        try:
            shown = parse(data, key, entry.path)
        except ConfigError as error:
            self._reject(entry, found, error)
            return
        bases: list[Shown] = []
        if entry.row is not None:
            bases = [parse(text, key, entry.path) for text in texts]
        entry.session = merged(entry.session, shown, bases)
        entry.edit = data

    def _reject(self, entry: _Entry, found: Found, error: ConfigError) -> None:
        """Move a broken file aside and go on with the row."""
        aside = ""
        if self._repair is not None and found.mark is not None:
            stamp = self._clock.now().strftime("%Y%m%dT%H%M%S%fZ")
            try:
                aside = self._folder.set_aside(entry.path, stamp)
                entry.mark = None
            except OSError as refused:
                self._report(problem_of(entry.path, refused))
        self._report(problem_of(entry.path, error, aside))
        if aside and entry.row is not None:
            self._restore(entry)

    def _restore(self, entry: _Entry) -> None:
        if self._repair is not None:
            self._repair(entry.session.key)

    def _trusted(self, mark: Mark | None) -> Mark | None:
        if mark is None:
            return None
        return _UNKNOWN if 0 <= time.time_ns() - mark[0] < _SETTLED_NS else mark


def _binding(session: Session) -> tuple[object, object]:
    return (session.bound_agent, session.bound_at)
