"""The port of a channel: what an adapter does and what it may call."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import Literal, Protocol

from jobclaw.model import (
    Attachment,
    DeliveryReceipt,
    InboundMessage,
    Locale,
    OutboundMessage,
    ReplyTarget,
    Value,
)


class Capabilities(Value, frozen=True):
    """What a channel can show; `max_units` counts in `unit` (0: no limit).

    `idempotent`: a message sent twice under one id is shown once, so that one whose delivery is
    uncertain is simply sent again.
    """

    max_units: int = 0
    unit: Literal["utf16", "chars", "bytes"] = "chars"
    markdown: Literal["rich", "entities", "mrkdwn", "post", "plain"] = "plain"
    edit: bool = False
    stream: Literal["draft", "native", "card", "edit", "none"] = "none"
    buttons: bool = False
    threads: bool = False
    typing: bool = False
    reactions: bool = False
    proactive: bool = True
    ephemeral: bool = False
    idempotent: bool = False


class ChannelHealth(Value, frozen=True):
    """How a channel is; `reason` is for the operator."""

    state: Literal["ok", "degraded", "down", "needs_login", "disabled"]
    since: datetime | None = None
    reason: str = ""
    last_in: datetime | None = None
    last_out: datetime | None = None
    reconnects: int = 0


class CommandInfo(Value, frozen=True):
    """A command for a platform's menu: `name` without its slash, one sentence per language."""

    name: str
    summary: Mapping[Locale, str]


class Accepted(Value, frozen=True):
    """The inbox's word: durable now, or a duplicate of what was accepted before."""

    message_id: str
    duplicate: bool


class Said(Value, frozen=True):
    """A message that was accepted; `seq` rises in the order of acceptance."""

    seq: int
    at: datetime
    message: InboundMessage


class Posted(Value, frozen=True):
    """A message that left, or is leaving, for a chat; `seq` rises in its order."""

    seq: int
    at: datetime
    message: OutboundMessage


class Sink(Protocol):
    """Where an adapter hands events in, and finds again what was said in its chats."""

    async def accept(self, message: InboundMessage) -> Accepted:
        """Return once the message is on disk; only then may the platform be acknowledged."""
        ...

    async def idle(self) -> None:
        """Return when all that was accepted is handled and its replies are delivered."""
        ...

    def said(self, target: ReplyTarget, before: int, limit: int) -> tuple[Said, ...]:
        """The newest messages accepted from a chat below `before` (0: all), oldest first."""
        ...

    def posted(self, target: ReplyTarget, after: int, limit: int) -> tuple[Posted, ...]:
        """What left for a chat above `after`, oldest first: where a lost reader goes on."""
        ...

    def posted_before(self, target: ReplyTarget, before: int, limit: int) -> tuple[Posted, ...]:
        """The newest messages that left for a chat below `before` (0: all), oldest first."""
        ...


class ChannelAdapter(Protocol):
    """One account of one platform. Errors leave `send` as a receipt, never as an exception."""

    capabilities: Capabilities

    async def start(self, sink: Sink) -> None:
        """Begin to receive; returns when ready."""
        ...

    async def stop(self, grace_s: float) -> None:
        """Stop receiving, then wait up to `grace_s` seconds for calls under way."""
        ...

    async def send(self, message: OutboundMessage) -> DeliveryReceipt:
        """Deliver one message (or one stream operation); report what the platform said."""
        ...

    def fetch(self, attachment: Attachment) -> AsyncIterator[bytes]:
        """Read an attachment in chunks; raises ChannelError."""
        ...

    def health(self) -> ChannelHealth:
        """The state now, without a call to the platform."""
        ...

    async def register_commands(self, commands: Sequence[CommandInfo]) -> None:
        """Show these in the platform's menu, where it has one."""
        ...
