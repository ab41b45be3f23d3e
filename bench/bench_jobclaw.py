"""Our side of the comparison with other bots (tools/peer_bench of the shared folder).

    PEERS=... OURS=.venv/bin/python OURS_BENCH=$PWD/bench/bench_jobclaw.py run_all.sh OUT.jsonl

Same work as the peers: one process, H handlers, the message hits the last one; and the same by
a keyword among 10 000, which they do not have. Run with `common.py` of the peers on the path.
"""

import asyncio
import importlib
import sys
import tempfile
from pathlib import Path
from typing import Any

import route

import jobclaw
from jobclaw.observe.memory import calm_collector
from jobclaw.spi.store import InboxRow

sys.path.insert(0, str(Path.cwd()))


async def main() -> None:
    harness: Any = importlib.import_module("common")  # the peers', in the current folder
    for handlers in harness.handlers_arg():
        for way, text in (("command", harness.TEXT_HIT), ("keyword", route.KEYWORD_TEXT)):
            with tempfile.TemporaryDirectory() as folder:
                core, last = route.core_with(handlers, Path(folder))
                turns = route.turns_of(core)
                said = text.format(last=handlers - 1)
                row = InboxRow(seq=1, message=route.message(said), attempts=0)
                calm_collector()

                async def dispatch(_: int, row: InboxRow = row, turns: Any = turns) -> None:
                    await turns.handle(row)

                await harness.run_async(
                    f"jobclaw by {way}",
                    jobclaw.__version__,
                    handlers,
                    dispatch,
                    lambda last=last: last.runs,
                )
                await core.store.close()


asyncio.run(main())
