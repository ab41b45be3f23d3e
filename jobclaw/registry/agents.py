"""The agents that are there, by source, with the orders and indexes that routing needs.

Reads are lookups in a view that is built anew on every change, so a message never sees half of
one. Changes come from one thread, the event loop's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from jobclaw.errors import PluginError
from jobclaw.model import Role
from jobclaw.model.message import AttachmentKind
from jobclaw.registry.commands import CommandSpec, CommandTable
from jobclaw.registry.declaration import Declaration, check_command, read_declaration
from jobclaw.spi import Agent, Command
from jobclaw.texts import Catalogue


@dataclass(frozen=True, slots=True)
class AgentEntry:
    """A registered agent: `source` is its plugin, `texts` falls back to the core's."""

    agent: Agent
    source: str
    declared: Declaration
    texts: Catalogue | None = None
    disabled: bool = False

    @property
    def id(self) -> str:
        """Its id, unique in the registry."""
        return self.declared.id

    @property
    def priority(self) -> int:
        """Higher comes first."""
        return self.declared.priority

    @property
    def role(self) -> Role:
        """The least role that may use it."""
        return self.declared.role

    @property
    def intents(self) -> tuple[str, ...]:
        """What it serves."""
        return self.declared.intents


@dataclass(frozen=True, slots=True)
class _View:
    """Everything readers ask for, computed once per change."""

    ordered: tuple[AgentEntry, ...] = ()
    by_id: Mapping[str, AgentEntry] = field(default_factory=dict[str, AgentEntry])
    by_intent: Mapping[str, tuple[AgentEntry, ...]] = field(
        default_factory=dict[str, tuple[AgentEntry, ...]]
    )
    by_kind: Mapping[str, tuple[AgentEntry, ...]] = field(
        default_factory=dict[str, tuple[AgentEntry, ...]]
    )


class AgentRegistry:
    """Agents of all plugins, with their commands in `table`.

    `disabled`: ids that stay switched off whenever they appear. `texts`: the core's catalogue,
    behind each agent's own; `overrides`: folders of the deployment before it. `revision` grows
    with every change.
    """

    def __init__(
        self,
        table: CommandTable | None = None,
        *,
        disabled: Iterable[str] = (),
        texts: Catalogue | None = None,
        overrides: Sequence[Path] = (),
    ) -> None:
        self.table = CommandTable() if table is None else table
        self.revision = 0
        self._texts = texts
        self._overrides = tuple(overrides)
        self._disabled = frozenset(disabled)
        self._sources: dict[str, tuple[AgentEntry, ...]] = {}
        self._view = _View()

    def get(self, agent_id: str) -> AgentEntry | None:
        """The agent of this id, a disabled one too."""
        return self._view.by_id.get(agent_id)

    def all(self) -> tuple[AgentEntry, ...]:
        """Every agent, by priority descending, then id."""
        return self._view.ordered

    def serving(self, intent: str) -> tuple[AgentEntry, ...]:
        """The enabled agents that declare the intent, in order."""
        return self._view.by_intent.get(intent, ())

    def accepting(self, kind: AttachmentKind) -> tuple[AgentEntry, ...]:
        """The enabled agents that declare the kind of attachment, in order."""
        return self._view.by_kind.get(kind, ())

    def commands(self) -> tuple[CommandSpec, ...]:
        """Every command of `table` that routes to an intent or an agent."""
        return tuple(spec for spec in self.table.all() if spec.kind != "system")

    def keywords(self) -> dict[str, dict[str, float]]:
        """The keywords of the enabled agents by intent; the highest weight of equals counts."""
        merged: dict[str, dict[str, float]] = {}
        for entry in self._enabled():
            for intent, words in entry.declared.keywords.items():
                table = merged.setdefault(intent, {})
                for word, weight in words.items():
                    table[word] = max(weight, table.get(word, 0.0))
        return merged

    def priorities(self) -> dict[str, int]:
        """The highest priority of an enabled agent for each intent."""
        return {intent: served[0].priority for intent, served in self._view.by_intent.items()}

    def register(
        self, source: str, agents: Sequence[Agent], commands: Sequence[Command] = ()
    ) -> None:
        """Add a plugin's agents and commands: all of them, or on an error none.

        Raises:
            PluginError: the source is known already, or something declared is wrong or taken.
        """
        if source in self._sources:
            raise PluginError("plugins.duplicate-plugin", plugin=source)
        self.replace(source, agents, commands)

    def replace(
        self, source: str, agents: Sequence[Agent], commands: Sequence[Command] = ()
    ) -> None:
        """Set what a plugin provides; on an error what it provided before stays.

        Raises:
            PluginError: as for `register`.
        """
        entries = tuple(self._entry(source, agent) for agent in agents)
        sources = {**self._sources, source: entries}
        view = self._build(sources, source)
        specs = [spec for entry in entries for spec in _agent_commands(entry)]
        self.table.replace(source, specs + [_plugin_command(source, c) for c in commands])
        self._sources, self._view = sources, view
        self.revision += 1

    def unregister(self, source: str) -> None:
        """Forget what a plugin provided."""
        if source in self._sources:
            sources = {name: own for name, own in self._sources.items() if name != source}
            self._view = self._build(sources, source)
            self._sources = sources
            self.table.unregister(source)
            self.revision += 1

    def disable(self, agent_id: str) -> None:
        """Switch an agent off; its binding, keywords and intents no longer count."""
        self._switch(self._disabled | {agent_id})

    def enable(self, agent_id: str) -> None:
        """Switch an agent on again."""
        self._switch(self._disabled - {agent_id})

    def _switch(self, disabled: frozenset[str]) -> None:
        self._disabled = disabled
        self._sources = {
            source: tuple(replace(entry, disabled=entry.id in disabled) for entry in entries)
            for source, entries in self._sources.items()
        }
        self._view = self._build(self._sources, "")
        self.revision += 1

    def _enabled(self) -> Iterable[AgentEntry]:
        return (entry for entry in self._view.ordered if not entry.disabled)

    def _entry(self, source: str, agent: Agent) -> AgentEntry:
        declared = read_declaration(source, agent)
        command = self.table.get(declared.id)
        if command is not None and command.kind == "system":
            raise PluginError("plugins.id-is-command", plugin=source, agent=declared.id)
        texts = self._texts
        if declared.locales:
            texts = Catalogue([*declared.locales, *self._overrides], parent=self._texts)
        return AgentEntry(agent, source, declared, texts, declared.id in self._disabled)

    def _build(self, sources: Mapping[str, tuple[AgentEntry, ...]], changed: str) -> _View:
        by_id: dict[str, AgentEntry] = {}
        for entry in (entry for own in sources.values() for entry in own):
            other = by_id.setdefault(entry.id, entry)
            if other is not entry:
                owner = other.source if entry.source == changed else entry.source
                raise PluginError(
                    "plugins.duplicate-agent", plugin=changed, agent=entry.id, owner=owner
                )
        ordered = tuple(sorted(by_id.values(), key=lambda entry: (-entry.priority, entry.id)))
        enabled = [entry for entry in ordered if not entry.disabled]
        return _View(
            ordered,
            by_id,
            _index(enabled, lambda entry: entry.declared.intents),
            _index(enabled, lambda entry: entry.declared.accepts),
        )


def _index(
    entries: Sequence[AgentEntry], names: Callable[[AgentEntry], Sequence[str]]
) -> dict[str, tuple[AgentEntry, ...]]:
    found: dict[str, list[AgentEntry]] = {}
    for entry in entries:
        for name in names(entry):
            found.setdefault(name, []).append(entry)
    return {name: tuple(served) for name, served in found.items()}


def _agent_commands(entry: AgentEntry) -> Iterable[CommandSpec]:
    """The commands of an agent; its catalogue's `command.NAME.summary` says what they do."""
    description = entry.agent.intro.description
    for name, intent in entry.declared.commands.items():
        yield CommandSpec(
            name=name,
            kind="intent",
            intent=intent,
            role=entry.role,
            summary_id=f"command.{name}.summary",
            summary={"zh": description, "en": description},
            texts=entry.texts,
            source=entry.source,
        )


def _plugin_command(source: str, command: Command) -> CommandSpec:
    check_command(source, command)
    return CommandSpec(
        name=command.name.replace("_", "-"),
        kind="intent" if command.intent else "agent",
        intent=command.intent,
        agent=command.agent,
        role=command.role,
        summary=command.summary,
        source=source,
    )
