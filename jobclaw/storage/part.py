"""What the parts of the store share: the connections, the clock, and reading JSON results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from jobclaw.errors import StorageError
from jobclaw.model import from_json
from jobclaw.spi.clock import Clock
from jobclaw.storage.database import Reader
from jobclaw.storage.failures import EXIT_IO
from jobclaw.storage.writer import Txn, Writer

T = TypeVar("T")


@dataclass(frozen=True)
class Access:
    """The connection that the event loop reads with, and the writer; None to only read."""

    reader: Reader
    writer: Writer | None
    clock: Clock
    dedup_days: int


class Part:
    """One side of the store."""

    def __init__(self, access: Access) -> None:
        self._reader = access.reader
        self._access = access

    @property
    def _writer(self) -> Writer:
        if self._access.writer is None:
            raise StorageError("storage.read-only", exit_code=EXIT_IO)
        return self._access.writer


def one_json(txn: Txn, query: str, value: str, kind: type[T]) -> T:
    """The single JSON result of a query: one step, however many rows it stands for."""
    [text] = txn.db.execute(query, (value,)).fetchone()
    return from_json(text, kind)


def last_seq(txn: Txn, table: str) -> int:
    """The highest row number ever given in a table."""
    query = "SELECT ifnull(max(seq), 0) FROM sqlite_sequence WHERE name = ?"
    [seq] = txn.db.execute(query, (table,)).fetchone()
    return int(seq)
