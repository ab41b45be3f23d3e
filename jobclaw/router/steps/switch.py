"""Step 3: the user names the agent, or picks one that was offered.

`/job-recommend [text]`, `/agent NAME [text]`, `@NAME [text]`.
"""

from __future__ import annotations

import msgspec

from jobclaw.model import Markdown, Turn
from jobclaw.registry.agents import AgentRegistry
from jobclaw.router.binding import bound, unbound
from jobclaw.router.outcomes import Answer, Next, Route, StepResult
from jobclaw.router.permission import obstacle
from jobclaw.router.policy import Policy
from jobclaw.router.voice import Voice


class SwitchStep:
    """Binds the session to the agent that the user chose."""

    def __init__(self, agents: AgentRegistry, voice: Voice, policy: Policy) -> None:
        self._agents = agents
        self._voice = voice
        self._policy = policy

    async def run(self, turn: Turn) -> StepResult:
        """Switch, if the message says so."""
        if turn.pressed is not None and turn.pressed.pick:
            return self._picked(turn, turn.pressed.pick)
        call = turn.command
        if call is None or call.kind != "switch":
            return Next(turn)
        here = msgspec.structs.replace(turn, step="switch", tier="command", detail="switch")
        refusal = self._refusal(here, call.target)
        if refusal is not None:
            return refusal
        if call.args is not None or self._starts_by_itself(call.target):
            said = call.args or ""
            return Route(msgspec.structs.replace(here, args=said, text=said), call.target)
        return self._confirmed(here, call.target)

    def _starts_by_itself(self, agent_id: str) -> bool:
        """Whether an agent has the first word: one that holds the session asks at once."""
        entry = self._agents.get(agent_id)
        return entry is not None and entry.agent.holds

    def _picked(self, turn: Turn, agent_id: str) -> StepResult:
        """Answer a clarification or correction: the original message goes to the choice."""
        here = msgspec.structs.replace(turn, step="switch", tier="clarify", detail="pick")
        refusal = self._refusal(here, agent_id)
        if refusal is not None:
            return refusal
        kept = turn.session.parked
        if kept is None:
            return self._confirmed(here, agent_id)
        entry = self._agents.get(agent_id)
        label = entry.intents[0] if entry is not None and entry.intents else ""
        session = msgspec.structs.replace(turn.session, parked=None)
        here = msgspec.structs.replace(
            here,
            text=kept.text,
            replayed=kept.message_id,
            session=session,
            label=label,
            detail=f"pick-{kept.why}",
        )
        return Route(here, agent_id)

    def _refusal(self, turn: Turn, agent_id: str) -> Answer | None:
        entry = self._agents.get(agent_id)
        if entry is None:
            text = self._voice.say(turn, "switch.no-such-agent", agent=agent_id)
            return Answer(turn, "hint", (Markdown(text),))
        why = obstacle(entry, turn.role)
        if why is None:
            return None
        text = self._voice.say(
            turn,
            f"refused.{why}",
            agent=self._voice.agent(turn.locale, entry.id),
            role=self._voice.role(turn.locale, entry.role),
        )
        return Answer(turn, "refused", (Markdown(text),))

    def _confirmed(self, turn: Turn, agent_id: str) -> Answer:
        name = self._voice.agent(turn.locale, agent_id)
        if agent_id == self._policy.default_agent:
            session = unbound(turn.session, default_until=turn.at + self._policy.default_pause)
        else:
            session = bound(turn.session, agent_id, turn.at, self._policy.ttl)
        turn = msgspec.structs.replace(turn, session=session)
        entry = self._agents.get(agent_id)
        example = self._voice.example(entry, turn.locale) if entry is not None else ""
        text_id = "switch.done-with-example" if example else "switch.done"
        text = self._voice.say(turn, text_id, agent=name, example=example)
        return Answer(turn, "answered", (Markdown(text),))
