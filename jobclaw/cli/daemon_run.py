"""Runs the daemon from start to drain."""

from __future__ import annotations

import asyncio
import logging
import os
from pathlib import Path

from jobclaw import __version__
from jobclaw.app.daemon import open_daemon
from jobclaw.cli.ending import leave, stop_at_signals
from jobclaw.cli.terminal import Terminal
from jobclaw.observe.logs import log_to
from jobclaw.observe.memory import calm_collector
from jobclaw.settings import Settings, load_settings
from jobclaw.web.token import TOKEN_NAME

_log = logging.getLogger(__name__)
Place = tuple[str | None, int | None]


def run_daemon(
    terminal: Terminal, config: Path | None, place: Place, *, allow_remote: bool
) -> int:
    """Serve until a signal comes; host and port, where given, replace the settings'."""
    settings = load_settings(config, os.environ, changes=_changes(place))
    return asyncio.run(_run(terminal, settings, allow_remote=allow_remote))


def _changes(place: Place) -> dict[str, object]:
    host, port = place
    given = {"host": host, "port": port}
    return {"web": {name: value for name, value in given.items() if value is not None}}


async def _run(terminal: Terminal, settings: Settings, *, allow_remote: bool) -> int:
    opened = open_daemon(settings, terminal.locale, allow_remote=allow_remote)
    async with opened as (daemon, lock):
        log_to(settings, daemon.redactor, screen=True)
        stop = stop_at_signals()

        def started(address: str) -> None:
            lock.announce(address)
            calm_collector()
            _show(terminal, settings, address)
            _log.info("started", extra={"address": address, "version": __version__})

        await daemon.run(stop, started)
    _log.info("stopped")
    await leave()
    return 0


def _show(terminal: Terminal, settings: Settings, address: str) -> None:
    """Say where everything is."""
    shown = settings.web.public_url.rstrip("/") or address
    configured = settings.web.operator_token.get_secret_value()
    token = "web.operator_token" if configured else str(settings.workspace / TOKEN_NAME)
    terminal.show(terminal.say("run.started", address=shown))
    if "web" in settings.channels.enabled():
        terminal.show(terminal.say("run.chat", address=f"{shown}/chat"))
    terminal.show(terminal.say("run.console", address=f"{shown}/console", token=token))
    terminal.show(terminal.say("run.terminal"))
    terminal.show(terminal.say("run.stop"))
