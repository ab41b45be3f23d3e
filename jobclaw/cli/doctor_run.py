"""The work behind `jobclaw doctor`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from jobclaw.app.core import SystemClock, load_plugins, load_texts
from jobclaw.app.models import probe_models
from jobclaw.cli.daemon_check import check_daemon
from jobclaw.cli.session import reading
from jobclaw.cli.terminal import Terminal
from jobclaw.errors import ConfigError, JobclawError
from jobclaw.llm.library import check_installed
from jobclaw.model import Value
from jobclaw.service.checkup import (
    Finding,
    check_model,
    check_plugins,
    check_python,
    check_tables,
    check_workspace,
    probe_finding,
)
from jobclaw.settings import Settings, load_settings
from jobclaw.spi.llm import LlmError

_MARKS = {"ok": "✓", "warning": "!", "error": "✗"}


class Line(Value, frozen=True):
    """One line of the report."""

    check: str
    state: str
    text: str

    @property
    def shown(self) -> str:
        """As a person reads it."""
        return f"{_MARKS[self.state]} {self.text}"


class Wish(Value, frozen=True):
    """What to do beyond looking: mend, call the models, print JSON."""

    fix: bool = False
    probe: bool = False
    as_json: bool = False


def doctor(terminal: Terminal, config: Path | None, wish: Wish) -> int:
    """Check everything; 1 if something is wrong that was not mended."""
    lines: list[Line] = []
    for found in _findings(terminal, config, probe=wish.probe):
        mended = wish.fix and isinstance(found, Finding) and _mend(found)
        line = _line(terminal, found)
        if mended:
            text = terminal.say("doctor.mended", text=line.text)
            line = Line(check=line.check, state="ok", text=text)
        lines.append(line)
        if not wish.as_json:
            terminal.show(line.shown)
    if wish.as_json:
        terminal.show_json(lines)
    return 1 if any(line.state == "error" for line in lines) else 0


def probe_lines(terminal: Terminal, settings: Settings) -> list[Line]:
    """What comes of calling each model once."""
    return [_line(terminal, found) for found in _probed(terminal, settings)]


def _findings(
    terminal: Terminal, config: Path | None, *, probe: bool
) -> Iterator[Finding | JobclawError]:
    yield from check_python()
    try:
        settings = load_settings(config, os.environ)
    except ConfigError as error:
        yield error
        return
    yield from check_tables(settings)
    host = load_plugins(settings, load_texts(settings))
    yield from check_plugins(settings, host)
    yield from check_model(settings, check_installed)
    if probe:
        yield from _probed(terminal, settings)
    yield from check_workspace(settings.workspace, partial(_open, settings))
    yield from check_daemon(settings)


def _probed(terminal: Terminal, settings: Settings) -> Iterator[Finding | JobclawError]:
    if settings.llm.model:
        terminal.complain(terminal.say("doctor.probing"))
    try:
        probes = asyncio.run(probe_models(settings, SystemClock()))
    except LlmError as error:
        yield error
        return
    for probe in probes:
        yield probe_finding(probe.model, probe.api_base, probe.seconds, probe.error)


def _open(settings: Settings) -> None:
    async def look() -> None:
        async with reading(settings) as store:
            store.list_users(1)

    asyncio.run(look())


def _mend(found: Finding) -> bool:
    if not found.path:
        return False
    Path(found.path).chmod(found.mode)
    return True


def _line(terminal: Terminal, found: Finding | JobclawError) -> Line:
    if isinstance(found, Finding):
        text = terminal.say(found.text_id, **found.values)
        return Line(check=found.check, state=found.state, text=text)
    check = found.text_id.partition(".")[0]
    return Line(check=check, state="error", text=terminal.error(found))
