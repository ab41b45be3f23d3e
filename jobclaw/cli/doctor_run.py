"""The work behind `jobclaw doctor`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from jobclaw.app.core import load_plugins, load_texts
from jobclaw.cli.session import reading
from jobclaw.cli.terminal import Terminal
from jobclaw.errors import ConfigError, JobclawError
from jobclaw.model import Value
from jobclaw.service.checkup import (
    Finding,
    check_plugins,
    check_python,
    check_tables,
    check_workspace,
)
from jobclaw.settings import Settings, load_settings

_MARKS = {"ok": "✓", "warning": "!", "error": "✗"}


class Line(Value, frozen=True):
    """One line of the report."""

    check: str
    state: str
    text: str


def doctor(terminal: Terminal, config: Path | None, *, fix: bool, as_json: bool) -> int:
    """Check everything; 1 if something is wrong that was not mended."""
    lines: list[Line] = []
    for found in _findings(config):
        mended = fix and isinstance(found, Finding) and _mend(found)
        line = _line(terminal, found)
        if mended:
            text = terminal.say("doctor.mended", text=line.text)
            line = Line(check=line.check, state="ok", text=text)
        lines.append(line)
    if as_json:
        terminal.show_json(lines)
    else:
        for line in lines:
            terminal.show(f"{_MARKS[line.state]} {line.text}")
    return 1 if any(line.state == "error" for line in lines) else 0


def _findings(config: Path | None) -> Iterator[Finding | JobclawError]:
    yield from check_python()
    try:
        settings = load_settings(config, os.environ)
    except ConfigError as error:
        yield error
        return
    yield from check_tables(settings)
    host = load_plugins(settings, load_texts(settings))
    yield from check_plugins(settings, host)
    yield from check_workspace(settings.workspace, partial(_open, settings))


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
