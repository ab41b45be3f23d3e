"""The topics of the bus and the events that only travel on it."""

from __future__ import annotations

from jobclaw.bus.events import Topic
from jobclaw.model import DeliveryReceipt, OutboundMessage, RouteDecision, Value
from jobclaw.spi.store import InboxRow


class Delivered(Value, frozen=True):
    """A message that left, with what the platform said."""

    message: OutboundMessage
    receipt: DeliveryReceipt


class AgentFailure(Value, frozen=True):
    """An agent that raised, hung or said nothing; `traceback` is for the operator's eyes."""

    error_id: str
    agent: str
    message: str
    reason: str
    traceback: str = ""


class Notice(Value, frozen=True):
    """Something that the operator should know; `text_id` is a sentence of the catalogue."""

    text_id: str
    values: dict[str, str]


MESSAGE_RECEIVED: Topic[InboxRow] = Topic("message.received")
MESSAGE_HANDLED: Topic[RouteDecision] = Topic("message.handled")
REPLY_DELIVERED: Topic[Delivered] = Topic("reply.delivered")
AGENT_FAILED: Topic[AgentFailure] = Topic("agent.failed")
OPERATOR_NOTICE: Topic[Notice] = Topic("operator.notice")
