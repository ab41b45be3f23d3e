"""How a long-running command ends: a signal is obeyed, a second one at once."""

from __future__ import annotations

import asyncio
import logging
import os
import signal

INTERRUPTED = 130
LET_GO_S = 1.0
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def stop_at_signals() -> asyncio.Event:
    """An event that the first signal sets; the second one ends the process."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in ENDING:
        loop.add_signal_handler(number, _end, stop)
    return stop


async def leave() -> None:
    """Cancel what still runs; an agent that does not let go does not keep the process."""
    rest = asyncio.all_tasks() - {asyncio.current_task()}
    for task in rest:
        task.cancel()
    if rest and (await asyncio.wait(rest, timeout=LET_GO_S))[1]:
        logging.shutdown()
        os._exit(0)


def _end(stop: asyncio.Event) -> None:
    if stop.is_set():
        os._exit(INTERRUPTED)
    stop.set()
