"""Runs a chat from start to drain; a signal to end is obeyed, a second one at once."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path

from jobclaw.app.chat import open_chat
from jobclaw.cli.ending import leave, stop_at_signals
from jobclaw.cli.session import daemon_address, settings_of
from jobclaw.cli.terminal import Terminal
from jobclaw.observe.logs import log_to
from jobclaw.observe.memory import calm_collector
from jobclaw.settings import Settings
from jobclaw.texts import core_folder, reader_locale


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
    """Talk through the daemon that runs, else without one."""
    address = daemon_address(settings)
    if address:
        from jobclaw.cli.remote import connected  # noqa: PLC0415 - an HTTP client, if needed
        from jobclaw.cli.remote_chat import chat_remotely  # noqa: PLC0415 - as above

        locale = reader_locale(os.environ)
        async with connected(settings, address, locale) as remote:
            await chat_remotely(remote, settings, console, stop_at_signals())
        return 0
    async with open_chat(settings, console, "chat") as chat:
        log_to(settings)
        calm_collector()
        await chat.run(stop_at_signals())
    await leave()
    return 0
