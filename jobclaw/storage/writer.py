"""The one thread that writes: operations wait in a queue and share a transaction.

While one transaction is being synced, the next operations gather; so the disk is asked once for
up to 1 000 of them. Within a transaction operations of one kind run together (`Apply` takes all
of them), kinds in order of first appearance; whoever needs an order awaits the first operation.
If a transaction fails because of one operation, it is rolled back and redone in halves until
only the culprit fails. A waiter that gave up changes nothing: what was handed in is written.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import queue
import sqlite3
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec

from jobclaw.errors import StorageError
from jobclaw.spi.clock import Clock
from jobclaw.storage.checkpoints import BACKSTOP_PAGES, Checkpoints
from jobclaw.storage.database import close_writing
from jobclaw.storage.failures import EXIT_IO, concerns_one, is_final, storage_error
from jobclaw.storage.states import to_ms

BATCH_LIMIT = 1000
CHORE_INTERVAL_S = 60.0
A = TypeVar("A")
R = TypeVar("R")
_OPERATION_ERRORS = (
    sqlite3.Error,
    StorageError,
    msgspec.MsgspecError,
    ArithmeticError,
    LookupError,
    TypeError,
    ValueError,
)
_log = logging.getLogger(__name__)


class Txn(NamedTuple):
    """An open transaction and its time (ms)."""

    db: sqlite3.Connection
    now: int


Apply = Callable[[Txn, Sequence[A]], Sequence[R | StorageError]]
Chore = Callable[[Txn], bool]
_Waiter = asyncio.Future[Any] | concurrent.futures.Future[Any] | None


class _Item(NamedTuple):
    apply: Apply[Any, Any]
    argument: Any
    waiter: _Waiter
    after: Callable[[Any], None] | None


class _Settled(NamedTuple):
    """Operations and, in the same order, what became of them."""

    items: list[_Item]
    results: list[Any]


def run_each(txn: Txn, operations: Sequence[Callable[[Txn], Any]]) -> list[Any]:
    """The `Apply` of rare operations: each is a function of the transaction."""
    return [operation(txn) for operation in operations]


def _copy(error: StorageError) -> StorageError:
    """A fresh error for each who waits: one raised twice keeps both tracebacks."""
    return StorageError(error.text_id, exit_code=error.exit_code, **error.values)


def _set(waiter: asyncio.Future[Any] | concurrent.futures.Future[Any], result: object) -> None:
    if isinstance(result, StorageError):
        waiter.set_exception(result)
    else:
        waiter.set_result(result)


def _settle(settled: _Settled) -> None:
    """Tell first what must know of the commit, then who waits for it."""
    for item, result in zip(*settled, strict=True):
        if item.after is not None and not isinstance(result, StorageError):
            item.after(result)
        if item.waiter is not None and not item.waiter.done():
            _set(item.waiter, result)


class Writer:
    """Owns the writing connection; `submit` from the event loop, `run` from other threads."""

    def __init__(self, db: sqlite3.Connection, file: str, clock: Clock, chore: Chore) -> None:
        self._db = db
        self._file = file
        self._clock = clock
        self._chore = chore
        self._chore_due = clock.monotonic()
        db.execute(f"PRAGMA wal_autocheckpoint = {BACKSTOP_PAGES}")
        self._checkpoints = Checkpoints(Path(file), self._not_folded)
        self._queue: queue.SimpleQueue[_Item | None] = queue.SimpleQueue()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False
        self.failure: StorageError | None = None
        self.foreign = 0
        self._version = 0
        self._thread = threading.Thread(target=self._work, name="jobclaw-writer", daemon=True)
        self._thread.start()

    def submit(
        self,
        apply: Apply[A, R],
        argument: A,
        after: Callable[[R], None] | None = None,
    ) -> asyncio.Future[R]:
        """Hand in an operation; `after` runs on the loop once it is on disk, come what may.

        Raises:
            StorageError: the store is closed, or its disk has failed for good.
        """
        self._check_open()
        if self._loop is None or self._loop.is_closed():
            self._loop = asyncio.get_running_loop()  # asking costs a system call each time
        future: asyncio.Future[R] = self._loop.create_future()
        self._queue.put(_Item(apply, argument, future, after))
        return future

    def run(self, apply: Apply[A, R], argument: A) -> R:
        """Hand in an operation from a thread without a loop, and wait for it."""
        self._check_open()
        future: concurrent.futures.Future[R] = concurrent.futures.Future()
        self._queue.put(_Item(apply, argument, future, None))
        return future.result()

    def post(self, apply: Apply[A, R], argument: A, after: Callable[[R], None]) -> None:
        """Hand in an operation that nobody waits for; `after` runs in the writer's thread."""
        self._check_open()
        self._queue.put(_Item(apply, argument, None, after))

    def close(self) -> None:
        """Write what was handed in, fold the log into the database, release it; blocks."""
        self._closed = True
        self._queue.put(None)
        self._thread.join()
        self._checkpoints.close()
        try:
            close_writing(self._db)
        except sqlite3.Error as error:  # nothing is lost: the log is read at the next start
            _log.warning("storage: %s", storage_error(error, self._file), exc_info=error)

    def _check_open(self) -> None:
        if self.failure is not None:
            raise _copy(self.failure)
        if self._closed:
            raise self._closed_error()

    def _closed_error(self) -> StorageError:
        return StorageError("storage.closed", exit_code=EXIT_IO, file=self._file)

    def _work(self) -> None:
        batch: list[_Item] = []
        ended = False
        try:
            while not ended:
                batch, ended = self._next_batch()
                self._deliver(self._write(batch))
                batch = []
                self._do_chore()
        finally:  # after an error of ours, too: nobody may wait for ever
            self._closed = True
            while not self._queue.empty():
                item = self._queue.get()
                batch += [] if item is None else [item]
            self._deliver(_Settled(batch, [self._closed_error() for _ in batch]))

    def _next_batch(self) -> tuple[list[_Item], bool]:
        """What waits now, at least one unless it is the end."""
        batch: list[_Item] = []
        while True:
            item = self._queue.get()
            if item is None:
                return batch, True
            batch.append(item)
            if len(batch) == BATCH_LIMIT or self._queue.empty():
                return batch, False

    def _write(self, batch: list[_Item]) -> _Settled:
        if self.failure is not None:
            return _Settled(batch, [_copy(self.failure) for _ in batch])
        try:
            return self._transaction(batch)
        except _OPERATION_ERRORS as error:
            if len(batch) > 1 and concerns_one(error):
                middle = len(batch) // 2
                first, second = self._write(batch[:middle]), self._write(batch[middle:])
                return _Settled(first.items + second.items, first.results + second.results)
            return self._failed(batch, error)

    def _transaction(self, batch: list[_Item]) -> _Settled:
        groups: dict[Apply[Any, Any], list[_Item]] = {}
        for item in batch:
            groups.setdefault(item.apply, []).append(item)
        settled = _Settled([], [])
        self._db.execute("BEGIN IMMEDIATE")
        try:
            self._look_around()
            txn = Txn(self._db, to_ms(self._clock.now()))
            for apply, items in groups.items():
                settled.results.extend(apply(txn, [item.argument for item in items]))
                settled.items.extend(items)
            self._db.execute("COMMIT")
            self._checkpoints.wrote(len(batch))
        finally:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
        return settled

    def _look_around(self) -> None:
        """Notice whether another connection has written since the last transaction."""
        [version] = self._db.execute("PRAGMA data_version").fetchone()
        if version != self._version:
            self._version = version
            self.foreign += 1

    def _failed(self, batch: list[_Item], error: Exception) -> _Settled:
        shown = self._shown(error)
        if is_final(error):
            self.failure = shown
        _log.error("storage: %s", shown, exc_info=error)
        return _Settled(batch, [_copy(shown) for _ in batch])

    def _not_folded(self, error: sqlite3.Error) -> None:
        """A checkpoint failed: it is tried again later, unless nothing may be written now."""
        shown = storage_error(error, self._file)
        if is_final(error):
            self.failure = shown
        _log.warning("storage: %s", shown, exc_info=error)

    def _shown(self, error: Exception) -> StorageError:
        if isinstance(error, StorageError):
            return error
        if isinstance(error, sqlite3.Error):
            return storage_error(error, self._file)
        return StorageError("storage.refused", exit_code=EXIT_IO, problem=str(error))

    def _deliver(self, settled: _Settled) -> None:
        """Answer who waits: threads here, all others in one call on the event loop."""
        later = _Settled([], [])
        for item, result in zip(*settled, strict=True):
            if isinstance(item.waiter, asyncio.Future):
                later.items.append(item)
                later.results.append(result)
            else:
                _settle(_Settled([item], [result]))
        if later.items and self._loop is not None:
            try:
                self._loop.call_soon_threadsafe(_settle, later)
            except RuntimeError:  # closed meanwhile, and with it everyone who waited there
                _log.warning("storage: %d results came late", len(later.items))

    def _do_chore(self) -> None:
        if self.failure is not None or self._clock.monotonic() < self._chore_due:
            return
        wait = CHORE_INTERVAL_S
        try:
            done = self._transaction([_Item(run_each, self._chore, None, None)])
            wait = 1.0 if done.results[0] else CHORE_INTERVAL_S
        except sqlite3.Error as error:
            _log.warning("storage: %s", storage_error(error, self._file), exc_info=error)
        self._chore_due = self._clock.monotonic() + wait
