"""P1: one text to the right one of H agents, in memory, with 10 000 keywords in the table.

A turn is everything from the unified event to the value that would be committed: who wrote,
command, binding, classification, match, the agent's run, the decision record. Storing it is P2
and P3; the figures "from the store" read user and session from SQLite for every message, as the
daemon does. `python bench/route.py [--json]`
"""

import asyncio
import statistics
import tempfile
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from harness import Figure, at_least, at_most, parser, report

from jobclaw.app.core import Core, SystemClock, build_core, load_texts
from jobclaw.model import Conversation, InboundMessage, ReplyTarget, Sender, Session, User
from jobclaw.observe.memory import calm_collector
from jobclaw.plugins.host import PluginHost
from jobclaw.registry.agents import AgentRegistry
from jobclaw.registry.commands import CommandSpec, CommandTable
from jobclaw.router.steps.execute import ExecuteStep, Surroundings
from jobclaw.router.system_commands import SYSTEM_COMMANDS
from jobclaw.router.turns import Stages, Turns
from jobclaw.settings import Settings, load_settings
from jobclaw.spi import Agent, AgentIntro, AgentRequest, Markdown
from jobclaw.spi.store import InboxRow, Store
from jobclaw.storage import open_store

MESSAGES, ROUNDS, KEYWORDS = 4000, 5, 10_000
GOAL_PER_CPU_S, GOAL_P99_US = 20_000, 200
KEYWORD_TEXT, COMMAND_TEXT = "帮我推荐几个上海的Java后端岗位", "/cmd{last} 帮我推荐"
CONFIG = 'router: {identity_gate: "off", default_agent: agent-0}\n'


class BenchAgent(Agent):
    """Answers one line; the last of H agents is the one that is hit."""

    def __init__(self, number: int, words: dict[str, float]) -> None:
        self.intro = AgentIntro(id=f"agent-{number}", name=f"Agent {number}", description="b")
        self.intents = (f"INTENT_{number}",)
        self.keywords = {f"INTENT_{number}": words}
        self.commands = {f"cmd{number}": f"INTENT_{number}"}
        self.priority = -number
        self.runs = 0

    async def handle(self, request: AgentRequest) -> AsyncIterator[Markdown]:
        self.runs += 1
        yield Markdown(request.text)


class MemoryStore:
    """What a turn reads, without a disk: the peers have none either."""

    def __init__(self) -> None:
        self._user = User(id="u1", name="u1", locale="zh")

    def user_by_identity(self, *_: str) -> User | None:
        return self._user

    def read(self, key: str, user_id: str) -> Session:
        return Session(key=key, user_id=user_id)

    async def close(self) -> None:
        """Nothing to close."""


def words(share: int, of: int) -> dict[str, float]:
    """This agent's share of the keywords: made-up Chinese words of two to four characters."""
    found: dict[str, float] = {}
    for n in range(share, KEYWORDS, of):
        word = "".join(chr(0x4E00 + (n * 7919 + k * 104729) % 20000) for k in range(2 + n % 3))
        found[word] = 0.95
    return found


def core_with(agents: int, folder: Path, *, durable: bool = False) -> tuple[Core, BenchAgent]:
    """A core with that many agents; the last one also has the keyword that is said."""
    (folder / "config").mkdir()
    (folder / "config" / "jobclaw.yaml").write_text(CONFIG, "utf-8")
    (folder / "config" / "keywords.yaml").write_text("intents: {}\ncommands: {}\n", "utf-8")
    settings: Settings = load_settings(folder / "config" / "jobclaw.yaml", {})
    texts = load_texts(settings)
    table = CommandTable([CommandSpec(name=name, kind="system") for name in SYSTEM_COMMANDS])
    host = PluginHost(settings.plugins, AgentRegistry(table, texts=texts))
    made = [BenchAgent(n, words(n, agents)) for n in range(agents)]
    last = made[-1]
    last.keywords = {last.intents[0]: {**words(agents - 1, agents), "推荐几个": 0.95}}
    host.registry.register("bench", made)
    store = open_store(folder / "workspace", SystemClock()) if durable else MemoryStore()
    return build_core(settings, cast("Store", store), SystemClock(), texts, host), last


def turns_of(core: Core) -> Turns:
    """The runner, with nobody watching."""
    around = Surroundings(
        missing=lambda _: (),
        streams=lambda _: False,
        preview=lambda _: None,
        failed=lambda failure: print(failure.traceback),
        abandon=lambda _task, failure: print(failure.reason),
        clean=core.redactor.clean,
    )
    execute = ExecuteStep(core.agents, core.store, core.voice, core.policy, around)
    stages = Stages(core.reader(), core.router(), execute)
    return Turns(stages, core.gate(), core.voice, core.clock, core.revision)


def message(text: str) -> InboundMessage:
    """A direct message of the one user."""
    return InboundMessage(
        id="01ARZ3NDEKTSV4RRFFQ69G5FAV",
        channel="bench",
        account="default",
        conversation=Conversation(id="c1"),
        sender=Sender(id="u1"),
        reply=ReplyTarget(channel="bench", account="default", conversation="c1"),
        received_at=datetime.now(UTC),
        text=text,
    )


async def measure(agents: int, text: str, *, durable: bool = False) -> tuple[float, float]:
    """CPU microseconds a message (median of the rounds), and the p99 of its time."""
    with tempfile.TemporaryDirectory() as folder:
        core, last = core_with(agents, Path(folder), durable=durable)
        turns = turns_of(core)
        row = InboxRow(seq=1, message=message(text), attempts=0)
        for _ in range(200):
            await turns.handle(row)
        cpu: list[float] = []
        latencies: list[int] = []
        for _ in range(ROUNDS):
            before = last.runs
            started = time.process_time()
            for _ in range(MESSAGES):
                at = time.perf_counter_ns()
                await turns.handle(row)
                latencies.append(time.perf_counter_ns() - at)
            cpu.append((time.process_time() - started) / MESSAGES)
            assert last.runs - before == MESSAGES
        await core.store.close()
    latencies.sort()
    return statistics.median(cpu) * 1e6, latencies[int(len(latencies) * 0.99)] / 1e3


async def figures() -> list[Figure]:
    """Both ways to an agent, with 1, 10 and 100 of them."""
    found: list[Figure] = []
    for way, text in (("keyword", KEYWORD_TEXT), ("command", COMMAND_TEXT)):
        costs: dict[int, float] = {}
        for agents in (1, 10, 100):
            name = f"by {way}, {agents} agents"
            costs[agents], p99 = await measure(agents, text.format(last=agents - 1))
            per_second = 1e6 / costs[agents]
            goal = GOAL_PER_CPU_S if agents == 100 else 0
            found.append(at_least(name, per_second, goal, "messages per CPU s"))
            found.append(at_most(f"{name}, p99", p99, GOAL_P99_US, "us"))
        cost, p99 = await measure(100, text.format(last=99), durable=True)
        name = f"by {way}, 100 agents, reading user and session from the store"
        found.append(Figure(name, round(1e6 / cost), "messages per CPU s"))
        found.append(Figure(f"{name}, p99", round(p99, 1), "us"))
        found.append(at_most(f"by {way}, cost at 100 / at 1", costs[100] / costs[1], 1.2, "x"))
    return found


if __name__ == "__main__":
    options = parser(__doc__).parse_args()
    calm_collector()
    report(asyncio.run(figures()), as_json=options.json)
