"""Commands that tell a user what there is: `/start` `/help` `/agents` `/agent` `/status`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from jobclaw import __version__
from jobclaw.model import Button, Buttons, Markdown, Turn
from jobclaw.registry.agents import AgentEntry, AgentRegistry
from jobclaw.registry.commands import CommandSpec, CommandTable
from jobclaw.router.outcomes import Action, Reply
from jobclaw.router.permission import sift
from jobclaw.router.voice import Voice

EXAMPLES_SHOWN = 3


class GuideCommands:
    """What the bot can do, for this user's role."""

    def __init__(
        self,
        agents: AgentRegistry,
        commands: CommandTable,
        voice: Voice,
        broken: Callable[[], Sequence[str]],
    ) -> None:
        self._agents = agents
        self._commands = commands
        self._voice = voice
        self._broken = broken

    def actions(self) -> Mapping[str, Action]:
        """The actions by name."""
        return {
            "start": self._start,
            "help": self._help,
            "agents": self._list,
            "agent": self._list,
            "status": self._status,
        }

    def _usable(self, turn: Turn) -> list[AgentEntry]:
        return sift(self._agents.all(), turn.role)[0]

    async def _start(self, turn: Turn) -> Reply:
        examples = [self._voice.example(entry, turn.locale) for entry in self._usable(turn)]
        shown = [example for example in examples if example][:EXAMPLES_SHOWN]
        buttons = tuple(
            Button(id=f"example:{number}", label=example)
            for number, example in enumerate(shown, start=1)
        )
        session = msgspec.structs.replace(turn.session, greeted=True)
        after = msgspec.structs.replace(turn, session=session)
        text = Markdown(self._voice.say(turn, "start.greeting"))
        return Reply(after, (text, Buttons(buttons)) if buttons else (text,))

    async def _help(self, turn: Turn) -> Reply:
        lines = [self._voice.say(turn, "help.intro"), ""]
        lines += [self._command(turn, spec) for spec in self._commands.all(turn.role)]
        return Reply(turn, (Markdown("\n".join(lines)),))

    def _command(self, turn: Turn, spec: CommandSpec) -> str:
        summary = self._voice.describe(spec, turn.locale) or self._goes_to(turn, spec)
        return f"- `/{spec.name}` {summary}"

    def _goes_to(self, turn: Turn, spec: CommandSpec) -> str:
        serving = self._agents.serving(spec.intent)
        agent = serving[0].id if serving else spec.agent
        name = self._voice.agent(turn.locale, agent) if agent else spec.intent
        return self._voice.say(turn, "help.goes-to", agent=name)

    async def _list(self, turn: Turn) -> Reply:
        lines = [self._voice.say(turn, "agents.intro")]
        lines += [self._agent(turn, entry) for entry in self._usable(turn)]
        broken = self._broken() if turn.role == "admin" else ()
        lines += [self._voice.say(turn, "agents.broken", plugin=name) for name in broken]
        return Reply(turn, (Markdown("\n".join(lines)),))

    def _agent(self, turn: Turn, entry: AgentEntry) -> str:
        example = self._voice.example(entry, turn.locale)
        return self._voice.say(
            turn,
            "agents.line-with-example" if example else "agents.line",
            id=entry.id,
            name=self._voice.intro(entry, turn.locale, "name"),
            description=self._voice.intro(entry, turn.locale, "description"),
            example=example,
        )

    async def _status(self, turn: Turn) -> Reply:
        text = self._voice.say(
            turn, "status.line", version=__version__, n=len(self._usable(turn))
        )
        return Reply(turn, (Markdown(text),))
