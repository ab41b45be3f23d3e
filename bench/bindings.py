"""P4: reading a session binding, warm and cold, against loading and dumping it with PyYAML.

Warm: in memory, its file unchanged (one stat). Cold: a row of the journal, and its file
compared with what was written; every read is of another session. CPU time.

    python bench/bindings.py [--json]
"""

import asyncio
import tempfile
from datetime import UTC, datetime, timedelta
from itertools import cycle
from pathlib import Path

import yaml
from accept import SystemClock
from harness import Figure, at_least, at_most, cpu_us, parser, report

from jobclaw.model import HISTORY_LIMIT, HistoryEntry, Session
from jobclaw.storage import open_store
from jobclaw.storage.session_book import CACHED_SESSIONS
from jobclaw.storage.session_text import render

AT = datetime(2026, 8, 3, 10, 30, 45, tzinfo=UTC)
SESSIONS = (
    CACHED_SESSIONS + 1000
)  # more than are kept in memory: a round trip meets none of them


def session(number: int) -> Session:
    """A bound session with a full history."""
    entry = HistoryEntry(
        at=AT, intent="RECOMMEND", confidence=1.0, tier="keyword", agent="chat"
    )
    return Session(
        key=f"telegram:main:c{number}:u{number}",
        user_id=f"u{number}",
        bound_agent="job-recommend",
        bound_at=AT,
        expires_at=AT + timedelta(hours=6),
        history=(entry,) * HISTORY_LIMIT,
    )


async def measure(folder: Path) -> list[Figure]:
    """All figures."""
    store = open_store(folder, SystemClock())
    sessions = [session(number) for number in range(SESSIONS)]
    await asyncio.gather(*(store.save(one) for one in sessions))
    for _ in range(10):  # each stops after a few seconds
        await store.flush()
    await asyncio.sleep(0.1)  # a file younger than this is compared by its text
    turns = cycle([(one.key, one.user_id) for one in sessions])

    def cold() -> None:
        store.read(*next(turns))

    cold_us = cpu_us(cold, repeat=SESSIONS)
    key, user = sessions[0].key, sessions[0].user_id
    warm_us = cpu_us(lambda: store.read(key, user), repeat=50_000)
    await store.close()
    text = render(sessions[0])
    yaml_us = cpu_us(lambda: yaml.safe_dump(yaml.safe_load(text)), repeat=50)
    render_us = cpu_us(lambda: render(sessions[0]), repeat=2000)
    return [
        at_most("read a session, warm", warm_us, 5, "µs"),
        at_most("read a session, cold", cold_us, 50, "µs"),
        Figure("render its file (not on the hot path)", round(render_us, 1), "µs"),
        Figure("PyYAML load + dump of it", round(yaml_us), "µs"),
        at_least("PyYAML to warm", yaml_us / warm_us, 1000, "×"),
    ]


def main() -> None:
    """Measure and report."""
    chosen = parser(__doc__).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = asyncio.run(measure(Path(folder)))
    report(figures, as_json=chosen.json)


if __name__ == "__main__":
    main()
