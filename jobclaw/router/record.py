"""Makes the stored explanation of a turn, and of messages that never became one."""

from __future__ import annotations

from datetime import datetime

import msgspec

from jobclaw.model import (
    BindingView,
    InboundMessage,
    Outcome,
    RouteDecision,
    TierTrace,
    Turn,
    session_key,
)

TEXT_LIMIT = 2000


def decision_of(turn: Turn, agent: str, outcome: Outcome, revision: str) -> RouteDecision:
    """The record of a turn that ended with `outcome`."""
    result = turn.classification
    decision = RouteDecision(
        message=turn.message.id,
        session=turn.session.key,
        user=turn.user.id,
        role=turn.role,
        step=turn.step,
        tier=turn.tier,
        intent=turn.intent,
        confidence=turn.confidence,
        agent=agent,
        outcome=outcome,
        at=turn.at,
        platform_message=turn.message.platform_message_id,
        text=_said(turn)[:TEXT_LIMIT],
        detail=turn.detail,
        replayed=turn.replayed,
        escaped_from=turn.escaped_from,
        removed=turn.removed,
        binding=_binding(turn),
        revision=revision,
    )
    if result is None:
        return decision
    tiers = result.tiers
    if turn.tier in ("clarify", "fallback"):
        tiers = (*tiers, TierTrace(tier=turn.tier, outcome=turn.detail or "asked", ms=0.0))
    return msgspec.structs.replace(
        decision,
        keywords=result.keywords,
        runner_up=result.runner_up,
        margin=result.margin,
        tiers=tiers,
        llm=result.llm,
    )


def _said(turn: Turn) -> str:
    """What was answered: the message, the button's words, or the earlier message."""
    is_own = not turn.replayed and not turn.message.action
    return turn.message.text if is_own else turn.text


def _binding(turn: Turn) -> BindingView | None:
    """The binding that the message met; with a switch, the one that it left behind."""
    session = turn.session
    if turn.seen is not None or not session.bound_agent:
        return turn.seen
    return BindingView(
        agent=session.bound_agent, bound_at=session.bound_at, expires_at=session.expires_at
    )


def decision_without_turn(
    message: InboundMessage, outcome: Outcome, detail: str, at: datetime, revision: str
) -> RouteDecision:
    """The record of a message that was not routed: superseded, or a dead letter."""
    return RouteDecision(
        message=message.id,
        session=session_key(message),
        user="",
        role="",
        step="identity",
        tier="none",
        intent="",
        confidence=0.0,
        agent="",
        outcome=outcome,
        at=at,
        platform_message=message.platform_message_id,
        text=message.text[:TEXT_LIMIT],
        detail=detail,
        revision=revision,
    )
