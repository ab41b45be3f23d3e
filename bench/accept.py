"""P2: durable accept (committed, FULL) before the acknowledgement; whole lives in the store.

Wall-clock time, since the disk is measured too. Grouped: producers that each wait for one
message before the next: 1 000 for how much the store takes, 32 for how long one waits (1 000
that all wait do so for 1 000 / rate, whatever the store does). One by one: a producer alone,
against a bare SQLite commit of such a row with the same settings. Lives: ingest with the claim,
read the session, commit with decision, session and one reply in sending, mark sent, in 1 000
lanes at once.

    python bench/accept.py [--json] [--folder DIR]
"""

import asyncio
import gc
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

import msgspec
from harness import Figure, at_least, at_most, parser, report

from jobclaw.model import (
    HISTORY_LIMIT,
    Conversation,
    DeliveryReceipt,
    HistoryEntry,
    InboundMessage,
    Markdown,
    OutboundMessage,
    ReplyTarget,
    RouteDecision,
    Sender,
    Session,
    to_json,
)
from jobclaw.observe.memory import calm_collector
from jobclaw.spi.store import Handled, Store
from jobclaw.storage import SqliteStore, open_store

ROUNDS, LANES, FEW, MESSAGES, SINGLE = 5, 1000, 32, 20_000, 500
T = TypeVar("T")
SENT = DeliveryReceipt(ok=True, message_ids=("1",))
BARE = "CREATE TABLE inbox (seq INTEGER PRIMARY KEY, id TEXT UNIQUE, message TEXT) STRICT"


class SystemClock:
    """The time of the machine."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()


def message(lane: int, number: int, at: datetime) -> InboundMessage:
    """A typical message with one deduplication key."""
    id_ = f"m{lane}-{number}"
    chat = f"c{lane}"
    return InboundMessage(
        channel="telegram",
        account="main",
        conversation=Conversation(id=chat),
        sender=Sender(id=f"u{lane}", name="小王"),
        reply=ReplyTarget(channel="telegram", account="main", conversation=chat),
        received_at=at,
        id=f"01J00000000000{number:07d}{lane:05d}",
        dedup_keys=(id_,),
        platform_message_id=id_,
        text="帮我推荐一些上海的后端岗位",
    )


async def grouped(store: Store, producers: int) -> tuple[float, float]:
    """Messages a second, and the wait (ms) that 99 of 100 do not exceed."""
    at = datetime.now(UTC)
    waits: list[float] = []

    async def produce(lane: int) -> None:
        for number in range(MESSAGES // producers):
            one = message(lane, number, at)
            started = time.perf_counter()
            await store.ingest(one)
            waits.append((time.perf_counter() - started) * 1000)

    started = time.perf_counter()
    await asyncio.gather(*(produce(lane) for lane in range(producers)))
    rate = len(waits) / (time.perf_counter() - started)
    return rate, statistics.quantiles(waits, n=100)[98]


async def single(store: Store, first: int) -> float:
    """Messages a second of a producer alone."""
    at = datetime.now(UTC)
    started = time.perf_counter()
    for number in range(first, first + SINGLE):
        await store.ingest(message(LANES, number, at))
    return SINGLE / (time.perf_counter() - started)


def bare(folder: Path, first: int) -> float:
    """Commits a second of SQLite alone, one row each."""
    db = sqlite3.connect(folder / "bare.db", isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    if first == 0:
        db.execute(BARE)
    at = datetime.now(UTC)
    started = time.perf_counter()
    for number in range(first, first + SINGLE):
        one = message(0, number, at)
        row = (one.id, to_json(one).decode())
        db.execute("INSERT INTO inbox (id, message) VALUES (?, ?)", row)
    rate = SINGLE / (time.perf_counter() - started)
    db.close()
    return rate


async def life(store: Store, lane: int, number: int) -> None:
    """One message from accepted to sent."""
    at = datetime.now(UTC)
    one = message(lane, number, at)
    user, key = f"u{lane}", f"telegram:main:c{lane}:u{lane}"
    accepted = await store.ingest(one, claimed=True)
    turn = handled(accepted.seq, one, store.read(key, user), at)
    [row] = await store.commit(turn, sending=True)
    await store.mark_sent(row.seq, SENT)


def handled(seq: int, one: InboundMessage, session: Session, at: datetime) -> Handled:
    """What the router would make of a message that goes to the bound agent."""
    entry = HistoryEntry(
        at=at, intent="RECOMMEND", confidence=1.0, tier="keyword", agent="job-recommend"
    )
    session = msgspec.structs.replace(
        session,
        bound_agent=entry.agent,
        bound_at=session.bound_at or at,
        expires_at=at + timedelta(hours=6),
        history=(*session.history, entry)[-HISTORY_LIMIT:],
    )
    decision = RouteDecision(
        message=one.id,
        session=session.key,
        user=session.user_id,
        role="free",
        step="binding",
        tier="none",
        intent=entry.intent,
        confidence=1.0,
        agent=entry.agent,
        outcome="answered",
        at=at,
        text=one.text,
    )
    answer = OutboundMessage(
        id=f"{one.id}.0", target=one.reply, parts=(Markdown("为你找到三个岗位。"),)
    )
    return Handled(seq=seq, state="done", decision=decision, session=session, outbox=(answer,))


async def lives(store: SqliteStore) -> float:
    """Whole lives a second in all lanes at once, each bound before (its file written)."""

    async def lane(number: int) -> None:
        for turn in range(1, 1 + MESSAGES // LANES):
            await life(store, number, turn)

    await asyncio.gather(*(life(store, number, 0) for number in range(LANES)))
    await store.flush()
    started = time.perf_counter()
    await asyncio.gather(*(lane(number) for number in range(LANES)))
    return MESSAGES / (time.perf_counter() - started)


async def in_store(folder: Path, work: Callable[[SqliteStore], Awaitable[T]]) -> T:
    """Run a measurement in a fresh store."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        store = open_store(Path(place), SystemClock())
        try:
            gc.collect()
            return await work(store)
        finally:
            await store.close()


async def measure(folder: Path) -> list[Figure]:
    """All figures: medians over the rounds."""
    many: list[float] = []
    few: list[tuple[float, float]] = []
    alone: list[float] = []
    floor: list[float] = []
    whole: list[float] = []
    for turn in range(ROUNDS):
        many.append((await in_store(folder, lambda store: grouped(store, LANES)))[0])
        few.append(await in_store(folder, lambda store: grouped(store, FEW)))
        floor.append(bare(folder, turn * SINGLE))
        alone.append(await in_store(folder, lambda store: single(store, 0)))
        whole.append(await in_store(folder, lives))
    ratio = statistics.median(b / a for a, b in zip(alone, floor, strict=True))
    return [
        at_least("accepts, 1 000 producers", statistics.median(many), 10_000, "/s"),
        at_least(
            "accepts, 32 producers", statistics.median(rate for rate, _ in few), 10_000, "/s"
        ),
        at_most(
            "wait of 99 %, 32 producers", statistics.median(p99 for _, p99 in few), 10, "ms"
        ),
        at_least("accepts, one by one", statistics.median(alone), 2_000, "/s"),
        Figure("bare SQLite FULL commit", round(statistics.median(floor)), "/s"),
        at_most("one by one, times a bare commit", ratio, 2, "×"),
        at_least(
            "whole lives in the store, 1 000 lanes", statistics.median(whole), 8_000, "/s"
        ),
    ]


def main() -> None:
    """Measure and report."""
    options = parser(__doc__)
    options.add_argument("--folder", type=Path, default=None, help="on the disk to measure")
    chosen = options.parse_args()
    calm_collector()  # as the daemon does
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        figures = asyncio.run(measure(Path(folder)))
    report(figures, as_json=chosen.json)


if __name__ == "__main__":
    main()
