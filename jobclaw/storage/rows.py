"""Many rows in one statement.

`executemany` gives up the interpreter lock once a row; beside a busy event loop each return
costs up to 5 ms, and a batch of 1 000 takes seconds. One statement of up to 256 rows gives it
up once and inserts as fast (bench/README.md). Sizes are powers of two, so that the prepared
statements are few and stay in the connection's cache.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TypeVar

from jobclaw.model import from_json

SqlValue = str | int | float | bytes | None
T = TypeVar("T")
_SIZES = (256, 128, 64, 32, 16, 8, 4, 2, 1)


class ManyRows:
    """A statement around `VALUES` with a fixed number of columns."""

    def __init__(self, before: str, width: int, after: str = "") -> None:
        row = f"({', '.join('?' * width)})"
        self._texts = {
            size: f"{before} VALUES {', '.join([row] * size)} {after}" for size in _SIZES
        }

    def run(self, db: sqlite3.Connection, rows: Sequence[tuple[SqlValue, ...]]) -> None:
        """Execute for the rows, in order."""
        for text, values in self._parts(rows):
            db.execute(text, values)

    def ask(
        self, db: sqlite3.Connection, rows: Sequence[tuple[SqlValue, ...]], kind: type[T]
    ) -> list[T]:
        """Execute a query that gives one JSON array of `kind`; the arrays joined."""
        found: list[T] = []
        for text, values in self._parts(rows):
            [array] = db.execute(text, values).fetchone()
            found += from_json(array, list[kind])
        return found

    def _parts(
        self, rows: Sequence[tuple[SqlValue, ...]]
    ) -> Iterator[tuple[str, tuple[SqlValue, ...]]]:
        start, left = 0, len(rows)
        for size in _SIZES:
            while left >= size:
                yield self._texts[size], tuple(chain.from_iterable(rows[start : start + size]))
                start += size
                left -= size
