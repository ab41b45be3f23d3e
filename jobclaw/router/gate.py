"""When a newcomer is asked for a profile first, and how that is put off.

The message that met the gate is parked in the session and answered afterwards: when the
questions are answered, or when they are put off (24 hours the first time, for good the second,
until `/profile`).
"""

from __future__ import annotations

from datetime import timedelta

import msgspec

from jobclaw.model import GateState, Parked, Session, Turn, User
from jobclaw.registry.agents import AgentRegistry
from jobclaw.router.language import POSTPONE_WORDS, bare
from jobclaw.router.permission import obstacle
from jobclaw.router.policy import Policy
from jobclaw.spi.gate import IdentityGate

POSTPONED_FOR = timedelta(hours=24)


class ProfileGate:
    """The gate that a plugin provides, with the deployment's policy; without one it is open."""

    def __init__(
        self, gate: IdentityGate | None, policy: Policy, agents: AgentRegistry
    ) -> None:
        self._gate = gate
        self._policy = policy
        self._agents = agents

    @property
    def agent_id(self) -> str:
        """The agent that asks, empty without a gate."""
        return self._gate.agent_id if self._gate is not None else ""

    def missing(self, user: User) -> tuple[str, ...]:
        """The required fields that the profile lacks."""
        if self._gate is None or self._policy.gate == "off":
            return ()
        return self._gate.missing(user, self._policy.required_fields)

    def is_open(self, turn: Turn) -> bool:
        """Whether nobody is there to ask: a gate without its agent must lock nobody out."""
        entry = self._agents.get(self.agent_id)
        return entry is None or obstacle(entry, turn.role) is not None

    def asks(self, turn: Turn) -> tuple[str, ...]:
        """The missing fields to ask for now: never in a group, not while put off."""
        if turn.is_group:
            return ()
        state = turn.user.gate
        if state.final or (state.until is not None and turn.at < state.until):
            return ()
        missing = self.missing(turn.user)
        return () if missing and self.is_open(turn) else missing

    def asks_before(self, turn: Turn) -> tuple[str, ...]:
        """The missing fields to ask for before an agent that needs them; a command passes."""
        if self._policy.gate != "when_needed" or turn.step == "command":
            return ()
        return self.asks(turn)

    def first(self) -> bool:
        """Whether the questions come before everything else."""
        return self._policy.gate == "first"

    def is_postponing(self, text: str) -> bool:
        """Whether a text puts the questions off."""
        return bare(text) in POSTPONE_WORDS


def postponed(turn: Turn) -> User:
    """The user after putting the questions off once more."""
    count = turn.user.gate.postponed + 1
    state = GateState(postponed=count, until=turn.at + POSTPONED_FOR, final=count > 1)
    return msgspec.structs.replace(turn.user, gate=state)


def wanted(turn: Turn) -> Turn:
    """The turn of somebody who asks for the questions: they are no longer put off."""
    state = msgspec.structs.replace(turn.user.gate, until=None, final=False)
    return msgspec.structs.replace(turn, user=msgspec.structs.replace(turn.user, gate=state))


def parked(turn: Turn, gate_agent: str) -> Session:
    """The session with this message kept for later, unless it answers the gate."""
    session = turn.session
    if session.parked is not None or session.bound_agent == gate_agent:
        return session
    kept = Parked(message_id=turn.message.id, text=turn.text, why="gate")
    return msgspec.structs.replace(session, parked=kept)


def resumed(turn: Turn) -> Turn:
    """The turn that answers the parked message instead; the turn itself if none is parked."""
    kept = turn.session.parked
    if kept is None or kept.why != "gate":
        return turn
    session = msgspec.structs.replace(turn.session, parked=None)
    return msgspec.structs.replace(
        turn,
        text=kept.text,
        replayed=kept.message_id,
        session=session,
        pressed=None,
        command=None,
    )
