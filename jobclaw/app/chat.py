"""The chat in a terminal: one local channel, without a daemon."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

from jobclaw.app.core import Core, Plugins, SystemClock, build_core, load_plugins, load_texts
from jobclaw.app.engine import DRAIN_OUTBOX_S, DRAIN_TURNS_S, Engine
from jobclaw.app.models import check_models
from jobclaw.bus.topics import AGENT_FAILED, MESSAGE_HANDLED
from jobclaw.errors import ConfigError
from jobclaw.model import ReplyTarget
from jobclaw.settings import Settings
from jobclaw.spi.channel import ChannelAdapter
from jobclaw.spi.local import LocalAdapter
from jobclaw.storage import WorkspaceLock, open_store


class Chat:
    """One local channel with the whole way of a message behind it."""

    def __init__(self, core: Core, adapter: LocalAdapter) -> None:
        self._core = core
        self._adapter = adapter
        self.engine = Engine(core, self._adapter_of)
        core.bus.attach(MESSAGE_HANDLED, adapter.decided)
        core.bus.attach(AGENT_FAILED, adapter.failed)

    async def run(self, stop: asyncio.Event) -> None:
        """Take up what was left, serve until the input ends or `stop` is set, then drain."""
        done = asyncio.Event()
        watching = asyncio.create_task(self._core.watch(done))
        warming = asyncio.create_task(self._core.models.prepare())
        self.engine.recover()
        outbox_s = 0.0  # when the channel fails, nothing more can be delivered
        try:
            await self._adapter.start(self.engine)
            await self._served(stop)
            outbox_s = DRAIN_OUTBOX_S
        finally:
            done.set()
            warming.cancel()
            await self._adapter.stop(DRAIN_OUTBOX_S)
            await self.engine.drain(DRAIN_TURNS_S, outbox_s)
            await asyncio.wait((watching, warming))
            await self._core.models.aclose()
            await self._core.bus.close()

    async def _served(self, stop: asyncio.Event) -> None:
        """Return when the input has ended and is answered, or when `stop` is set.

        Raises:
            StorageError: the store has failed for good.
        """
        ending = asyncio.create_task(self._ended())
        stopping = asyncio.create_task(self.engine.until(stop))
        await asyncio.wait((ending, stopping), return_when=asyncio.FIRST_COMPLETED)
        for task in (ending, stopping):
            if task.done():
                task.result()
            else:
                task.cancel()

    async def _ended(self) -> None:
        await self._adapter.closed()
        await self.engine.idle()

    def _adapter_of(self, target: ReplyTarget) -> ChannelAdapter | None:
        served = target.channel == "console" and self._adapter.serves(target)
        return self._adapter if served else None


@asynccontextmanager
async def open_chat(
    settings: Settings, console: Mapping[str, object], holder: str
) -> AsyncGenerator[Chat]:
    """Hold the workspace, open the store, load the plugins, and make the console's channel.

    Raises:
        StorageError: the workspace is held by another process, or the store cannot be opened.
        ConfigError: the keyword table is wrong, there is no console channel, or a model is
        configured without its library.
    """
    check_models(settings)
    clock = SystemClock()
    with WorkspaceLock(settings.workspace).hold(holder, clock.now()):
        texts = load_texts(settings)
        plugins = load_plugins(settings, texts)
        adapter = local_adapter(plugins, console)
        store = open_store(settings.workspace, clock, dedup_days=settings.bus.dedup_days)
        try:
            core = build_core(settings, store, clock, texts, plugins)
            yield Chat(core, adapter)
        finally:
            await store.close()


def local_adapter(plugins: Plugins, console: Mapping[str, object]) -> LocalAdapter:
    """The console's adapter.

    Raises:
        ConfigError: no plugin brings a console.
    """
    plugin = plugins.channels.get("console")
    adapter = None if plugin is None else plugin.create("default", console)
    if not isinstance(adapter, LocalAdapter):
        raise ConfigError("config.no-console")
    return adapter
