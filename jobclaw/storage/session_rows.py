"""The statements that write sessions: their rows, and what is known of their files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from jobclaw.model import Session, to_json
from jobclaw.storage.rows import ManyRows
from jobclaw.storage.writer import Txn

DEBOUNCE_MS = 600_000
_SAVE = ManyRows(
    "INSERT INTO session (key, user_id, used_at, file_due, revision, session)",
    6,
    """ON CONFLICT (key) DO UPDATE SET user_id = excluded.user_id, used_at = excluded.used_at,
    file_due = min(ifnull(file_due, excluded.file_due), excluded.file_due),
    revision = revision + 1, session = excluded.session""",
)
_KNOW = ManyRows(
    "INSERT OR REPLACE INTO session_file (key, user_id, written, previous)",
    4,
)
_RECORD = ManyRows(
    "INSERT INTO session_file (key, user_id, written, previous)",
    4,
    """ON CONFLICT (key) DO UPDATE SET user_id = excluded.user_id, written = excluded.written,
    previous = excluded.previous
    WHERE excluded.previous IS NULL OR excluded.previous IN (written, previous)""",
)
_POSTPONE = ManyRows(
    "WITH done (key, revision, due) AS (",
    3,
    """) UPDATE session SET file_due = done.due FROM done
    WHERE session.key = done.key AND session.revision = done.revision""",
)
_FORGET = ManyRows(
    "WITH done (key) AS (",
    1,
    """) UPDATE session_file SET previous = NULL FROM done WHERE session_file.key = done.key""",
)
_TOUCH = "UPDATE session SET file_due = min(ifnull(file_due, ?1), ?1) WHERE key = ?2"


class SessionWrite(NamedTuple):
    """A session for its row; `edit` is the person's text that it carries, if any."""

    session: Session
    edit: bytes | None
    urgent: bool


class FileWrite(NamedTuple):
    """A file about to be written; `before` is what it holds now."""

    key: str
    user_id: str
    revision: int
    text: bytes
    before: bytes | None


class FileSettled(NamedTuple):
    """A file that is as it should be for this revision of its row."""

    key: str
    revision: int
    written: bool


def save_sessions(txn: Txn, writes: Sequence[SessionWrite]) -> list[None]:
    """Write rows, and when their files are due: now if urgent, else within ten minutes."""
    _SAVE.run(
        txn.db,
        [
            (
                write.session.key,
                write.session.user_id,
                txn.now,
                txn.now if write.urgent else txn.now + DEBOUNCE_MS,
                0,
                to_json(write.session).decode(),
            )
            for write in writes
        ],
    )
    carried = [(write.session, write.edit) for write in writes if write.edit is not None]
    _KNOW.run(txn.db, [(to.key, to.user_id, edit, None) for to, edit in carried])
    return [None] * len(writes)


def touch_session(txn: Txn, keys: Sequence[str]) -> list[None]:
    """Have files written again now."""
    for key in keys:
        txn.db.execute(_TOUCH, (txn.now, key))
    return [None] * len(keys)


def record_files(txn: Txn, groups: Sequence[Sequence[FileWrite]]) -> list[None]:
    """Note texts before they are written, so that a crash leaves no file taken for an edit.

    The files stay due, later: for another try if this one fails.
    """
    writes = [write for group in groups for write in group]
    _RECORD.run(txn.db, [(w.key, w.user_id, w.text, w.before) for w in writes])
    later = txn.now + DEBOUNCE_MS + 1
    _POSTPONE.run(txn.db, [(w.key, w.revision, later) for w in writes])
    return [None] * len(groups)


def settle_files(txn: Txn, groups: Sequence[Sequence[FileSettled]]) -> list[None]:
    """Note that files show their rows; one whose row has moved on stays due."""
    settled = [one for group in groups for one in group]
    _FORGET.run(txn.db, [(one.key,) for one in settled if one.written])
    _POSTPONE.run(txn.db, [(one.key, one.revision, None) for one in settled])
    return [None] * len(groups)
