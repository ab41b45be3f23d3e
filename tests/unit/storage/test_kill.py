"""Whatever was acknowledged before kill -9 is there, and no transaction is there by half."""

import os
import random
import subprocess
import sys
from pathlib import Path

import yaml
from store_samples import SteppedClock, message

from jobclaw.spi.store import DecisionFilter
from jobclaw.storage import SqliteStore, open_store

VICTIM = Path(__file__).with_name("crash_victim.py")
SAMPLES = Path(__file__).parents[2]
EVERYTHING = 1_000_000


def run_until_killed(workspace: Path, first: int, lines: int) -> tuple[set[str], set[str]]:
    """Start a process, kill it after some lines; the ids accepted and those handled."""
    seen: dict[str, set[str]] = {"in": set(), "done": set()}
    with subprocess.Popen(
        [sys.executable, str(VICTIM), str(workspace), str(first)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(SAMPLES)},
    ) as victim:
        assert victim.stdout is not None
        for number, line in enumerate(victim.stdout):
            if number == lines:
                victim.kill()
            if line.endswith("\n"):
                what, id_ = line.split()
                seen[what].add(id_)
    return seen["in"], seen["done"]


def waiting_ids(store: SqliteStore) -> set[str]:
    return {
        row.message.id
        for lane in store.ready_lanes()
        for row in store.ready(lane, 0, EVERYTHING)
    }


async def test_kill_9_in_the_middle_of_everything(tmp_path: Path) -> None:
    accepted: set[str] = set()
    handled: set[str] = set()
    dice = random.Random(7)
    for round_ in range(4):
        lines = dice.randrange(200, 1500)
        into, done = run_until_killed(tmp_path, round_ * EVERYTHING, lines)
        accepted |= into
        handled |= done
        store = open_store(tmp_path, SteppedClock())
        records = store.decisions(DecisionFilter(limit=EVERYTHING))
        decided = {record.message for record in records}
        waiting = waiting_ids(store)
        assert accepted <= decided | waiting
        assert handled <= decided
        assert not decided & waiting
        for record in records:
            assert len(store.deliveries(record.message)) == 2
            assert store.memory(record.session, "a")[record.message] == "1"
        newest = {record.session: record.message for record in reversed(records)}
        for key, id_ in newest.items():
            assert store.read(key, "u1").last_message == id_
        known = message(EVERYTHING * 9, keys=(f"k{int(next(iter(accepted))[3:])}",))
        assert (await store.ingest(known)).duplicate
        await store.flush()
        await store.close()
        files = list((tmp_path / "sessions" / "u1").glob("session-*.yaml"))
        assert len(files) == len(newest)
        assert {yaml.safe_load(file.read_bytes())["sessionId"] for file in files} == set(newest)
