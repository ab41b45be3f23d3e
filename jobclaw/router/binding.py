"""Changes of a session's binding, as pure functions."""

from __future__ import annotations

from datetime import datetime, timedelta

import msgspec

from jobclaw.model import HISTORY_LIMIT, HistoryEntry, Session, Turn


def bound(session: Session, agent_id: str, at: datetime, ttl: timedelta) -> Session:
    """The session bound to an agent; the one before it is remembered for `/back`."""
    previous = session.previous_agent
    if session.bound_agent and session.bound_agent != agent_id:
        previous = session.bound_agent
    return msgspec.structs.replace(
        session,
        bound_agent=agent_id,
        bound_at=at if session.bound_agent != agent_id else session.bound_at or at,
        expires_at=at + ttl,
        default_until=None,
        previous_agent=previous,
    )


def unbound(session: Session, *, default_until: datetime | None = None) -> Session:
    """The session bound to nobody, with or without the pause of the third tier."""
    return msgspec.structs.replace(
        session, bound_agent="", bound_at=None, expires_at=None, default_until=default_until
    )


def paused(session: Session, at: datetime, pause: timedelta) -> Session:
    """The session with the default agent: bound to nobody, the third tier left out for a while.

    A pause under way is not prolonged: a chat that goes on would keep the model away for ever.
    """
    until = session.default_until
    still = until is not None and at < until
    return unbound(session, default_until=until if still else at + pause)


def is_expired(session: Session, at: datetime) -> bool:
    """Whether the binding has run out, exact to the second."""
    return session.expires_at is not None and at >= session.expires_at


def remembered(session: Session, turn: Turn, agent_id: str) -> Session:
    """The session with the turn's classification as the newest of ten."""
    entry = HistoryEntry(
        at=turn.at,
        intent=turn.intent,
        confidence=turn.confidence,
        tier=turn.tier,
        agent=agent_id,
    )
    history = (*session.history, entry)[-HISTORY_LIMIT:]
    return msgspec.structs.replace(session, history=history)
