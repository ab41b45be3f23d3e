"""Runs a chat from start to drain; a signal to end is obeyed, a second one at once."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections.abc import Mapping
from pathlib import Path

from jobclaw.app.chat import open_chat
from jobclaw.cli.session import settings_of
from jobclaw.cli.terminal import Terminal
from jobclaw.observe.logs import log_to
from jobclaw.observe.memory import calm_collector
from jobclaw.settings import Settings
from jobclaw.texts import core_folder

INTERRUPTED = 130
LET_GO_S = 1.0
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run_chat(terminal: Terminal, config: Path | None, console: Mapping[str, object]) -> int:
    """Chat until the input ends."""
    settings = settings_of(config)
    workspace = settings.workspace
    more = {
        "history": workspace / "chat_history",
        "locales": (core_folder(), settings.locale.dir),
        "color": terminal.is_screen() and "NO_COLOR" not in os.environ,
    }
    return asyncio.run(_chat(settings, {**console, **more}))


async def _chat(settings: Settings, console: Mapping[str, object]) -> int:
    async with open_chat(settings, console, "chat") as chat:
        log_to(settings)
        calm_collector()
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in ENDING:
            loop.add_signal_handler(number, _end, stop)
        await chat.run(stop)
    if not await _ended():
        logging.shutdown()
        os._exit(0)
    return 0


async def _ended() -> bool:
    """Cancel what still runs; False if an agent does not let go, which would stop the exit."""
    rest = asyncio.all_tasks() - {asyncio.current_task()}
    for task in rest:
        task.cancel()
    return not rest or not (await asyncio.wait(rest, timeout=LET_GO_S))[1]


def _end(stop: asyncio.Event) -> None:
    if stop.is_set():
        os._exit(INTERRUPTED)
    stop.set()
