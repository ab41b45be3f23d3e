"""Wires what accepts, answers and delivers, around what decides."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial

from jobclaw.app.core import Core
from jobclaw.bus.inbox import Inbox
from jobclaw.bus.lanes import Lanes
from jobclaw.bus.outbox import Outbox, UnknownPolicy, preview_of
from jobclaw.bus.topics import AGENT_FAILED, MESSAGE_HANDLED, MESSAGE_RECEIVED
from jobclaw.errors import StorageError
from jobclaw.fetch.late import LateFetcher
from jobclaw.model import InboundMessage, OutboundMessage, ReplyTarget, chat_key
from jobclaw.router.steps.execute import ExecuteStep, Surroundings
from jobclaw.router.turns import Stages, Turns
from jobclaw.spi.channel import Accepted, ChannelAdapter, Posted, Said
from jobclaw.spi.local import AgentFailure
from jobclaw.spi.store import Handled, OutboxRow

DRAIN_TURNS_S = 20.0
DRAIN_OUTBOX_S = 5.0
LASTING = frozenset({"storage.damaged", "storage.fsync-failed"})


class Engine:
    """The way of a message from inbox to outbox; the sink of every channel.

    `adapter_of` finds who delivers to a target, None if nobody does now.
    """

    def __init__(
        self, core: Core, adapter_of: Callable[[ReplyTarget], ChannelAdapter | None]
    ) -> None:
        self._core = core
        self._adapter_of = adapter_of
        self._failure: asyncio.Future[StorageError] = asyncio.get_running_loop().create_future()
        policy = core.settings.unknown_send
        self.outbox = Outbox(
            core.store, core.bus, adapter_of, UnknownPolicy(policy.answers, policy.pushes)
        )
        surroundings = Surroundings(
            missing=core.gate().missing,
            streams=self._streams,
            preview=self._preview,
            failed=lambda failure: core.bus.publish(AGENT_FAILED, failure),
            abandon=self._abandon,
            clean=core.redactor.clean,
            llm=core.models.client,
            fetch=LateFetcher(core.settings.fetch.allow_hosts),
        )
        execute = ExecuteStep(core.agents, core.store, core.voice, core.policy, surroundings)
        stages = Stages(core.reader(), core.router(), execute)
        self._turns = Turns(stages, core.gate(), core.voice, core.clock, core.revision)
        self.lanes = Lanes(
            core.store,
            self._turns,
            self._committed,
            max_parallel=core.settings.bus.max_parallel,
            leaves=self.outbox.leaves,
        )
        self.lanes.when_broken(self._broken)
        self.outbox.when_broken(self._broken)
        self._inbox = Inbox(core.store, core.bus, self.lanes)
        core.bus.attach(MESSAGE_RECEIVED, self.lanes.offer)

    def recover(self) -> None:
        """Take up what an earlier process accepted or committed and did not finish."""
        self.outbox.recover()
        self.lanes.recover()

    async def drain(self, turns_s: float, outbox_s: float) -> None:
        """Finish running turns and deliver what they said, each within its seconds.

        After a failure of the store nothing that ends can be recorded, so nobody waits.
        """
        if self._failure.done():
            turns_s = outbox_s = 0.0
        await self.lanes.drain(turns_s)
        await self.outbox.drain(outbox_s)

    async def until(self, stop: asyncio.Event) -> None:
        """Return when `stop` is set.

        Raises:
            StorageError: the store can be relied on no more; the process must end and say why.
        """
        stopping = asyncio.create_task(stop.wait())
        await asyncio.wait((self._failure, stopping), return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        if self._failure.done():
            raise self._failure.result()

    async def accept(self, message: InboundMessage) -> Accepted:
        """See `spi.Sink`."""
        try:
            return await self._inbox.accept(message)
        except StorageError as error:
            self._broken(error)
            raise

    async def idle(self) -> None:
        """See `spi.Sink`."""
        await self.lanes.idle()
        await self.outbox.idle()
        await self._core.store.flush()

    async def settled(self, lanes: Sequence[str], chats: Sequence[str]) -> None:
        """Return when these are handled and delivered, and the binding files written."""
        for lane in lanes:
            await self.lanes.settled(lane)
        for chat in chats:
            await self.outbox.settled(chat)
        await self._core.store.flush()

    def resume(self, chat: str) -> None:
        """Deliver what waits for a chat that somebody shows from now on."""
        self.outbox.resume(chat)

    def said(self, target: ReplyTarget, before: int, limit: int) -> tuple[Said, ...]:
        """See `spi.Sink`."""
        return self._core.store.said(chat_key(target), before, limit)

    def posted(self, target: ReplyTarget, after: int, limit: int) -> tuple[Posted, ...]:
        """See `spi.Sink`."""
        return self._core.store.posted(chat_key(target), after, limit)

    def posted_before(self, target: ReplyTarget, before: int, limit: int) -> tuple[Posted, ...]:
        """See `spi.Sink`."""
        return self._core.store.posted_before(chat_key(target), before, limit)

    def _broken(self, error: StorageError) -> None:
        if error.text_id in LASTING and not self._failure.done():
            self._failure.set_result(error)

    def _streams(self, message: InboundMessage) -> bool:
        adapter = self._adapter_of(message.reply)
        return adapter is not None and adapter.capabilities.stream != "none"

    def _preview(self, message: OutboundMessage) -> None:
        self.outbox.preview(preview_of(message))

    def _abandon(self, task: asyncio.Task[object], failure: AgentFailure) -> None:
        self.lanes.abandon(task, partial(self._turns.abandoned, failure))

    def _committed(self, handled: Handled, rows: tuple[OutboxRow, ...]) -> None:
        self._core.bus.publish(MESSAGE_HANDLED, handled.decision)
        self.outbox.dispatch(rows)
