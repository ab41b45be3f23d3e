"""Commands about the sender's session: its binding, a running turn, a person to talk to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC

import msgspec

from jobclaw.model import Markdown, Session, Turn
from jobclaw.registry.agents import AgentRegistry
from jobclaw.router.binding import bound, unbound
from jobclaw.router.outcomes import Action, Reply
from jobclaw.router.permission import obstacle
from jobclaw.router.policy import Policy
from jobclaw.router.voice import Voice
from jobclaw.spi.store import DecisionFilter, MemoryWrite, Store


class SessionCommands:
    """`/reset` `/current` `/back` `/stop` `/human` `/bot` `/tasks` `/task`."""

    def __init__(
        self,
        store: Store,
        agents: AgentRegistry,
        voice: Voice,
        policy: Policy,
        wanted: Callable[[Turn], None],
    ) -> None:
        self._store = store
        self._agents = agents
        self._voice = voice
        self._policy = policy
        self._wanted = wanted

    def actions(self) -> Mapping[str, Action]:
        """The actions by name."""
        return {
            "reset": self._reset,
            "current": self._current,
            "back": self._back,
            "stop": self._stop,
            "human": self._human,
            "bot": self._bot,
            "tasks": self._tasks,
            "task": self._task,
        }

    def _says(self, turn: Turn, text_id: str, /, **values: object) -> Reply:
        return Reply(turn, (Markdown(self._voice.say(turn, text_id, **values)),))

    async def _reset(self, turn: Turn) -> Reply:
        session = msgspec.structs.replace(
            unbound(turn.session), previous_agent="", parked=None, takeover_until=None
        )
        after = msgspec.structs.replace(turn, session=session)
        forget = turn.command is not None and turn.command.args == "--forget"
        if not forget:
            return self._says(after, "reset.done")
        said = self._says(after, "reset.done-and-forgotten")
        everything = MemoryWrite(session=session.key, agent="", key="", value="")
        return Reply(after, said.parts, (everything,))

    async def _current(self, turn: Turn) -> Reply:
        session = turn.session
        entry = self._agents.get(session.bound_agent)
        over = session.expires_at is not None and turn.at >= session.expires_at
        if not session.bound_agent or over or entry is None:
            return self._says(turn, "current.nothing")
        until = session.expires_at or turn.at + self._policy.ttl
        return self._says(
            turn,
            "current.bound",
            agent=self._voice.agent(turn.locale, entry.id),
            id=entry.id,
            until=until.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        )

    async def _back(self, turn: Turn) -> Reply:
        previous = turn.session.previous_agent
        entry = self._agents.get(previous)
        if entry is None or obstacle(entry, turn.role) is not None:
            return self._says(turn, "back.nothing")
        session = bound(turn.session, previous, turn.at, self._policy.ttl)
        after = msgspec.structs.replace(turn, session=session)
        return self._says(after, "back.done", agent=self._voice.agent(turn.locale, previous))

    async def _stop(self, turn: Turn) -> Reply:
        newest = self._store.decisions(DecisionFilter(session=turn.session.key, limit=1))
        stopped = bool(newest) and newest[0].outcome == "superseded"
        return self._says(turn, "stop.done" if stopped else "stop.nothing")

    async def _human(self, turn: Turn) -> Reply:
        after = _taken_over(turn, turn.session, self._policy)
        self._wanted(turn)
        minutes = int(self._policy.takeover.total_seconds() // 60)
        return self._says(after, "human.done", minutes=minutes)

    async def _bot(self, turn: Turn) -> Reply:
        waiting = turn.session.takeover_until is not None
        session = msgspec.structs.replace(turn.session, takeover_until=None)
        after = msgspec.structs.replace(turn, session=session)
        return self._says(after, "bot.back" if waiting else "bot.here")

    async def _tasks(self, turn: Turn) -> Reply:
        return self._says(turn, "tasks.none")

    async def _task(self, turn: Turn) -> Reply:
        args = turn.command.args if turn.command is not None else None
        if args is None:
            return self._says(turn, "tasks.none")
        return self._says(turn, "tasks.unknown", id=args.split()[0])


def _taken_over(turn: Turn, session: Session, policy: Policy) -> Turn:
    session = msgspec.structs.replace(session, takeover_until=turn.at + policy.takeover)
    return msgspec.structs.replace(turn, session=session)
