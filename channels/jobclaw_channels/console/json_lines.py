"""`jobclaw chat --jsonl`: the scriptable console, one JSON object a line in both directions."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from jobclaw.errors import JobclawError, PermanentChannelError
from jobclaw.model import DeliveryReceipt, OutboundMessage, RouteDecision
from jobclaw.spi import AgentFailure, Capabilities, Catalogue, Sink
from jobclaw_channels.console.convert import (
    Line,
    decision_line,
    failure_line,
    read_line,
    reply_line,
    to_message,
)
from jobclaw_channels.console.settings import ConsoleSettings
from jobclaw_channels.console.source import LINE_LIMIT_BYTES, LineSource
from jobclaw_channels.console.terminal import Terminal

PIPELINED = 256


class JsonLinesAdapter(Terminal):
    """Accepts lines in order, up to `PIPELINED` at once; writes replies and decisions."""

    capabilities = Capabilities(markdown="rich", buttons=True)

    def __init__(self, account: str, settings: ConsoleSettings) -> None:
        super().__init__()
        self._account = account
        self._settings = settings
        self._texts = Catalogue((Path(__file__).parent / "locales", *settings.locales))
        self._slots = asyncio.Semaphore(PIPELINED)
        self._accepting: set[asyncio.Task[None]] = set()

    async def read(self, sink: Sink) -> None:
        """See `Terminal`."""
        number = 0
        async for data in LineSource(0).lines():
            number += 1
            if data.strip():
                await self._take(sink, data, number)
        await self._all_accepted()
        await sink.idle()

    async def send(self, message: OutboundMessage) -> DeliveryReceipt:
        """See `spi.ChannelAdapter`."""
        self._last_out = datetime.now(UTC)
        self._write(reply_line(message))
        return self.receipt(message.id)

    def decided(self, decision: RouteDecision) -> None:
        """See `spi.LocalAdapter`."""
        self._write(decision_line(decision))

    def failed(self, failure: AgentFailure) -> None:
        """See `spi.LocalAdapter`."""
        self._write(failure_line(failure))

    async def _take(self, sink: Sink, data: bytes, number: int) -> None:
        if len(data) > LINE_LIMIT_BYTES:
            problem = PermanentChannelError("console.line-too-long", limit=LINE_LIMIT_BYTES)
            self._complain(problem, number)
            return
        try:
            line = read_line(data)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            self._complain(PermanentChannelError("console.bad-line", reason=str(error)), number)
            return
        if line.op == "wait":
            await self._all_accepted()
            await sink.idle()
            self._write(msgspec.json.encode({"type": "idle", "id": line.id}))
            return
        await self._slots.acquire()
        task = asyncio.create_task(self._accept(sink, line, number))
        self._accepting.add(task)
        task.add_done_callback(self._accepting.discard)

    async def _accept(self, sink: Sink, line: Line, number: int) -> None:
        try:
            self._last_in = datetime.now(UTC)
            message = to_message(line, self._account, self._settings, self._last_in)
            accepted = await sink.accept(message)
            if accepted.duplicate:
                known = {"type": "duplicate", "message": line.id, "id": accepted.message_id}
                self._write(msgspec.json.encode(known))
        except JobclawError as error:
            self._complain(error, number, line.id)
        finally:
            self._slots.release()

    async def _all_accepted(self) -> None:
        if self._accepting:
            await asyncio.wait(self._accepting)

    def _complain(
        self, error: JobclawError, number: int, message: str | int | None = None
    ) -> None:
        """Write why a line was not accepted: `code` for scripts, `error` for people."""
        sentence = self._texts.say(self._settings.locale, error.text_id, **error.values)
        fields = {"type": "error", "line": number, "message": message}
        self._write(msgspec.json.encode({**fields, "code": error.text_id, "error": sentence}))

    def _write(self, line: bytes) -> None:
        self.put(line + b"\n")
