"""Forgets what nobody needs any more, a little at a time between transactions."""

from __future__ import annotations

import logging

from jobclaw.spi.clock import Clock
from jobclaw.storage.states import to_ms
from jobclaw.storage.writer import Txn

_STEP = 500
_MS_PER_DAY = 24 * 3600 * 1000
_JUMP_MS = 3600 * 1000
_OLDEST = """
    SELECT count(*), max(rowid) FROM (SELECT rowid, at FROM dedup ORDER BY rowid LIMIT ?)
    WHERE at < ?"""
_DELETE = "DELETE FROM dedup WHERE rowid <= ? AND at < ?"
_DELETE_CODES = "DELETE FROM code WHERE expires_at < ?"
_log = logging.getLogger(__name__)


class Purge:
    """Deletes deduplication keys past their days and codes past their term.

    After a jump of the clock by more than an hour it pauses once: the jump may be a mistake.
    """

    def __init__(self, clock: Clock, dedup_days: int) -> None:
        self._clock = clock
        self._kept_ms = dedup_days * _MS_PER_DAY
        self._offset = self._offset_now()

    def __call__(self, txn: Txn) -> bool:
        """Do one step; True if there is more to do."""
        offset = self._offset_now()
        jumped = offset - self._offset
        self._offset = offset
        if jumped > _JUMP_MS:
            _log.warning(
                "the clock jumped forward by %d s: nothing is purged now", jumped // 1000
            )
            return False
        txn.db.execute(_DELETE_CODES, (txn.now,))
        oldest = txn.now - self._kept_ms
        [count, last] = txn.db.execute(_OLDEST, (_STEP, oldest)).fetchone()
        if count:
            txn.db.execute(_DELETE, (last, oldest))
        return bool(count == _STEP)

    def _offset_now(self) -> int:
        """Wall time less monotonic time (ms): constant but for jumps."""
        return to_ms(self._clock.now()) - int(self._clock.monotonic() * 1000)
