"""A small platform in process: it takes messages, refuses on request, and keeps a ledger."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime

from jobclaw.bus.rendering import plain_text
from jobclaw.model import (
    Attachment,
    Conversation,
    DeliveryError,
    DeliveryReceipt,
    InboundMessage,
    OutboundMessage,
    ReplyTarget,
    Sender,
)
from jobclaw.spi import Capabilities, ChannelHealth, CommandInfo, Sink


class SmallPlatform:
    """An adapter and its platform; `refusals` are answered before anything is taken."""

    def __init__(self, **capabilities: object) -> None:
        self.capabilities = Capabilities(**capabilities)  # type: ignore[arg-type]
        self.ledger: list[OutboundMessage] = []
        self.previews: list[str] = []
        self.refusals: list[DeliveryError | Exception] = []
        self.held = asyncio.Event()
        self.held.set()
        self.shown = asyncio.Event()

    async def send(self, message: OutboundMessage) -> DeliveryReceipt:
        await self.held.wait()
        if message.op == "stream_delta":
            self.previews.append(plain_text(message))
            self.shown.set()
            return DeliveryReceipt(ok=True)
        if self.refusals:
            refusal = self.refusals.pop(0)
            if isinstance(refusal, Exception):
                raise refusal
            return DeliveryReceipt(ok=False, error=refusal)
        self.ledger.append(message)
        self.shown.set()
        return DeliveryReceipt(ok=True, message_ids=(f"p{len(self.ledger)}",))

    def texts(self) -> list[str]:
        """What the platform shows."""
        return [plain_text(message) for message in self.ledger]

    async def start(self, sink: Sink) -> None:
        """Nothing comes in by itself."""

    async def stop(self, grace_s: float) -> None:
        """Nothing to stop."""

    def fetch(self, attachment: Attachment) -> AsyncIterator[bytes]:
        raise NotImplementedError

    def health(self) -> ChannelHealth:
        return ChannelHealth(state="ok")

    async def register_commands(self, commands: Sequence[CommandInfo]) -> None:
        """No menu."""


def inbound(
    text: str, number: int, conversation: str = "c", sender: str = "u"
) -> InboundMessage:
    """A direct message with an id of its own."""
    return InboundMessage(
        channel="small",
        account="a",
        conversation=Conversation(id=conversation),
        sender=Sender(id=sender),
        reply=ReplyTarget(channel="small", account="a", conversation=conversation),
        received_at=datetime.now(UTC),
        dedup_keys=(f"{conversation}:{number}",),
        platform_message_id=str(number),
        text=text,
    )
