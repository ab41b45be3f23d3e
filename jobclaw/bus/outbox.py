"""Replies leave here: in order per chat, with one owner from preview to receipt.

A row goes ready → sending (counted, on disk before the platform is called) → sent, or back to
ready for a later attempt, or dead. A row found in `sending` after a crash is *unknown*: whether
the platform has it cannot be known, so it is sent again under the same id where that is
harmless or where the policy says so (answers are resent, pushes held). Outbound is therefore
at-least-once, and a duplicate can happen only in the crash window of one call. An answer whose
chat is idle is committed in `sending` already (`leaves`): its call is next.

Previews of a streamed answer are not stored. They go to the platform while nothing else of the
chat waits, one at a time, the newest text only; the final message carries the stream's id and
finishes it.

While the disk refuses, a chat waits where it is; what a platform has taken is not sent again
for that, only its mark is.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

import msgspec

from jobclaw.bus.events import EventBus
from jobclaw.bus.patience import Patience
from jobclaw.bus.rendering import render
from jobclaw.bus.topics import REPLY_DELIVERED, Delivered
from jobclaw.errors import StorageError
from jobclaw.model import DeliveryError, DeliveryReceipt, OutboundMessage, ReplyTarget, chat_key
from jobclaw.spi.channel import ChannelAdapter
from jobclaw.spi.store import Journal, OutboxRow
from jobclaw.spi.trace import CURRENT_MESSAGE

_log = logging.getLogger(__name__)
MAX_ATTEMPTS = 8
BACKOFF_CAP_S = 60.0
SEND_S = 90.0  # an adapter bounds its own calls; this is for one that does not
REFILL = 50
UnknownSend = Literal["resend", "hold"]


@dataclass(frozen=True)
class UnknownPolicy:
    """What to do with a message that may or may not have arrived."""

    answers: UnknownSend = "resend"
    pushes: UnknownSend = "hold"


@dataclass
class _Chat:
    """One chat while something of it is under way."""

    rows: deque[OutboxRow] = field(default_factory=deque[OutboxRow])
    behind: bool = False
    given: deque[int] = field(default_factory=lambda: deque[int](maxlen=2 * REFILL))
    taken: int = 0
    worker: asyncio.Task[None] | None = None
    preview: asyncio.Task[None] | None = None
    newest: OutboundMessage | None = None


class Outbox:
    """Delivers what the journal holds, through the adapter that each message names."""

    def __init__(
        self,
        journal: Journal,
        bus: EventBus,
        adapter_of: Callable[[ReplyTarget], ChannelAdapter | None],
        policy: UnknownPolicy,
        *,
        send_s: float = SEND_S,
    ) -> None:
        self._send_s = send_s
        self._journal = journal
        self._bus = bus
        self._adapter_of = adapter_of
        self._policy = policy
        self._chats: dict[str, _Chat] = {}
        self._quiet = asyncio.Event()
        self._quiet.set()
        self._closing = False
        self._patience = Patience()
        self._broken: Callable[[StorageError], None] | None = None
        self._open = asyncio.Event()
        self._open.set()

    def when_broken(self, listener: Callable[[StorageError], None]) -> None:
        """Have a chat that had to stop because of the store say so."""
        self._broken = listener

    def hold(self) -> None:
        """Deliver nothing until `open`: the adapters have not been started yet."""
        self._open.clear()

    def open(self) -> None:
        """Deliver what waits, in order."""
        self._open.set()

    def recover(self) -> None:
        """Take up what an earlier process committed and did not deliver."""
        for key in self._journal.pending_chats():
            chat = self._chat(key)
            chat.behind = True
            self._start(key, chat)

    def resume(self, chat: str) -> None:
        """Take up what waits for a chat that is served from now on."""
        waiting = self._chat(chat)
        waiting.behind = True
        self._start(chat, waiting)

    def leaves(self, message: OutboundMessage) -> bool:
        """Whether the platform is called as soon as this reply is on disk.

        Then it can be committed as `sending`, which saves an operation of the journal. A crash
        before the call makes it unknown all the same, so only where unknown ones are resent.
        """
        adapter = self._adapter_of(message.target)
        idle = self._open.is_set() and not self._closing
        if adapter is None or not idle or chat_key(message.target) in self._chats:
            return False
        return self._resends(message, adapter)

    def dispatch(self, rows: tuple[OutboxRow, ...]) -> None:
        """Queue rows that have just been committed."""
        for row in rows:
            chat = self._chat(row.chat)
            if not chat.behind and row.seq not in chat.given:  # shown before dispatched
                chat.rows.append(row)
            self._start(row.chat, chat)

    def preview(self, message: OutboundMessage) -> None:
        """Show a growing text, if the channel streams and nothing of the chat waits."""
        adapter = self._adapter_of(message.target)
        if adapter is None or adapter.capabilities.stream == "none" or self._closing:
            return
        chat = self._chat(chat_key(message.target))
        if chat.worker is not None:
            return
        chat.newest = message
        if chat.preview is None:
            chat.preview = asyncio.create_task(self._stream(chat_key(message.target), adapter))

    async def idle(self) -> None:
        """Return when nothing waits to be delivered."""
        await self._quiet.wait()

    async def settled(self, chat: str) -> None:
        """Return when nothing of one chat is under way."""
        while (busy := self._chats.get(chat)) is not None:
            tasks = [task for task in (busy.worker, busy.preview) if task is not None]
            if not tasks:
                return
            await asyncio.wait(tasks)

    async def drain(self, grace_s: float) -> bool:
        """Deliver what waits, for `grace_s` seconds; False if something stays."""
        try:
            async with asyncio.timeout(grace_s):
                await self._quiet.wait()
        except TimeoutError:
            self._closing = True
            self._patience.end()
            tasks = [t for c in self._chats.values() for t in (c.worker, c.preview) if t]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            return False
        return True

    def _chat(self, key: str) -> _Chat:
        chat = self._chats.get(key)
        if chat is None:
            chat = self._chats[key] = _Chat()
            self._quiet.clear()
        return chat

    def _start(self, key: str, chat: _Chat) -> None:
        if chat.worker is None and not self._closing:
            chat.worker = asyncio.create_task(self._work(key, chat))

    def _finish(self, key: str, chat: _Chat) -> None:
        if chat.worker is None and chat.preview is None:
            self._chats.pop(key, None)
            if not self._chats:
                self._quiet.set()

    async def _stream(self, key: str, adapter: ChannelAdapter) -> None:
        chat = self._chats[key]
        try:
            while (message := chat.newest) is not None:
                chat.newest = None
                await self._call(adapter, message)
        finally:
            chat.preview = None
            self._finish(key, chat)

    async def _work(self, key: str, chat: _Chat) -> None:
        try:
            await self._open.wait()
            if chat.preview is not None:
                chat.newest = None
                await asyncio.wait([chat.preview])
            while (row := self._next(key, chat)) is not None:
                if not await self._deliver(row):
                    return
        except StorageError as error:
            _log.exception("chat %s stopped: the store failed; a restart takes it up", key)
            if self._broken is not None:
                self._broken(error)
        finally:
            chat.worker = None
            self._finish(key, chat)

    def _next(self, key: str, chat: _Chat) -> OutboxRow | None:
        if not chat.rows and chat.behind:
            rows = self._journal.next_outbox(key, chat.taken, REFILL)
            chat.behind = len(rows) == REFILL
            chat.rows.extend(rows)
            chat.given.extend(row.seq for row in rows)
        if not chat.rows:
            return None
        row = chat.rows.popleft()
        chat.taken = row.seq
        return row

    async def _deliver(self, row: OutboxRow) -> bool:
        """Deliver a row; False when nobody serves its chat now, so that it stays for later."""
        message, patient = row.message, self._patience.until_done
        CURRENT_MESSAGE.set(message.id)
        counted = row.attempt if row.state == "sending" else 0
        while (adapter := self._adapter_of(message.target)) is not None:
            if row.state == "unknown" and not self._resends(message, adapter):
                _log.warning("message %s may have been sent; held (unknown_send)", message.id)
                return True
            mark = partial(self._journal.mark_sending, row.seq)
            attempt, counted = counted or await patient(mark), 0
            receipt = await self._call(adapter, render(message, adapter.capabilities))
            if receipt.ok or receipt.error is None:
                await patient(partial(self._journal.mark_sent, row.seq, receipt))
                _log.debug("sent in attempt %d", attempt)
                self._bus.publish(REPLY_DELIVERED, Delivered(message=message, receipt=receipt))
                return True
            error = receipt.error
            if not error.retryable or attempt >= MAX_ATTEMPTS:
                _log.error("message %s is dead: %s %s", message.id, error.kind, error.detail)
                await patient(partial(self._journal.mark_failed, row.seq, error, "dead"))
                self._bus.publish(REPLY_DELIVERED, Delivered(message=message, receipt=receipt))
                return True
            await patient(partial(self._journal.mark_failed, row.seq, error, "ready"))
            if self._adapter_of(message.target) is adapter:
                await asyncio.sleep(_pause(attempt, error))
        return False

    def _resends(self, message: OutboundMessage, adapter: ChannelAdapter) -> bool:
        """Whether a message that may have arrived is sent again."""
        policy = self._policy.pushes if message.push else self._policy.answers
        return policy == "resend" or adapter.capabilities.idempotent

    async def _call(self, adapter: ChannelAdapter, message: OutboundMessage) -> DeliveryReceipt:
        try:
            async with asyncio.timeout(self._send_s):
                return await adapter.send(message)
        except Exception as error:  # noqa: BLE001 - an adapter's fault must not end the chat's lane
            _log.exception("adapter of %s raised", message.target.channel)
            failure = DeliveryError(kind="unknown", detail=type(error).__name__, retryable=True)
            return DeliveryReceipt(ok=False, error=failure)


def _pause(attempt: int, error: DeliveryError) -> float:
    if error.retry_after is not None:
        return error.retry_after
    return min(BACKOFF_CAP_S, 2.0 ** (attempt - 1)) * random.uniform(0.5, 1.0)  # noqa: S311 - jitter


def preview_of(message: OutboundMessage) -> OutboundMessage:
    """The message as far as it has been written, to be shown before it is final."""
    return msgspec.structs.replace(message, op="stream_delta", stream_id=message.id)
