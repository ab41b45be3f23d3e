"""Closes connections that do not come to the point.

uvicorn bounds the time between requests, but not the time a head takes: a peer that sends a
byte now and then, or nothing at all, would hold its connection for ever.
"""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_WITHIN_S = 20.0


class PunctualProtocol(H11Protocol):
    """HTTP/1.1 whose heads arrive within `HEAD_WITHIN_S` seconds, or the connection closes.

    So does what is left of a body once the request has been answered.
    """

    head_within_s = HEAD_WITHIN_S
    _late: asyncio.TimerHandle | None = None

    def connection_made(  # type: ignore[override] - uvicorn narrows it in the same way
        self, transport: asyncio.Transport
    ) -> None:
        """Begin to wait for a head."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Take what came; the wait is over when a request is under way."""
        super().data_received(data)
        if self.cycle is None or self.cycle.response_complete:  # pyright: ignore[reportUnnecessaryComparison] - None before the first request
            self._wait()
        else:
            self._came()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._came()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self._late is None:
            self._late = self.loop.call_later(self.head_within_s, self.transport.close)

    def _came(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None
