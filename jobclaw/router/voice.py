"""The router's sentences, in the language of the turn."""

from __future__ import annotations

from jobclaw.model import Locale, Turn
from jobclaw.registry.agents import AgentEntry, AgentRegistry
from jobclaw.registry.commands import CommandSpec
from jobclaw.texts import Catalogue


class Voice:
    """Says catalogue sentences and names agents as their users know them."""

    def __init__(self, texts: Catalogue, agents: AgentRegistry) -> None:
        self._texts = texts
        self._agents = agents

    def say(self, turn: Turn, text_id: str, /, **values: object) -> str:
        """A sentence in the turn's language."""
        return self._texts.say(turn.locale, text_id, **values)

    def say_in(self, locale: Locale, text_id: str, /, **values: object) -> str:
        """A sentence in a given language."""
        return self._texts.say(locale, text_id, **values)

    def agent(self, locale: Locale, agent_id: str) -> str:
        """An agent's name; its id when it is gone."""
        entry = self._agents.get(agent_id)
        return agent_id if entry is None else self.intro(entry, locale, "name")

    def intro(self, entry: AgentEntry, locale: Locale, part: str) -> str:
        """The name, description or examples (one a line) of an agent."""
        text_id = f"intro.{part}"
        if entry.texts is not None and entry.texts.has(locale, text_id):
            return entry.texts.say(locale, text_id)
        intro = entry.agent.intro
        return {
            "name": intro.name,
            "description": intro.description,
            "examples": "\n".join(intro.examples),
        }[part]

    def example(self, entry: AgentEntry, locale: Locale) -> str:
        """The first thing that one may say to an agent, empty if it names none."""
        return self.intro(entry, locale, "examples").partition("\n")[0]

    def describe(self, spec: CommandSpec, locale: Locale) -> str:
        """What a command does; empty if nobody wrote it down."""
        return spec.describe(locale, self._texts)

    def role(self, locale: Locale, role: str) -> str:
        """What a role is called."""
        return self._texts.say(locale, f"role.{role}")
