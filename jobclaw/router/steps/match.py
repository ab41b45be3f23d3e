"""Step 6: the intent finds its agent among those that this user may use now."""

from __future__ import annotations

import msgspec

from jobclaw.model import UNKNOWN, Markdown, RemovedAgent, Turn
from jobclaw.registry.agents import AgentEntry, AgentRegistry
from jobclaw.router.gate import ProfileGate, parked, wanted
from jobclaw.router.outcomes import Answer, Route, StepResult
from jobclaw.router.permission import sift
from jobclaw.router.policy import Policy
from jobclaw.router.voice import Voice


class MatchStep:
    """Picks by priority, then id; refuses clearly; never a more privileged substitute."""

    def __init__(
        self, agents: AgentRegistry, gate: ProfileGate, voice: Voice, policy: Policy
    ) -> None:
        self._agents = agents
        self._gate = gate
        self._voice = voice
        self._policy = policy

    async def run(self, turn: Turn) -> StepResult:
        """Name the agent, or say why there is none."""
        if turn.intent == UNKNOWN:
            return self._default(turn)
        serving = self._agents.serving(turn.intent)
        usable, removed = sift(serving, turn.role)
        turn = msgspec.structs.replace(turn, removed=removed)
        if usable:
            return self._found(turn, usable[0])
        forbidden = [entry for entry in serving if _why(removed, entry.id) == "role"]
        if forbidden:
            return self._refused(turn, forbidden[0])
        if serving:
            text = self._voice.say(
                turn, "refused.unavailable", agent=self._voice.agent(turn.locale, serving[0].id)
            )
            return Answer(turn, "refused", (Markdown(text),))
        return self._default(msgspec.structs.replace(turn, detail="no-agent"))

    def _found(self, turn: Turn, entry: AgentEntry) -> StepResult:
        if entry.id == self._gate.agent_id:
            return Route(wanted(turn) if turn.step == "command" else turn, entry.id)
        missing = self._gate.asks_before(turn) if entry.agent.requires_profile else ()
        if missing:
            session = parked(turn, self._gate.agent_id)
            asked = msgspec.structs.replace(
                turn, session=session, missing=missing, bind=False, detail="gate"
            )
            return Route(asked, self._gate.agent_id)
        return Route(turn, entry.id)

    def _refused(self, turn: Turn, entry: AgentEntry) -> Answer:
        text = self._voice.say(
            turn,
            "refused.role",
            agent=self._voice.agent(turn.locale, entry.id),
            role=self._voice.role(turn.locale, entry.role),
        )
        return Answer(turn, "refused", (Markdown(text),))

    def _default(self, turn: Turn) -> StepResult:
        entry = self._agents.get(self._policy.default_agent)
        if entry is None or entry.disabled:
            return Answer(turn, "refused", (Markdown(self._voice.say(turn, "router.nobody")),))
        return Route(turn, entry.id)


def _why(removed: tuple[RemovedAgent, ...], agent_id: str) -> str:
    return next((item.why for item in removed if item.agent == agent_id), "")
