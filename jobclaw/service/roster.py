"""The list of agents, with the plugins that are missing from it and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from jobclaw.model import Locale
from jobclaw.plugins import PluginHost
from jobclaw.plugins.failure import PluginFailure
from jobclaw.registry.agents import AgentEntry, AgentRegistry
from jobclaw.router.permission import is_available
from jobclaw.router.voice import Voice
from jobclaw.service.operations import AgentLine
from jobclaw.texts import Catalogue


@dataclass(frozen=True)
class Roster:
    """The plugins, with those that failed, and the sentences to tell of them."""

    plugins: PluginHost[AgentRegistry]
    texts: Catalogue


def agent_lines(roster: Roster, locale: Locale) -> Iterator[AgentLine]:
    """Agents by priority, then failed plugins."""
    registry = roster.plugins.registry
    voice = Voice(roster.texts, registry)
    for entry in registry.all():
        yield _line(entry, voice, locale)
    for failure in roster.plugins.failures:
        yield _failed(failure, roster.texts.say(locale, failure.text_id, **failure.values))


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


def _failed(failure: PluginFailure, error: str) -> AgentLine:
    return AgentLine(
        id="",
        name=failure.plugin,
        description="",
        intents=(),
        priority=0,
        role="admin",
        available=False,
        source=failure.plugin,
        error=error,
    )
