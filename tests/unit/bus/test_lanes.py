"""One conversation in order, conversations side by side, turns that can be stopped."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec
import pytest
from platform_double import inbound

from jobclaw.app.core import SystemClock
from jobclaw.bus import lanes as lanes_module
from jobclaw.bus.events import EventBus
from jobclaw.bus.inbox import Inbox
from jobclaw.bus.lanes import MAX_FAILURES, Lanes
from jobclaw.bus.topics import MESSAGE_RECEIVED
from jobclaw.model import InboundMessage, Outcome
from jobclaw.router.record import decision_without_turn
from jobclaw.spi.store import Handled, InboxRow, InboxState
from jobclaw.storage import SqliteStore, open_store

Work = Callable[[InboundMessage], Awaitable[None]]


class Runner:
    """Handles a message by a coroutine function of the test."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.handled: list[str] = []

    async def handle(self, row: InboxRow) -> Handled:
        await self.work(row.message)
        self.handled.append(row.message.text)
        return self._record(row, "done", "answered")

    def superseded(self, row: InboxRow) -> Handled:
        return self._record(row, "superseded", "superseded")

    def dead(self, row: InboxRow) -> Handled:
        return self._record(row, "dead", "failed")

    def interrupts(self, message: InboundMessage) -> bool:
        return message.text == "/stop"

    def _record(self, row: InboxRow, state: InboxState, outcome: Outcome) -> Handled:
        at = SystemClock().now()
        decision = decision_without_turn(row.message, outcome, state, at, "r")
        return Handled(seq=row.seq, state=state, decision=decision)


class Way:
    """A store with inbox and lanes, as a process has them."""

    def __init__(self, store: SqliteStore, work: Work, max_parallel: int = 64) -> None:
        self.store = store
        self.runner = Runner(work)
        self.outcomes: list[tuple[str, str]] = []
        bus = EventBus()
        self.lanes = Lanes(store, self.runner, self._committed, max_parallel=max_parallel)
        self.inbox = Inbox(store, bus, self.lanes)
        bus.attach(MESSAGE_RECEIVED, self.lanes.offer)

    def _committed(self, handled: Handled, _: object) -> None:
        self.outcomes.append((handled.decision.text, handled.decision.outcome))

    async def idle(self) -> None:
        async with asyncio.timeout(20):
            await self.lanes.idle()

    def attempts(self) -> dict[str, int]:
        """How often each waiting message was tried, as the disk has it."""
        rows = (
            row for lane in self.store.ready_lanes() for row in self.store.ready(lane, 0, 9)
        )
        return {row.message.text: row.attempts for row in rows}


@pytest.fixture
async def store(tmp_path: Path):
    opened = open_store(tmp_path, SystemClock())
    yield opened
    await opened.close()


async def test_a_lane_keeps_its_order_while_others_run(store: SqliteStore):
    running: set[str] = set()
    most = 0

    async def work(message: InboundMessage) -> None:
        nonlocal most
        lane = message.conversation.id
        assert lane not in running
        running.add(lane)
        most = max(most, len(running))
        for _ in range(int(message.platform_message_id) % 4):
            await asyncio.sleep(0)
        running.remove(lane)

    way = Way(store, work)
    messages = [inbound(f"{n % 20}:{n}", n, conversation=f"c{n % 20}") for n in range(200)]
    await asyncio.gather(*(way.inbox.accept(message) for message in messages))
    await way.idle()
    assert most > 1
    for lane in range(20):
        numbers = [int(t.split(":")[1]) for t in way.runner.handled if t.startswith(f"{lane}:")]
        assert numbers == list(range(lane, 200, 20))


async def test_no_more_than_the_limit_run_at_once(store: SqliteStore):
    running = 0

    async def work(_: InboundMessage) -> None:
        nonlocal running
        running += 1
        assert running <= 3
        await asyncio.sleep(0)
        running -= 1

    way = Way(store, work, max_parallel=3)
    await asyncio.gather(
        *(way.inbox.accept(inbound("x", n, conversation=f"c{n}")) for n in range(40))
    )
    await way.idle()
    assert len(way.runner.handled) == 40


@pytest.mark.parametrize("swallows", [False, True])
async def test_stop_cancels_the_running_turn_and_voids_what_waits(
    store: SqliteStore, swallows: bool
):
    started = asyncio.Event()

    async def work(message: InboundMessage) -> None:
        if message.text != "slow":
            return
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            if not swallows:
                raise

    way = Way(store, work)
    await way.inbox.accept(inbound("slow", 1))
    await started.wait()
    for number, text in enumerate(("waits", "/stop", "after"), start=2):
        await way.inbox.accept(inbound(text, number))
    await way.idle()
    assert way.outcomes == [
        ("slow", "superseded"),
        ("waits", "superseded"),
        ("/stop", "answered"),
        ("after", "answered"),
    ]


async def test_stop_of_one_sender_leaves_the_others_of_a_group_alone(store: SqliteStore):
    go = asyncio.Event()

    async def work(message: InboundMessage) -> None:
        if message.text == "slow":
            await go.wait()

    way = Way(store, work)
    await way.inbox.accept(inbound("slow", 1, sender="a"))
    await way.inbox.accept(inbound("other", 2, sender="a"))
    await way.inbox.accept(inbound("/stop", 3, sender="b"))
    go.set()
    await way.idle()
    assert [outcome for _, outcome in way.outcomes] == ["answered"] * 3


async def test_a_message_that_always_fails_is_buried_and_the_lane_moves_on(store: SqliteStore):
    tries = 0

    async def work(message: InboundMessage) -> None:
        nonlocal tries
        if message.text == "poison":
            tries += 1
            raise RuntimeError("always")

    way = Way(store, work)
    await way.inbox.accept(inbound("poison", 1))
    await way.inbox.accept(inbound("next", 2))
    await way.idle()
    assert tries == MAX_FAILURES
    assert way.outcomes == [("poison", "failed"), ("next", "answered")]


async def test_a_failure_that_passes_is_retried(store: SqliteStore):
    tries = 0

    async def work(_: InboundMessage) -> None:
        nonlocal tries
        tries += 1
        if tries < 3:
            raise RuntimeError("for now")

    way = Way(store, work)
    await way.inbox.accept(inbound("x", 1))
    await way.idle()
    assert way.outcomes == [("x", "answered")]


async def test_drain_finishes_the_running_turn_and_leaves_the_rest_stored(tmp_path: Path):
    started, go = asyncio.Event(), asyncio.Event()

    async def work(message: InboundMessage) -> None:
        if message.text == "first":
            started.set()
            await go.wait()

    before = open_store(tmp_path, SystemClock())
    way = Way(before, work)
    await way.inbox.accept(inbound("first", 1))
    await way.inbox.accept(inbound("second", 2))
    await started.wait()
    draining = asyncio.create_task(way.lanes.drain(20))
    await asyncio.sleep(0)
    go.set()
    assert await draining
    assert way.runner.handled == ["first"]
    await before.close()
    after = open_store(tmp_path, SystemClock())
    later = Way(after, work)
    later.lanes.recover()
    await later.idle()
    assert later.runner.handled == ["second"]
    await after.close()


async def test_a_turn_that_outlives_the_drain_is_run_again_by_the_next_start(tmp_path: Path):
    started = asyncio.Event()

    async def hangs(_: InboundMessage) -> None:
        started.set()
        await asyncio.Event().wait()

    async def works(_: InboundMessage) -> None:
        return

    before = open_store(tmp_path, SystemClock())
    way = Way(before, hangs)
    await way.inbox.accept(inbound("x", 1))
    await started.wait()
    assert not await way.lanes.drain(0.01)
    await before.close()
    after = open_store(tmp_path, SystemClock())
    later = Way(after, works)
    later.lanes.recover()
    await later.idle()
    assert later.outcomes == [("x", "answered")]
    await after.close()


async def test_beyond_the_bound_rows_wait_on_disk_and_keep_their_order(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(lanes_module, "QUEUED_IN_MEMORY", 5)
    go = asyncio.Event()

    async def work(_: InboundMessage) -> None:
        await go.wait()

    way = Way(store, work)
    messages = [inbound(str(n), n, conversation=f"c{n % 3}") for n in range(300)]
    await asyncio.gather(*(way.inbox.accept(message) for message in messages))
    go.set()
    await way.idle()
    for lane in range(3):
        numbers = [int(text) for text in way.runner.handled if int(text) % 3 == lane]
        assert numbers == list(range(lane, 300, 3))


async def test_duplicates_are_handled_once(store: SqliteStore):
    async def work(_: InboundMessage) -> None:
        return

    way = Way(store, work)
    first = await way.inbox.accept(inbound("x", 1))
    again = await way.inbox.accept(inbound("x", 1))
    await way.idle()
    assert (first.duplicate, again.duplicate) == (False, True)
    assert again.message_id == first.message_id
    assert way.runner.handled == ["x"]


async def test_a_row_read_from_the_journal_and_then_offered_is_handled_once(store: SqliteStore):
    started, go = asyncio.Event(), asyncio.Event()

    async def work(_: InboundMessage) -> None:
        started.set()
        await go.wait()

    way = Way(store, work)
    message = msgspec.structs.replace(inbound("x", 1), id="01ARZ3NDEKTSV4RRFFQ69G5FAV")
    ingested = await store.ingest(message)
    way.lanes.recover()
    await started.wait()
    way.lanes.offer(InboxRow(seq=ingested.seq, message=message, attempts=0))
    await way.inbox.accept(inbound("next", 2))
    go.set()
    await way.idle()
    assert way.runner.handled == ["x", "next"]


@pytest.mark.parametrize("max_parallel", [1, 64])
async def test_only_what_starts_at_once_is_counted_when_it_is_accepted(
    store: SqliteStore, max_parallel: int
):
    started, go = asyncio.Event(), asyncio.Event()
    counted: list[int] = []

    async def work(message: InboundMessage) -> None:
        counted.append(way.attempts()[message.text])
        if len(counted) == min(2, max_parallel):
            started.set()
        await go.wait()

    way = Way(store, work, max_parallel)
    await way.inbox.accept(inbound("first", 1, conversation="a"))
    await way.inbox.accept(inbound("behind", 2, conversation="a"))
    await way.inbox.accept(inbound("beside", 3, conversation="b"))
    async with asyncio.timeout(10):
        await started.wait()
    beside = int(max_parallel > 1)
    assert way.attempts() == {"first": 1, "behind": 0, "beside": beside}
    go.set()
    await way.idle()
    assert counted == [1, 1, 1]
    assert way.attempts() == {}


async def test_messages_accepted_together_are_not_counted_while_they_wait(store: SqliteStore):
    started, go = asyncio.Event(), asyncio.Event()

    async def work(_: InboundMessage) -> None:
        started.set()
        await go.wait()

    way = Way(store, work, max_parallel=1)
    together = [inbound(f"m{n}", n, conversation=f"c{n % 3}") for n in range(6)]
    await asyncio.gather(*(way.inbox.accept(message) for message in together))
    async with asyncio.timeout(10):
        await started.wait()
    await store.probe()  # on disk after what was handed in before
    assert sorted(way.attempts().values()) == [0, 0, 0, 0, 0, 1]
    go.set()
    await way.idle()
    assert sorted(way.runner.handled) == [f"m{n}" for n in range(6)]


async def test_an_attempt_counted_at_acceptance_is_one_of_those_that_fail(store: SqliteStore):
    counted: list[int] = []

    async def work(message: InboundMessage) -> None:
        counted.append(way.attempts()[message.text])
        raise ValueError

    way = Way(store, work)
    await way.inbox.accept(inbound("bad", 1))
    await way.idle()
    assert counted == list(range(1, MAX_FAILURES + 1))
    assert way.outcomes == [("bad", "failed")]


async def test_a_drained_process_counts_nothing(store: SqliteStore):
    async def work(_: InboundMessage) -> None:
        raise AssertionError

    way = Way(store, work)
    assert await way.lanes.drain(5)
    await way.inbox.accept(inbound("late", 1))
    assert way.attempts() == {"late": 0}


async def test_one_that_could_not_be_accepted_does_not_keep_its_lane(store: SqliteStore):
    async def work(_: InboundMessage) -> None:
        return

    way = Way(store, work)
    message = inbound("x", 1)
    assert way.lanes.admit(message)
    assert not way.lanes.admit(inbound("y", 2))
    way.lanes.release(message)
    for text in ("x", "x", "z"):  # the second is a duplicate
        await way.inbox.accept(inbound(text, 3 if text == "z" else 1))
        await way.idle()
    assert way.runner.handled == ["x", "z"]
    assert way.lanes.admit(inbound("y", 2))
