"""What would be decided for a text, without running, storing or sending anything."""

from __future__ import annotations

from datetime import datetime
from typing import assert_never

import msgspec

from jobclaw.model import (
    Conversation,
    GateState,
    InboundMessage,
    ReplyTarget,
    Role,
    RouteDecision,
    Sender,
    User,
)
from jobclaw.router.msg_router import MsgRouter
from jobclaw.router.outcomes import Answer, Drop, Route
from jobclaw.router.reading import Reader
from jobclaw.router.record import decision_of

NOBODY = "nobody"


def sample_message(text: str, user: str, role: Role | None, at: datetime) -> InboundMessage:
    """The text as the console would hand it in."""
    return InboundMessage(
        id="dry-run",
        channel="console",
        account="default",
        conversation=Conversation(id=user),
        sender=Sender(id=user, name=user, claimed_role=role or ""),
        reply=ReplyTarget(channel="console", account="default", conversation=user),
        received_at=at,
        text=text,
        text_raw=text,
    )


def anybody() -> User:
    """Somebody without a past whom nothing is asked first."""
    return User(id=NOBODY, name=NOBODY, gate=GateState(final=True))


async def dry_run(
    reader: Reader, router: MsgRouter, message: InboundMessage, user: User, revision: str
) -> RouteDecision:
    """Decide the message for a user and say what would happen."""
    turn = reader.turn(message, user, message.received_at)
    verdict = await router.decide(turn)
    match verdict:
        case Route(turn=turn, agent=agent):
            return decision_of(turn, agent, "answered", revision)
        case Answer(turn=turn, outcome=outcome):
            return decision_of(turn, "", outcome, revision)
        case Drop(turn=turn, reason=reason):
            dropped = msgspec.structs.replace(turn, detail=reason)
            return decision_of(dropped, "", "dropped", revision)
        case _:
            assert_never(verdict)
