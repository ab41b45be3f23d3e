"""Sessions as the router reads and saves them; the file side is in `session_*.py`."""

from __future__ import annotations

from collections.abc import Mapping

from jobclaw.model import Session
from jobclaw.storage.part import Part
from jobclaw.storage.session_book import SessionBook
from jobclaw.storage.session_files import SessionFiles
from jobclaw.storage.session_rows import SessionWrite, save_sessions

_MEMORY = "SELECT key, value FROM memory WHERE session = ? AND agent = ?"
_OWNER = "SELECT user_id FROM session WHERE key = ?"
_LIST = """
    SELECT key, user_id FROM session
    WHERE ?1 = '' OR (used_at, key) < (SELECT used_at, key FROM session WHERE key = ?1)
    ORDER BY used_at DESC, key DESC LIMIT ?2"""


class SessionPart(Part):
    """`spi.store.Sessions`, but for the history."""

    _book: SessionBook
    _files: SessionFiles | None

    def read(self, key: str, user_id: str) -> Session:
        """See `Sessions.read`."""
        return self._book.read(key, user_id)

    def memory(self, session: str, agent: str) -> Mapping[str, str]:
        """See `Sessions.memory`."""
        return dict(self._reader.all(_MEMORY, (session, agent)))

    def session(self, key: str) -> Session | None:
        """See `Sessions.session`; a person's edit is included."""
        row = self._reader.one(_OWNER, key)
        return None if row is None else self._book.read(key, row[0])

    def list_sessions(self, limit: int, before: str = "") -> tuple[Session, ...]:
        """See `Sessions.list_sessions`; persons' edits are included."""
        rows = self._reader.all(_LIST, (before, limit))
        return tuple(self._book.read(key, user_id) for key, user_id in rows)

    async def save(self, session: Session) -> None:
        """See `Sessions.save`; the file follows within a moment."""
        write = self._session_write(session, urgent=True)
        await self._writer.submit(save_sessions, write, lambda _: self._saved(write))

    def _session_write(self, session: Session, *, urgent: bool = False) -> SessionWrite:
        urgent = urgent or self._book.is_rebound(session)
        return SessionWrite(session, self._book.absorbed(session), urgent)

    def _saved(self, write: SessionWrite) -> None:
        self._book.saved(write.session, write.edit)
        if self._files is not None:
            self._files.follow(urgent=write.urgent)
