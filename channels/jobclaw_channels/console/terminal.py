"""What both console adapters share: the output, the end of input, health.

Everything leaves as UTF-8, whatever the locale says. An output that refuses a write (a full
disk, a reader that has gone) never comes back: the chat ends, nothing more is sent, and what
could not be shown stays in the outbox for the next start.
"""

from __future__ import annotations

import asyncio
import errno
import os
import sys
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from typing import BinaryIO, TextIO

from jobclaw.errors import PermanentChannelError
from jobclaw.model import Attachment, DeliveryError, DeliveryReceipt, ReplyTarget
from jobclaw.spi import ChannelHealth, CommandInfo, Sink

EXIT_IO = 74
LATER_S = 3600.0  # the process has ended long before


class Terminal:
    """Runs `read` from start to the end of input, or until the output refuses."""

    def __init__(self) -> None:
        self._lost = asyncio.Event()
        self._refusal: OSError | None = None
        self._reading: asyncio.Task[None] | None = None
        self._since = datetime.now(UTC)
        self._last_in: datetime | None = None
        self._last_out: datetime | None = None

    async def read(self, sink: Sink) -> None:
        """Accept everything that is typed or piped; return at its end."""
        raise NotImplementedError

    async def start(self, sink: Sink) -> None:
        """See `spi.ChannelAdapter`."""
        self._reading = asyncio.create_task(self.read(sink), name="console")

    async def stop(self, grace_s: float) -> None:  # noqa: ARG002 - nothing of it is under way
        """See `spi.ChannelAdapter`."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)

    async def closed(self) -> None:
        """See `spi.LocalAdapter`; raises what the reader raised, or that the output is lost.

        Raises:
            BrokenPipeError: whoever read the output has gone.
            PermanentChannelError: the output refuses (exit 74).
        """
        if self._reading is None:
            return
        losing = asyncio.create_task(self._lost.wait())
        await asyncio.wait((self._reading, losing), return_when=asyncio.FIRST_COMPLETED)
        losing.cancel()
        if self._refusal is None:
            await self._reading
        elif isinstance(self._refusal, BrokenPipeError):
            raise self._refusal
        else:
            reason = self._refusal.strerror or str(self._refusal)
            failure = PermanentChannelError("cli.chat.output-failed", reason=reason)
            failure.exit_code = EXIT_IO
            raise failure from self._refusal

    def serves(self, target: ReplyTarget) -> bool:  # noqa: ARG002 - one conversation or all
        """See `spi.LocalAdapter`."""
        return self._refusal is None

    def put(self, data: bytes) -> bool:
        """Write and flush; False when the output refuses, now or before."""
        if self._refusal is not None:
            return False
        try:
            out = _output()
            out.write(data)
            out.flush()
        except OSError as error:
            self.lose(error)
            return False
        return True

    def lose(self, error: OSError) -> None:
        """End the chat because the terminal is of no use any more."""
        self._refusal = error
        self._lost.set()

    def receipt(self, message_id: str) -> DeliveryReceipt:
        """What to answer after a message was put: shown, or to be shown by another process."""
        if self._refusal is None:
            return DeliveryReceipt(ok=True, message_ids=(message_id,))
        kind = type(self._refusal).__name__
        later = DeliveryError(kind="unknown", detail=kind, retryable=True, retry_after=LATER_S)
        return DeliveryReceipt(ok=False, error=later)

    def health(self) -> ChannelHealth:
        """See `spi.ChannelAdapter`."""
        over = self._reading is None or self._reading.done()
        return ChannelHealth(
            state="down" if over else "ok",
            since=self._since,
            last_in=self._last_in,
            last_out=self._last_out,
        )

    def fetch(self, attachment: Attachment) -> AsyncIterator[bytes]:
        """See `spi.ChannelAdapter`; a console has no attachments."""
        raise PermanentChannelError("console.no-attachments", name=attachment.name)

    async def register_commands(self, commands: Sequence[CommandInfo]) -> None:
        """See `spi.ChannelAdapter`; a console has no menu."""


def _output() -> BinaryIO:
    """Standard output; Python has none where the shell closed it."""
    out: TextIO | None = sys.stdout
    if out is None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    return out.buffer
