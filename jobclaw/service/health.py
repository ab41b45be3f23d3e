"""Gathers how everything is; the journal is asked by a write, which a full disk refuses."""

from __future__ import annotations

import asyncio

from jobclaw.errors import StorageError
from jobclaw.service.operations import (
    Health,
    HealthState,
    LlmHealth,
    Running,
    StoreHealth,
)
from jobclaw.spi.channel import ChannelHealth
from jobclaw.spi.clock import Clock
from jobclaw.spi.llm import ModelState
from jobclaw.spi.store import Store

PROBE_EVERY_S = 5.0
PROBE_DEADLINE_S = 5.0
CUT_OFF = frozenset({"down", "needs_login"})


class HealthCheck:
    """Tells the state of all parts; the disk is written to at most every five seconds."""

    def __init__(self, store: Store, clock: Clock, running: Running | None) -> None:
        self._store = store
        self._clock = clock
        self._running = running
        self._reason = ""
        self._due = clock.monotonic()

    async def now(self) -> Health:
        """See `Operations.health`."""
        store = await self._journal()
        running = self._running
        channels = {} if running is None else running.channels()
        llm = _llm(() if running is None else running.models())
        return Health(
            state=_whole(store, llm, channels), store=store, llm=llm, channels=channels
        )

    async def _journal(self) -> StoreHealth:
        if self._running is not None and self._clock.monotonic() >= self._due:
            self._due = self._clock.monotonic() + PROBE_EVERY_S
            self._reason = await self._probe()
        try:
            waiting = self._store.waiting()
        except StorageError as error:
            return StoreHealth(state="down", reason=str(error))
        return StoreHealth(
            state="down" if self._reason else "ok",
            reason=self._reason,
            inbox=waiting.inbox,
            outbox=waiting.outbox,
            dead=waiting.dead,
        )

    async def _probe(self) -> str:
        try:
            async with asyncio.timeout(PROBE_DEADLINE_S):
                await self._store.probe()
        except StorageError as error:
            return str(error)
        except TimeoutError:
            return f"no write was finished within {PROBE_DEADLINE_S:g} s"
        return ""


def _llm(models: tuple[ModelState, ...]) -> LlmHealth:
    if not models:
        return LlmHealth(state="off")
    good = all(model.state == "ok" for model in models)
    return LlmHealth(state="ok" if good else "degraded", models=models)


def _whole(
    store: StoreHealth, llm: LlmHealth, channels: dict[str, ChannelHealth]
) -> HealthState:
    states = {channel.state for channel in channels.values()}
    if store.state == "down" or states & CUT_OFF:
        return "down"
    return "degraded" if llm.state == "degraded" or "degraded" in states else "ready"
