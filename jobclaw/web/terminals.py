"""Terminals of other processes (`jobclaw chat`) that talk through this daemon.

An attached terminal gets a stream of lines: what to show, decisions about its messages, its
agents' failures. It says of each message shown whether that worked, so that a reply counts as
sent only when somebody has seen it; what a terminal leaves behind waits for the next one.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import datetime
from typing import Literal, Protocol

import msgspec
from ulid import ULID

from jobclaw.errors import PermanentChannelError
from jobclaw.model import (
    Attachment,
    DeliveryError,
    DeliveryReceipt,
    InboundMessage,
    OutboundMessage,
    ReplyTarget,
    RouteDecision,
    Value,
    chat_key,
    lane_key,
    to_json,
)
from jobclaw.spi.channel import (
    Accepted,
    Capabilities,
    ChannelHealth,
    CommandInfo,
    Sink,
)
from jobclaw.spi.local import AgentFailure

CHANNEL = "console"
QUEUED = 1_000
RECEIPT_S = 60.0
ALIVE_S = 15.0
_GONE = DeliveryError(kind="gone", detail="the terminal has left", retryable=True)
_log = logging.getLogger(__name__)


class Attaching(Value, frozen=True):
    """What a terminal says of itself; `conversation` is the only one it shows, if not empty."""

    capabilities: Capabilities
    conversation: str = ""


class Line(Value, frozen=True, omit_defaults=True):
    """One line of a terminal's stream; `number` is what a receipt or a wait refers to."""

    kind: Literal["attached", "send", "decided", "failed", "idle", "alive"]
    id: str = ""
    number: int = 0
    message: OutboundMessage | None = None
    decision: RouteDecision | None = None
    failure: AgentFailure | None = None


class Traffic(Protocol):
    """The engine, as far as terminals go."""

    async def accept(self, message: InboundMessage) -> Accepted:
        """Store a message; see `spi.Sink`."""
        ...

    async def settled(self, lanes: Sequence[str], chats: Sequence[str]) -> None:
        """Return when these are handled and delivered, and the binding files written."""
        ...

    def resume(self, chat: str) -> None:
        """Deliver what waits for a chat."""
        ...


class Terminal:
    """One attached terminal, as the adapter of the conversations that it shows."""

    def __init__(self, attaching: Attaching, now: Callable[[], datetime]) -> None:
        self.id = str(ULID())
        self.capabilities = attaching.capabilities
        self._now = now
        self._only = attaching.conversation
        self._lines: asyncio.Queue[Line | None] = asyncio.Queue(QUEUED)
        self._receipts: dict[int, asyncio.Future[DeliveryReceipt]] = {}
        self._numbers = 0
        self._waiting: set[asyncio.Task[None]] = set()
        self._lanes: dict[str, None] = {}
        self._since = now()
        self._last_out: datetime | None = None
        self.messages: set[str] = set()
        self.chats: dict[str, None] = {}
        self.gone = False

    def shows(self, target: ReplyTarget) -> bool:
        """Whether messages to a target are for this one."""
        if self._only:
            return target.conversation == self._only
        return chat_key(target) in self.chats

    def spoke(self, message: InboundMessage) -> None:
        """Remember a message as this terminal's."""
        self.messages.add(message.id)
        self._lanes[lane_key(message)] = None
        self.chats[chat_key(message.reply)] = None

    def put(self, line: Line) -> None:
        """Add a line; a terminal that does not read is let go."""
        if self.gone:
            return
        try:
            self._lines.put_nowait(line)
        except asyncio.QueueFull:
            _log.warning("terminal %s does not read; it is let go", self.id)
            self.leave()

    def leave(self) -> None:
        """End the stream; what was not acknowledged waits for another terminal."""
        self.gone = True
        for waiting in self._receipts.values():
            if not waiting.done():
                waiting.set_result(DeliveryReceipt(ok=False, error=_GONE))
        for task in self._waiting:
            task.cancel()
        while self._lines.full():
            self._lines.get_nowait()
        self._lines.put_nowait(None)

    async def stream(self) -> AsyncIterator[bytes]:
        """The lines as JSON, as they come; one now and then to see whether anybody reads."""
        while True:
            try:
                line = await asyncio.wait_for(self._lines.get(), ALIVE_S)
            except TimeoutError:
                line = Line(kind="alive")
            if line is None:
                return
            yield to_json(line) + b"\n"

    async def send(self, message: OutboundMessage) -> DeliveryReceipt:
        """See `spi.ChannelAdapter`: wait until the terminal says that it has shown it."""
        if self.gone:
            return DeliveryReceipt(ok=False, error=_GONE)
        self._numbers += 1
        number = self._numbers
        receipt: asyncio.Future[DeliveryReceipt] = asyncio.get_running_loop().create_future()
        self._receipts[number] = receipt
        self.put(Line(kind="send", number=number, message=message))
        try:
            async with asyncio.timeout(RECEIPT_S):
                return await receipt
        except TimeoutError:
            self.leave()
            return DeliveryReceipt(ok=False, error=_GONE)
        finally:
            del self._receipts[number]

    def acknowledge(self, number: int, receipt: DeliveryReceipt) -> None:
        """Take the terminal's word on a message."""
        waiting = self._receipts.get(number)
        if waiting is not None and not waiting.done():
            self._last_out = self._now()
            waiting.set_result(receipt)

    def wait(self, number: int, traffic: Traffic) -> None:
        """Put an `idle` line when all that was said here is answered and shown."""
        task = asyncio.create_task(self._idle(number, traffic))
        self._waiting.add(task)
        task.add_done_callback(self._waiting.discard)

    async def _idle(self, number: int, traffic: Traffic) -> None:
        await traffic.settled(tuple(self._lanes), tuple(self.chats))
        self.put(Line(kind="idle", number=number))

    def health(self) -> ChannelHealth:
        """See `spi.ChannelAdapter`."""
        return ChannelHealth(state="ok", since=self._since, last_out=self._last_out)

    async def start(self, sink: Sink) -> None:
        """See `spi.ChannelAdapter`; it was started when it was attached."""

    async def stop(self, grace_s: float) -> None:  # noqa: ARG002 - nothing to wait for
        """See `spi.ChannelAdapter`."""
        self.leave()

    def fetch(self, attachment: Attachment) -> AsyncIterator[bytes]:
        """See `spi.ChannelAdapter`; a console has no attachments."""
        raise PermanentChannelError("terminal.no-attachments", name=attachment.name)

    async def register_commands(self, commands: Sequence[CommandInfo]) -> None:
        """See `spi.ChannelAdapter`; a console has no menu."""


class Terminals:
    """All attached terminals.

    The one that attached or spoke last, of those that show a conversation, gets its messages.
    """

    def __init__(self, traffic: Traffic, now: Callable[[], datetime]) -> None:
        self._traffic = traffic
        self._now = now
        self._since = now()
        self._last_in: datetime | None = None
        self._attached: dict[str, Terminal] = {}

    def attach(self, attaching: Attaching) -> Terminal:
        """Begin a stream; what waits for its conversation is delivered first."""
        terminal = Terminal(attaching, self._now)
        self._attached[terminal.id] = terminal
        terminal.put(Line(kind="attached", id=terminal.id))
        if attaching.conversation:
            only = ReplyTarget(
                channel=CHANNEL, account="default", conversation=attaching.conversation
            )
            self._traffic.resume(chat_key(only))
        return terminal

    def detach(self, terminal: Terminal) -> None:
        """End a stream."""
        self._attached.pop(terminal.id, None)
        terminal.leave()
        for chat in terminal.chats:
            self._traffic.resume(chat)  # another terminal may show it

    def get(self, terminal_id: str) -> Terminal | None:
        """An attached terminal by its id."""
        return self._attached.get(terminal_id)

    def serving(self, target: ReplyTarget) -> Terminal | None:
        """Who shows messages to a target now."""
        latest_first = reversed(self._attached.values())
        return next((one for one in latest_first if not one.gone and one.shows(target)), None)

    async def accept(self, terminal: Terminal, message: InboundMessage) -> Accepted:
        """Hand in what somebody wrote at a terminal."""
        self._last_in = self._now()
        if not message.id:
            message = msgspec.structs.replace(message, id=str(ULID()))
        chat = chat_key(message.reply)
        known = chat in terminal.chats
        terminal.spoke(message)
        if self._attached.pop(terminal.id, None) is not None:
            self._attached[terminal.id] = terminal
        if not known:
            self._traffic.resume(chat)
        accepted = await self._traffic.accept(message)
        if accepted.duplicate:
            terminal.messages.discard(message.id)
        return accepted

    def wait(self, terminal: Terminal, number: int) -> None:
        """See `Terminal.wait`."""
        terminal.wait(number, self._traffic)

    def decided(self, decision: RouteDecision) -> None:
        """Tell the terminal whose message was decided."""
        for terminal in self._attached.values():
            if decision.message in terminal.messages:
                terminal.messages.discard(decision.message)
                terminal.put(Line(kind="decided", decision=decision))

    def failed(self, failure: AgentFailure) -> None:
        """Tell whoever speaks in a chat of an agent's traceback there."""
        for terminal in self._attached.values():
            if failure.chat in terminal.chats:
                terminal.put(Line(kind="failed", failure=failure))

    def health(self) -> ChannelHealth:
        """How the channel is as a whole."""
        return ChannelHealth(state="ok", since=self._since, last_in=self._last_in)

    def close(self) -> None:
        """Let all terminals go."""
        for terminal in tuple(self._attached.values()):
            self.detach(terminal)
