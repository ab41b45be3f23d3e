"""The topics of the bus and the events that only travel on it."""

from __future__ import annotations

from jobclaw.bus.events import Topic
from jobclaw.model import DeliveryReceipt, OutboundMessage, RouteDecision, Value
from jobclaw.spi.local import AgentFailure
from jobclaw.spi.store import InboxRow


class Delivered(Value, frozen=True):
    """A message that left, with what the platform said."""

    message: OutboundMessage
    receipt: DeliveryReceipt


class Notice(Value, frozen=True):
    """Something that the operator should know; `text_id` is a sentence of the catalogue."""

    text_id: str
    values: dict[str, str]


MESSAGE_RECEIVED: Topic[InboxRow] = Topic("message.received")
MESSAGE_HANDLED: Topic[RouteDecision] = Topic("message.handled")
REPLY_DELIVERED: Topic[Delivered] = Topic("reply.delivered")
AGENT_FAILED: Topic[AgentFailure] = Topic("agent.failed")
OPERATOR_NOTICE: Topic[Notice] = Topic("operator.notice")
