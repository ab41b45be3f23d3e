"""P3: whole lives through the real engine, all durable, in 1 000 conversations at once.

A life: accepted and claimed (FULL commit) → lane → router (keyword or binding, 10 000 keywords)
→ agent → one commit with decision, session and reply, as sending → outbox → adapter → sent (on
disk). Each conversation says its next message when the reply to the last has been delivered.
Wall-clock time, since the disk is measured too. Binding files are no part of a life: they are
written behind, one a conversation within ten minutes however much it says, and the row alone
restores them; the second figure has all of them written at the end, at most five seconds of it.
For comparison the same without the router
(`accept.py`, store alone), and a loop that does what file-based bots do: load a session's YAML,
change it, write it with fsync and rename, once a message.

    python bench/life.py [--json] [--folder DIR]
"""

import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import yaml
from accept import in_store, lives
from bindings import session
from harness import Figure, at_least, parser, report
from route import KEYWORD_TEXT, core_with

from jobclaw.app.engine import Engine
from jobclaw.model import (
    Attachment,
    Conversation,
    DeliveryReceipt,
    InboundMessage,
    OutboundMessage,
    ReplyTarget,
    Sender,
)
from jobclaw.observe.memory import calm_collector
from jobclaw.spi import Capabilities, ChannelHealth, CommandInfo, Sink
from jobclaw.storage.session_text import render

ROUNDS, LANES, TURNS, FILES, FLUSHES = 5, 1000, 20, 500, 4
SENT = DeliveryReceipt(ok=True, message_ids=("1",))


class Platform:
    """An adapter whose platform takes everything at once, and wakes who waits for it."""

    capabilities = Capabilities()

    def __init__(self) -> None:
        self.delivered: dict[str, asyncio.Event] = {}

    async def send(self, message: OutboundMessage) -> DeliveryReceipt:
        self.delivered[message.target.conversation].set()
        return SENT

    async def start(self, sink: Sink) -> None:
        """Nothing to start."""

    async def stop(self, grace_s: float) -> None:
        """Nothing to stop."""

    def fetch(self, attachment: Attachment) -> AsyncIterator[bytes]:
        raise NotImplementedError

    def health(self) -> ChannelHealth:
        return ChannelHealth(state="ok")

    async def register_commands(self, commands: Sequence[CommandInfo]) -> None:
        """No menu."""


def message(lane: int, turn: int) -> InboundMessage:
    """A direct message with one deduplication key."""
    chat = f"c{lane}"
    return InboundMessage(
        channel="bench",
        account="default",
        conversation=Conversation(id=chat),
        sender=Sender(id=f"u{lane}"),
        reply=ReplyTarget(channel="bench", account="default", conversation=chat),
        received_at=datetime.now(UTC),
        dedup_keys=(f"m{lane}-{turn}",),
        platform_message_id=f"m{lane}-{turn}",
        text=KEYWORD_TEXT,
    )


async def whole(folder: Path) -> tuple[float, float, float]:
    """Lives a second, also with all files written, and the CPU microseconds of one."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        core, _ = core_with(100, Path(place), durable=True)
        platform = Platform()
        engine = Engine(core, lambda _: platform)

        async def talk(lane: int, turns: range) -> None:
            done = platform.delivered.setdefault(f"c{lane}", asyncio.Event())
            for turn in turns:
                done.clear()
                await engine.accept(message(lane, turn))
                await done.wait()

        await asyncio.gather(*(talk(lane, range(1)) for lane in range(LANES)))
        for _ in range(FLUSHES):  # each ends after five seconds
            await engine.idle()
        cpu, started = time.process_time(), time.perf_counter()
        await asyncio.gather(*(talk(lane, range(1, TURNS + 1)) for lane in range(LANES)))
        await engine.lanes.idle()
        await engine.outbox.idle()
        took = time.perf_counter() - started
        cpu = (time.process_time() - cpu) * 1e6 / (LANES * TURNS)
        await engine.idle()
        filed = time.perf_counter() - started
        await engine.drain(5, 5)
        await core.store.close()
        await core.bus.close()
    return LANES * TURNS / took, LANES * TURNS / filed, cpu


def with_files(folder: Path) -> float:
    """Messages a second when each rewrites its session's YAML durably."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        path = Path(place) / "session.yaml"
        path.write_bytes(render(session(1)))
        started = time.perf_counter()
        for number in range(FILES):
            shown = yaml.load(path.read_text("utf-8"), yaml.CSafeLoader)
            shown["boundAgentId"] = f"agent-{number % 2}"
            new = path.with_suffix(".new")
            with new.open("w", encoding="utf-8") as file:
                yaml.dump(shown, file, yaml.CSafeDumper, allow_unicode=True)
                file.flush()
                os.fsync(file.fileno())
            new.replace(path)
        return FILES / (time.perf_counter() - started)


async def measure(folder: Path) -> list[Figure]:
    """All figures: medians over the rounds."""
    rates: list[float] = []
    filed: list[float] = []
    costs: list[float] = []
    alone: list[float] = []
    files: list[float] = []
    for _ in range(ROUNDS):
        rate, with_bindings, cost = await whole(folder)
        rates.append(rate)
        filed.append(with_bindings)
        costs.append(cost)
        alone.append(await in_store(folder, lives))
        files.append(with_files(folder))
    ratio = statistics.median(a / b for a, b in zip(rates, files, strict=True))
    return [
        at_least("whole lives, 1 000 conversations", statistics.median(rates), 8_000, "/s"),
        Figure("the same and all binding files written", round(statistics.median(filed)), "/s"),
        Figure("CPU of one, all threads", round(statistics.median(costs), 1), "µs"),
        Figure("the store's part alone", round(statistics.median(alone)), "/s"),
        Figure("a YAML file a message instead", round(statistics.median(files)), "/s"),
        at_least("times the YAML loop", ratio, 10, "×"),
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
