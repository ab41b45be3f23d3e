"""The work behind `jobclaw agents`."""

from __future__ import annotations

from pathlib import Path

from jobclaw.app.core import load_plugins, load_texts
from jobclaw.cli.session import settings_of
from jobclaw.cli.terminal import Terminal
from jobclaw.model import Locale, Role, Value
from jobclaw.plugins.failure import PluginFailure
from jobclaw.registry.agents import AgentEntry
from jobclaw.router.permission import is_available
from jobclaw.router.voice import Voice


class AgentLine(Value, frozen=True):
    """One agent, or a plugin that could not be loaded (`error`)."""

    id: str
    name: str
    description: str
    intents: tuple[str, ...]
    priority: int
    role: Role
    available: bool
    source: str
    error: str


def show_agents(terminal: Terminal, config: Path | None, *, as_json: bool) -> int:
    """List agents by priority, then failed plugins."""
    settings = settings_of(config)
    texts = load_texts(settings)
    host = load_plugins(settings, texts)
    voice = Voice(texts, host.registry)
    lines = [_line(entry, voice, terminal.locale) for entry in host.registry.all()]
    lines += [_failed(terminal, failure) for failure in host.failures]
    if as_json:
        terminal.show_json(lines)
        return 0
    terminal.table([_row(line) for line in lines])
    return 0


def _line(entry: AgentEntry, voice: Voice, locale: Locale) -> AgentLine:
    return AgentLine(
        id=entry.id,
        name=voice.intro(entry, locale, "name"),
        description=voice.intro(entry, locale, "description"),
        intents=entry.intents,
        priority=entry.priority,
        role=entry.role,
        available=not entry.disabled and is_available(entry),
        source=entry.source,
        error="",
    )


def _failed(terminal: Terminal, failure: PluginFailure) -> AgentLine:
    return AgentLine(
        id="",
        name=failure.plugin,
        description="",
        intents=(),
        priority=0,
        role="admin",
        available=False,
        source=failure.plugin,
        error=terminal.say(failure.text_id, **failure.values),
    )


def _row(line: AgentLine) -> tuple[str, ...]:
    if line.error:
        return ("✗", line.name, "-", "-", line.error)
    state = "✓" if line.available else "–"
    intents = ",".join(line.intents) or "-"
    return (state, line.id, line.role, intents, f"{line.name} · {line.description}")
