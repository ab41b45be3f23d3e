"""A terminal that talks through a running daemon: the same console, another engine."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping

from jobclaw.app.chat import local_adapter
from jobclaw.app.core import load_plugins, load_texts
from jobclaw.cli.remote import Remote
from jobclaw.errors import JobclawError
from jobclaw.model import InboundMessage, ReplyTarget, from_json, to_json
from jobclaw.settings import Settings
from jobclaw.spi.channel import Accepted, Posted, Said
from jobclaw.spi.local import LocalAdapter
from jobclaw.web.terminals import Attaching, Line

GRACE_S = 5.0


class RemoteSink:
    """See `spi.Sink`, over the daemon's API."""

    def __init__(self, remote: Remote, terminal_id: str) -> None:
        self._remote = remote
        self._path = f"/terminals/{terminal_id}"
        self._waits: dict[int, asyncio.Future[None]] = {}
        self._numbers = 0
        self._order = asyncio.Lock()

    async def accept(self, message: InboundMessage) -> Accepted:
        """See `Sink.accept`; one after the other, as calls at once might overtake."""
        path = f"{self._path}/messages"
        async with self._order:
            return await self._remote.call("POST", path, Accepted, body=to_json(message))

    async def idle(self) -> None:
        """See `Sink.idle`: of what was said here."""
        self._numbers += 1
        number = self._numbers
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waits[number] = waiting
        await self._remote.call("POST", f"{self._path}/waits/{number}", type(None), body=b"")
        await waiting

    def said(self, target: ReplyTarget, before: int, limit: int) -> tuple[Said, ...]:  # noqa: ARG002 - the signature
        """See `Sink.said`; a console does not ask."""
        return ()

    def posted(self, target: ReplyTarget, after: int, limit: int) -> tuple[Posted, ...]:  # noqa: ARG002 - the signature
        """See `Sink.posted`; a console does not ask."""
        return ()

    def posted_before(self, target: ReplyTarget, before: int, limit: int) -> tuple[Posted, ...]:  # noqa: ARG002 - the signature
        """See `Sink.posted_before`; a console does not ask."""
        return ()

    def is_idle(self, number: int) -> None:
        """End the wait of that number."""
        waiting = self._waits.pop(number, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(None)

    def fail(self, error: JobclawError) -> None:
        """The daemon has gone: nothing that is waited for will come."""
        for waiting in self._waits.values():
            if not waiting.done():
                waiting.set_exception(error)
        self._waits.clear()

    async def show(self, adapter: LocalAdapter, line: Line) -> None:
        """Do what one line of the stream says."""
        if line.message is not None:
            receipt = await adapter.send(line.message)
            path = f"{self._path}/receipts/{line.number}"
            await self._remote.call("POST", path, type(None), body=to_json(receipt))
        elif line.decision is not None:
            adapter.decided(line.decision)
        elif line.failure is not None:
            adapter.failed(line.failure)
        elif line.kind == "idle":
            self.is_idle(line.number)


async def chat_remotely(
    remote: Remote, settings: Settings, console: Mapping[str, object], stop: asyncio.Event
) -> None:
    """Talk until the input ends or `stop` is set.

    Raises:
        JobclawError: the daemon cannot be reached any more.
    """
    texts = load_texts(settings)
    adapter = local_adapter(load_plugins(settings, texts), console)
    only = str(console["conversation"] or console["user"])
    whole = adapter.capabilities
    attaching = Attaching(
        capabilities=whole, conversation="" if console["mode"] == "jsonl" else only
    )
    lines = remote.lines("/terminals", to_json(attaching))
    first = await _line(lines)
    if first is None:
        raise JobclawError("cli.remote.gone")
    sink = RemoteSink(remote, first.id)
    reading = asyncio.create_task(_read(lines, sink, adapter))
    await adapter.start(sink)
    ending = asyncio.create_task(_ended(adapter, sink))
    stopping = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait((reading, ending, stopping), return_when=asyncio.FIRST_COMPLETED)
        for task in (reading, ending):
            if task.done():
                task.result()
    finally:
        await adapter.stop(GRACE_S)
        for task in (reading, ending, stopping):
            task.cancel()
        await asyncio.gather(reading, ending, stopping, return_exceptions=True)


async def _ended(adapter: LocalAdapter, sink: RemoteSink) -> None:
    await adapter.closed()
    await sink.idle()


async def _read(lines: AsyncIterator[bytes], sink: RemoteSink, adapter: LocalAdapter) -> None:
    gone = JobclawError("cli.remote.gone")
    try:
        while (line := await _line(lines)) is not None:
            await sink.show(adapter, line)
    except JobclawError as error:
        gone = error
    sink.fail(gone)
    raise gone


async def _line(lines: AsyncIterator[bytes]) -> Line | None:
    with contextlib.suppress(StopAsyncIteration):
        return from_json(await anext(lines), Line)
    return None
