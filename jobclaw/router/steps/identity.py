"""Step 1: who is it, may they be served, and is anything asked of them first."""

from __future__ import annotations

import msgspec

from jobclaw.model import Markdown, Turn
from jobclaw.router.gate import ProfileGate, parked, postponed, resumed
from jobclaw.router.language import is_blank
from jobclaw.router.outcomes import Answer, Drop, Next, Route, StepResult
from jobclaw.router.policy import Policy
from jobclaw.router.voice import Voice

_SILENT_KINDS = frozenset({"reaction", "edit", "delete", "member", "stop"})


class IdentityStep:
    """Drops what is not for the bot, keeps a human's conversation, asks for a profile."""

    def __init__(self, gate: ProfileGate, voice: Voice, policy: Policy) -> None:
        self._gate = gate
        self._voice = voice
        self._policy = policy

    async def run(self, turn: Turn) -> StepResult:
        """Decide whether the message is served, and by whom first."""
        reason = _ignored(turn)
        if reason:
            return Drop(turn, reason)
        if turn.command is not None and turn.command.kind == "system":
            return Next(turn)
        takeover = turn.session.takeover_until
        if takeover is not None and turn.at < takeover:
            until = turn.at + self._policy.takeover
            session = msgspec.structs.replace(turn.session, takeover_until=until)
            return Drop(msgspec.structs.replace(turn, session=session), "takeover")
        if turn.command is not None:
            return Next(turn)
        if is_blank(turn.text) and not turn.message.attachments:
            text_id = "router.stale-button" if turn.pressed else "router.no-text"
            return Answer(turn, "hint", (Markdown(self._voice.say(turn, text_id)),))
        return self._ask(turn)

    def _ask(self, turn: Turn) -> StepResult:
        missing = self._gate.asks(turn)
        if not missing:
            return Next(turn)
        asking = turn.session.bound_agent == self._gate.agent_id
        if not (self._gate.first() or asking or turn.session.parked):
            return Next(turn)
        if self._gate.is_postponing(turn.text):
            return self._postpone(turn)
        session = parked(turn, self._gate.agent_id)
        asked = msgspec.structs.replace(
            turn, session=session, missing=missing, bind=asking, detail="gate"
        )
        return Route(asked, self._gate.agent_id)

    def _postpone(self, turn: Turn) -> StepResult:
        user = postponed(turn)
        text_id = "gate.put-off-for-good" if user.gate.final else "gate.put-off"
        session = turn.session
        if session.bound_agent == self._gate.agent_id:
            session = msgspec.structs.replace(session, bound_agent="", bound_at=None)
        turn = msgspec.structs.replace(turn, user=user, session=session, detail="gate-put-off")
        again = resumed(turn)
        note = self._voice.say(turn, text_id)
        if again is turn:
            return Answer(turn, "answered", (Markdown(note),))
        return Next(msgspec.structs.replace(again, notices=(*again.notices, note)))


def _ignored(turn: Turn) -> str:
    """Why a message is not for the bot, empty if it is."""
    message = turn.message
    if message.sender.is_self:
        return "own-message"
    if message.sender.is_bot:
        return "bot-message"
    if message.kind in _SILENT_KINDS:
        return f"kind-{message.kind}"
    if turn.command is not None and turn.command.kind == "foreign":
        return "other-bot"
    if turn.is_group and not message.addressed and turn.command is None:
        return "not-addressed"
    return ""
