"""One ordered lane per conversation.

Messages of a lane are handled strictly in order, one at a time; lanes run in parallel up to a
limit. A lane's worker is a task that lives while there is something to do and ends when there
is not, so idle conversations cost nothing. Rows wait in memory up to `QUEUED_IN_MEMORY` over
all lanes; beyond that, and after a restart, a lane is *behind*: its worker reads the next rows
from the journal, in order, so memory does not grow with the backlog.

Each attempt is counted on disk before the handler runs: by a claim, or, where the lane is idle
and a slot is free, together with the acceptance (`admit`). A message that finds the slots taken
after all gives its count back; none is counted for waiting.

`/stop` and `/reset` do not wait in the lane: when one arrives, the running turn of the same
session is cancelled, and what that session sent before it and still waits is recorded as
superseded. A turn is cancelled only while it is in the handler; once its commit is under way
it counts as handled. A turn that does not let go within `LET_GO_S` is left behind: its lane
goes on with another worker, and what it may still do is thrown away.

A lane whose next message was being handled when an earlier process died opens late: after the
other lanes have been served, the least often tried first, one at a time. So a message that
kills the process cannot keep the others from their answers, at whatever start; after
`MAX_CLAIMS` tries it is a dead letter.

While the disk refuses, lanes stay where they are and go on when it has room again. A turn that
has been run is not run again for that; only its commit is.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from jobclaw.bus.patience import Patience
from jobclaw.errors import StorageError
from jobclaw.model import InboundMessage, OutboundMessage, lane_key, session_key
from jobclaw.spi.store import Handled, InboxRow, Journal, OutboxRow
from jobclaw.spi.trace import CURRENT_MESSAGE

_log = logging.getLogger(__name__)
QUEUED_IN_MEMORY = 10_000
REFILL = 50
MAX_FAILURES = 5
MAX_CLAIMS = 10
ADMITTED = 1000
PATIENCE_S = 10.0
REFUSED = "storage.refused"
LET_GO_S = 1.0


class TurnRunner(Protocol):
    """What a lane does with a message; the router, seen from here."""

    async def handle(self, row: InboxRow) -> Handled:
        """Decide and run one message."""
        ...

    def superseded(self, row: InboxRow) -> Handled:
        """The record of a message that a later one made void."""
        ...

    def dead(self, row: InboxRow) -> Handled:
        """The record of a message that failed too often, with an apology."""
        ...

    def interrupts(self, message: InboundMessage) -> bool:
        """Whether a message acts on the running turn at once."""
        ...


@dataclass
class _Lane:
    """The state of one conversation while it has work."""

    rows: deque[InboxRow] = field(default_factory=deque[InboxRow])
    taken: int = 0
    behind: bool = False
    held: bool = False
    given: deque[int] = field(default_factory=lambda: deque[int](maxlen=2 * REFILL))
    claimed: InboxRow | None = None
    running: InboxRow | None = None
    cancelled: bool = False
    void_before: dict[str, int] = field(default_factory=dict[str, int])
    worker: asyncio.Task[None] | None = None


def _uncancel() -> None:
    task = asyncio.current_task()
    if task is not None:
        task.uncancel()


class Lanes:
    """Runs every accepted message through the runner, in order per conversation."""

    def __init__(
        self,
        journal: Journal,
        runner: TurnRunner,
        committed: Callable[[Handled, tuple[OutboxRow, ...]], None],
        *,
        max_parallel: int = 64,
        leaves: Callable[[OutboundMessage], bool] | None = None,
    ) -> None:
        self._journal = journal
        self._runner = runner
        self._committed = committed
        self._leaves = leaves
        self._broken: Callable[[StorageError], None] | None = None
        self._slots = asyncio.Semaphore(max_parallel)
        self._lanes: dict[str, _Lane] = {}
        self._admitted: set[str] = set()
        self._queued = 0
        self._late: asyncio.Task[None] | None = None
        self._closing = False
        self._patience = Patience()
        self._quiet = asyncio.Event()
        self._quiet.set()

    def when_broken(self, listener: Callable[[StorageError], None]) -> None:
        """Have a lane that had to stop because of the store say so."""
        self._broken = listener

    def recover(self) -> None:
        """Take up what an earlier process accepted and did not finish."""
        late: list[tuple[int, str]] = []
        for key in self._journal.ready_lanes():
            lane = self._lane(key)
            lane.behind = True
            attempts = sum(row.attempts for row in self._journal.ready(key, 0, 1))
            if attempts:
                lane.held = True
                late.append((attempts, key))
            self._start(key, lane)
        if late:
            self._late = asyncio.create_task(self._open_late(late))

    def admit(self, message: InboundMessage) -> bool:
        """See `bus.inbox.Admission`.

        Only one that nothing stands before (an idle lane, a free slot). At a thousand
        conversations this saves an eighth of a life's CPU time (bench/README.md), the most of
        it because a slot is not held while a claim goes to the disk.
        """
        key = lane_key(message)
        known = key in self._lanes or key in self._admitted
        full = self._slots.locked() or len(self._admitted) >= ADMITTED
        if known or full or self._closing:
            return False
        self._admitted.add(key)
        return True

    def release(self, message: InboundMessage) -> None:
        """See `bus.inbox.Admission`."""
        self._admitted.discard(lane_key(message))

    def offer(self, row: InboxRow) -> None:
        """Queue an accepted message; once draining, it stays in the journal."""
        if self._closing:
            return
        key = lane_key(row.message)
        lane = self._lane(key)
        if lane.behind or self._queued >= QUEUED_IN_MEMORY:
            lane.behind = True
        elif row.seq not in lane.given:  # the journal shows a row before it is offered
            lane.rows.append(row)
            lane.claimed = row if row.attempts else lane.claimed
            self._queued += 1
        if self._runner.interrupts(row.message):
            self._interrupt(lane, row)
        self._start(key, lane)

    async def idle(self) -> None:
        """Return when no lane has anything to do."""
        await self._quiet.wait()

    async def settled(self, key: str) -> None:
        """Return when one lane has nothing to do."""
        while (lane := self._lanes.get(key)) is not None and lane.worker is not None:
            await asyncio.wait((lane.worker,))

    async def drain(self, grace_s: float) -> bool:
        """Finish running turns, start no other; False if `grace_s` was not enough.

        What is left stays in the journal and is taken up by the next start.
        """
        self._closing = True
        self._patience.end()
        if self._late is not None:
            self._late.cancel()
        for key, lane in list(self._lanes.items()):
            if lane.held:
                self._end(key, lane)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(grace_s):
                await self._quiet.wait()
        pending = [lane.worker for lane in self._lanes.values() if lane.worker is not None]
        for worker in pending:
            worker.cancel()
        if pending:
            await asyncio.wait(pending, timeout=LET_GO_S)
        return not pending

    def abandon(
        self, worker: asyncio.Task[object], conclude: Callable[[InboxRow], Handled]
    ) -> None:
        """Leave behind a worker whose turn will not end; `conclude` makes the turn's record."""
        for key, lane in self._lanes.items():
            row = lane.running
            if lane.worker is worker and row is not None:
                handled = self._runner.superseded(row) if lane.cancelled else conclude(row)
                lane.running, lane.cancelled = None, False
                self._slots.release()
                lane.worker = asyncio.create_task(self._work(key, lane, handled))
                return

    def _lane(self, key: str) -> _Lane:
        lane = self._lanes.get(key)
        if lane is None:
            lane = self._lanes[key] = _Lane()
            self._quiet.clear()
        return lane

    def _start(self, key: str, lane: _Lane) -> None:
        if lane.worker is None and not lane.held and not self._closing:
            lane.worker = asyncio.create_task(self._work(key, lane))

    async def _open_late(self, late: list[tuple[int, str]]) -> None:
        """Open held lanes when the others are served, or have had `PATIENCE_S`."""
        for _, key in sorted(late):
            busy = [lane.worker for lane in self._lanes.values() if lane.worker is not None]
            if busy:
                await asyncio.wait(busy, timeout=PATIENCE_S)
            lane = self._lanes.get(key)
            if lane is not None:
                lane.held = False
                self._start(key, lane)

    def _interrupt(self, lane: _Lane, by: InboxRow) -> None:
        session = session_key(by.message)
        lane.void_before[session] = by.seq
        running, worker = lane.running, lane.worker
        if running is None or worker is None or lane.cancelled:
            return
        if self._is_void(lane, running):
            lane.cancelled = True
            worker.cancel()
            loop = asyncio.get_running_loop()
            loop.call_later(LET_GO_S, self._let_go, lane, worker, running)

    def _let_go(self, lane: _Lane, worker: asyncio.Task[None], row: InboxRow) -> None:
        if lane.worker is worker and lane.running is row:
            _log.warning("message %s does not stop; its lane goes on without", row.message.id)
            self.abandon(worker, self._runner.superseded)

    def _is_void(self, lane: _Lane, row: InboxRow) -> bool:
        """Whether a later `/stop` or `/reset` made a message void; it never voids another."""
        if not lane.void_before:
            return False
        before = lane.void_before.get(session_key(row.message), 0)
        return row.seq < before and not self._runner.interrupts(row.message)

    async def _work(self, key: str, lane: _Lane, left: Handled | None = None) -> None:
        """Handle what waits, after storing what an abandoned worker `left`."""
        me = asyncio.current_task()
        try:
            if left is not None:
                await self._store(left)
            while not self._closing and (row := self._next(key, lane)) is not None:
                await self._run(lane, row)
        except StorageError as error:
            _log.exception("lane %s stopped: the store failed; a restart takes it up", key)
            if self._broken is not None:
                self._broken(error)
        finally:
            if lane.worker is me:
                self._end(key, lane)

    def _end(self, key: str, lane: _Lane) -> None:
        lane.worker = None
        self._queued -= len(lane.rows)
        del self._lanes[key]
        if not self._lanes:
            self._quiet.set()

    def _next(self, key: str, lane: _Lane) -> InboxRow | None:
        if not lane.rows and lane.behind:
            rows = self._journal.ready(key, lane.taken, REFILL)
            lane.behind = len(rows) == REFILL
            lane.rows.extend(rows)
            lane.given.extend(row.seq for row in rows)
            self._queued += len(rows)
            for row in rows:
                if self._runner.interrupts(row.message):
                    lane.void_before[session_key(row.message)] = row.seq
        if not lane.rows:
            return None
        self._queued -= 1
        row = lane.rows.popleft()
        lane.taken = row.seq
        return row

    async def _run(self, lane: _Lane, row: InboxRow) -> None:
        CURRENT_MESSAGE.set(row.message.id)
        handled = await self._patience.until_done(partial(self._in_slot, lane, row))
        try:
            await self._store(handled)
        except StorageError as error:
            if error.text_id != REFUSED:  # the disk's trouble, not the message's
                raise
            _log.exception("message %s cannot be stored as handled", row.message.id)
            await self._store(self._runner.dead(row))

    async def _in_slot(self, lane: _Lane, row: InboxRow) -> Handled:
        """Handle a row while few others are; to be stored it waits together with many."""
        me = asyncio.current_task()
        if lane.claimed is row and self._slots.locked():  # others were quicker: it only waits
            lane.claimed = None
            await self._journal.unclaim(row.seq)
        await self._slots.acquire()
        try:
            return await self._attempt(lane, row)
        finally:
            if lane.worker is me:
                self._slots.release()

    async def _store(self, handled: Handled) -> None:
        outbox = handled.outbox
        sending = self._leaves is not None and bool(outbox) and self._leaves(outbox[0])
        commit = partial(self._journal.commit, handled, sending=sending)
        rows = await self._patience.until_done(commit)
        if _log.isEnabledFor(logging.DEBUG):
            made = handled.decision
            told = {"agent": made.agent, "step": made.step, "tier": made.tier}
            _log.debug("handled: %s", made.outcome, extra=told)
        self._committed(handled, rows)

    async def _attempt(self, lane: _Lane, row: InboxRow) -> Handled:
        for attempt in range(1, MAX_FAILURES + 1):
            claims = 0
            if not self._is_void(lane, row):
                claims = await self._claim(lane, row)
            if self._is_void(lane, row):  # perhaps only while it was being claimed
                return self._runner.superseded(row)
            if claims > MAX_CLAIMS:
                break
            try:
                handled = await self._turn(lane, row)
            except StorageError:
                raise
            except Exception:  # noqa: BLE001 - counted as failed, retried, and buried at last
                _log.exception("message %s failed (attempt %d)", row.message.id, attempt)
                continue
            return self._runner.superseded(row) if handled is None else handled
        return self._runner.dead(row)

    async def _claim(self, lane: _Lane, row: InboxRow) -> int:
        """Count the attempt on disk, unless that was done when the message was accepted."""
        if lane.claimed is row:
            lane.claimed = None
            return row.attempts
        return await self._journal.claim(row.seq)

    async def _turn(self, lane: _Lane, row: InboxRow) -> Handled | None:
        """Run the handler; None when the turn was cancelled, even if that was swallowed."""
        lane.running, lane.cancelled = row, False
        handled = None
        try:
            handled = await self._runner.handle(row)
        except asyncio.CancelledError:
            if lane.running is row and not lane.cancelled:
                raise
        except Exception as error:
            if lane.running is row:
                raise
            raise asyncio.CancelledError from error
        finally:
            mine = lane.running is row
            if mine:
                lane.running = None
        if not mine:  # left behind: another worker has the lane
            raise asyncio.CancelledError
        if lane.cancelled:
            lane.cancelled = False
            _uncancel()
            return None
        return handled
