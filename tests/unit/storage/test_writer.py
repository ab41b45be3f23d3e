"""Operations share transactions, but neither fate nor waiters."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from store_samples import SteppedClock

from jobclaw.errors import StorageError
from jobclaw.storage.database import open_for_reading, open_for_writing
from jobclaw.storage.purge import Purge
from jobclaw.storage.states import to_ms
from jobclaw.storage.writer import Txn, Writer, run_each

PUT = "INSERT INTO code (kind, hash, payload, expires_at) VALUES ('t', ?, '', 1)"
GET = "SELECT hash FROM code WHERE kind = 't' ORDER BY hash"


class Bench:
    """A writer over a real journal, which can be held up to let operations gather."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.gate = threading.Event()
        self.transactions: set[int] = set()
        self.clock = SteppedClock()
        self.db = open_for_writing(path)
        self.writer = Writer(self.db, str(path), self.clock, lambda _: False)

    def hold(self) -> "asyncio.Future[bool]":
        """Keep the writer busy until the gate opens."""

        def wait(_: Txn) -> bool:
            return self.gate.wait(10)

        return self.writer.submit(run_each, wait)

    def put(self, txn: Txn, values: Sequence[bytes]) -> list[bytes]:
        for value in values:
            txn.db.execute(PUT, (value,))
        self.transactions.add(len(values))
        return list(values)

    def rows(self) -> list[bytes]:
        reader = open_for_reading(self.path)
        try:
            return [value for (value,) in reader.all(GET, ())]
        finally:
            reader.close()


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    bench = Bench(tmp_path / "journal.db")
    yield bench
    bench.gate.set()
    await asyncio.to_thread(bench.writer.close)


async def test_what_gathers_is_written_in_one_transaction_of_at_most_a_thousand(
    bench: Bench,
) -> None:
    held = bench.hold()
    waits = [bench.writer.submit(bench.put, b"%04d" % n) for n in range(2500)]
    bench.gate.set()
    assert await held
    assert await asyncio.gather(*waits) == [b"%04d" % n for n in range(2500)]
    assert max(bench.transactions) == 1000
    assert len(bench.rows()) == 2500


@pytest.mark.parametrize("bad", [{0}, {49}, {99}, {3, 4, 70}, set(range(100))])
async def test_a_bad_operation_spoils_no_other(bench: Bench, bad: set[int]) -> None:
    await bench.writer.submit(bench.put, b"taken")
    held = bench.hold()
    values = [b"taken" if n in bad else b"%03d" % n for n in range(100)]
    waits = [bench.writer.submit(bench.put, value) for value in values]
    bench.gate.set()
    await held
    results = await asyncio.gather(*waits, return_exceptions=True)
    failed = {n for n, result in enumerate(results) if isinstance(result, StorageError)}
    assert failed == bad
    assert bench.rows() == sorted({*values, b"taken"})


@pytest.mark.parametrize(
    "error", [ValueError("x"), KeyError("x"), StorageError("storage.busy"), sqlite3.Error("x")]
)
async def test_an_operation_that_raises_fails_alone_and_leaves_nothing(
    bench: Bench, error: Exception
) -> None:
    def half(txn: Txn) -> None:
        txn.db.execute(PUT, (b"half",))
        raise error

    held = bench.hold()
    bad = bench.writer.submit(run_each, half)
    good = bench.writer.submit(bench.put, b"good")
    bench.gate.set()
    await held
    assert await good == b"good"
    with pytest.raises(StorageError):
        await bad
    assert bench.rows() == [b"good"]


async def test_who_gives_up_waiting_changes_nothing(bench: Bench) -> None:
    told: list[bytes] = []
    held = bench.hold()
    wait = bench.writer.submit(bench.put, b"kept", told.append)
    wait.cancel()
    bench.gate.set()
    await held
    await bench.writer.submit(bench.put, b"next")
    assert bench.rows() == [b"kept", b"next"]
    assert told == [b"kept"]


async def test_closing_writes_what_was_handed_in_and_then_refuses(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "journal.db")
    held = bench.hold()
    waits = [bench.writer.submit(bench.put, b"%d" % n) for n in range(9)]
    bench.gate.set()
    await asyncio.to_thread(bench.writer.close)
    assert await held
    assert len(await asyncio.gather(*waits)) == 9
    assert len(bench.rows()) == 9
    for refused in (bench.writer.submit, bench.writer.run):
        with pytest.raises(StorageError) as caught:
            refused(bench.put, b"late")
        assert caught.value.text_id == "storage.closed"


async def test_a_full_disk_refuses_and_recovers_by_itself(bench: Bench) -> None:
    [pages] = bench.db.execute("PRAGMA page_count").fetchone()
    bench.db.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StorageError) as caught:
        await bench.writer.submit(bench.put, b"x" * 100_000)
    assert (caught.value.text_id, caught.value.exit_code) == ("storage.full", 74)
    assert bench.writer.failure is None
    bench.db.execute("PRAGMA max_page_count = 100000")
    await bench.writer.submit(bench.put, b"x" * 100_000)
    assert len(bench.rows()) == 1


class TestPurge:
    KEY = "INSERT INTO dedup (channel, account, key, seq, at) VALUES ('c', 'a', ?, 1, ?)"

    def fill(self, bench: Bench, count: int) -> None:
        now = to_ms(bench.clock.now())
        rows = [(str(n), now) for n in range(count)]
        bench.db.execute("BEGIN")
        bench.db.executemany(self.KEY, rows)
        bench.db.execute("COMMIT")

    def left(self, bench: Bench) -> int:
        [count] = bench.db.execute("SELECT count(*) FROM dedup").fetchone()
        return int(count)

    async def step(self, bench: Bench, purge: Purge) -> bool:
        result: bool = await bench.writer.submit(run_each, purge)
        return result

    async def test_old_keys_go_in_small_steps_and_young_ones_stay(self, bench: Bench) -> None:
        self.fill(bench, 1200)
        bench.clock.move(timedelta(days=8, seconds=1))
        bench.db.execute(self.KEY, ("young", to_ms(bench.clock.now())))
        purge = Purge(bench.clock, 8)
        assert [await self.step(bench, purge) for _ in range(4)] == [True, True, False, False]
        assert self.left(bench) == 1

    async def test_nothing_goes_before_its_time(self, bench: Bench) -> None:
        self.fill(bench, 3)
        bench.clock.move(timedelta(days=7, hours=23))
        assert not await self.step(bench, Purge(bench.clock, 8))
        assert self.left(bench) == 3

    async def test_a_jump_of_the_clock_is_not_believed_at_once(self, bench: Bench) -> None:
        self.fill(bench, 3)
        purge = Purge(bench.clock, 8)
        bench.clock.jump(timedelta(days=30))
        await self.step(bench, purge)
        assert self.left(bench) == 3
        await self.step(bench, purge)
        assert self.left(bench) == 0
