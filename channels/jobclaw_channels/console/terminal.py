"""What both console adapters share: the end of input, health, and what a console never has."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime

from jobclaw.errors import PermanentChannelError
from jobclaw.model import Attachment
from jobclaw.spi import ChannelHealth, CommandInfo, Sink


class Terminal:
    """Runs `read` from start to the end of input."""

    def __init__(self) -> None:
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
        """See `spi.LocalAdapter`; raises what the reader raised."""
        if self._reading is not None:
            await self._reading

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
