"""Step 4: a bound session stays with its agent unless the words clearly ask for another."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from jobclaw.model import Classification, Turn
from jobclaw.registry.agents import AgentEntry, AgentRegistry
from jobclaw.router.binding import bound, is_expired, unbound
from jobclaw.router.outcomes import Next, Route, StepResult
from jobclaw.router.permission import obstacle, sift
from jobclaw.router.policy import Policy
from jobclaw.router.voice import Voice


class BindingStep:
    """Keeps a session with its agent, moves it on a clear keyword, drops a stale binding."""

    def __init__(
        self,
        agents: AgentRegistry,
        classify: Callable[[str], Classification],
        voice: Voice,
        policy: Policy,
    ) -> None:
        self._agents = agents
        self._classify = classify
        self._voice = voice
        self._policy = policy

    async def run(self, turn: Turn) -> StepResult:
        """Go by the binding, if there is one that holds."""
        if turn.intent:
            return Next(turn)
        if turn.message.attachments:
            found = self._by_attachment(turn)
            if found is not None:
                return found
        if not turn.session.bound_agent:
            return Next(turn)
        return self._by_binding(turn)

    def _by_binding(self, turn: Turn) -> StepResult:
        session = turn.session
        if is_expired(session, turn.at):
            return Next(msgspec.structs.replace(turn, session=unbound(session)))
        entry = self._agents.get(session.bound_agent)
        if entry is None or obstacle(entry, turn.role) is not None:
            return Next(self._lost(turn))
        if self._policy.escape and not entry.agent.holds:
            escaped = self._escape(turn, entry)
            if escaped is not None:
                return Next(escaped)
        return Route(self._kept(turn), entry.id)

    def _kept(self, turn: Turn) -> Turn:
        session = turn.session
        if self._policy.sliding or session.expires_at is None:
            session = bound(session, session.bound_agent, turn.at, self._policy.ttl)
        return msgspec.structs.replace(turn, step="binding", session=session)

    def _lost(self, turn: Turn) -> Turn:
        agent = self._voice.agent(turn.locale, turn.session.bound_agent)
        note = self._voice.say(turn, "binding.agent-gone", agent=agent)
        return msgspec.structs.replace(
            turn, session=unbound(turn.session), notices=(*turn.notices, note)
        )

    def _escape(self, turn: Turn, entry: AgentEntry) -> Turn | None:
        """The turn on its way to another agent, if a sure keyword of that agent says so."""
        result = self._classify(turn.text)
        if not result.certain or result.confidence < self._policy.high:
            return None
        if result.intent in entry.intents:
            return None
        usable, _ = sift(self._agents.serving(result.intent), turn.role)
        if not usable or usable[0].id == entry.id:
            return None
        note = self._voice.say(
            turn, "binding.moved", agent=self._voice.agent(turn.locale, usable[0].id)
        )
        return msgspec.structs.replace(
            turn,
            step="binding",
            tier=result.tier,
            intent=result.intent,
            confidence=result.confidence,
            classification=result,
            escaped_from=entry.id,
            detail="escape",
            notices=(*turn.notices, note),
        )

    def _by_attachment(self, turn: Turn) -> Route | None:
        for attachment in turn.message.attachments:
            usable, _ = sift(self._agents.accepting(attachment.kind), turn.role)
            if usable:
                here = msgspec.structs.replace(
                    turn, step="binding", bind=False, detail="attachment"
                )
                return Route(here, usable[0].id)
        return None
