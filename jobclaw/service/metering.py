"""Feeds the metrics: from the bus, and by looking how late the event loop is."""

from __future__ import annotations

import asyncio

from jobclaw.bus.events import EventBus
from jobclaw.bus.topics import MESSAGE_HANDLED, MESSAGE_RECEIVED, REPLY_DELIVERED, Delivered
from jobclaw.observe.metrics import Metrics

LAG_EVERY_S = 0.5


class Metering:
    """Counts from `start` to `stop`."""

    def __init__(self, bus: EventBus, metrics: Metrics) -> None:
        self._metrics = metrics
        self._looking: asyncio.Task[None] | None = None
        bus.attach(MESSAGE_RECEIVED, metrics.received)
        bus.attach(MESSAGE_HANDLED, metrics.handled)
        bus.attach(REPLY_DELIVERED, self._delivered)

    def start(self) -> None:
        """Begin to look at the event loop."""
        self._looking = asyncio.create_task(self._look(), name="event loop lag")

    async def stop(self) -> None:
        """End it."""
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)

    def _delivered(self, event: Delivered) -> None:
        self._metrics.delivered(event.message, ok=event.receipt.ok)

    async def _look(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + LAG_EVERY_S
            await asyncio.sleep(LAG_EVERY_S)
            self._metrics.lagged(max(0.0, loop.time() - due))
