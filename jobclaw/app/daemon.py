"""The daemon: enabled channels, terminals, and the web server, around one engine.

It ends in this order: nothing new is accepted, running turns finish, what they said is
delivered, streams and connections close, the store folds its log.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from jobclaw.app.channels import CONSOLE, Channels, open_channels
from jobclaw.app.core import Core, SystemClock, build_core, load_plugins, load_texts
from jobclaw.app.engine import DRAIN_OUTBOX_S, DRAIN_TURNS_S, Engine
from jobclaw.app.models import check_models
from jobclaw.bus.topics import AGENT_FAILED, MESSAGE_HANDLED, OPERATOR_NOTICE
from jobclaw.model import Locale, ReplyTarget
from jobclaw.observe.metrics import Metrics, Stored
from jobclaw.observe.redaction import Redactor
from jobclaw.service.local_operations import LocalOperations
from jobclaw.service.metering import Metering
from jobclaw.service.notices import Notices
from jobclaw.service.roster import Roster
from jobclaw.settings import Settings
from jobclaw.spi.channel import ChannelAdapter, ChannelHealth
from jobclaw.spi.llm import ModelState
from jobclaw.spi.store import OutboxRow
from jobclaw.storage import WorkspaceLock, open_store
from jobclaw.web.bind import check_bind
from jobclaw.web.server import WebParts, WebServer, build_web
from jobclaw.web.terminals import Terminals
from jobclaw.web.token import OperatorToken

WEB_GRACE_S = 2.0
_log = logging.getLogger(__name__)


class Daemon:
    """One running jobclaw; see `service.operations.Running` for what operations ask of it."""

    def __init__(self, core: Core, channels: Channels, token: OperatorToken) -> None:
        self._core = core
        self._channels = channels
        self.engine = Engine(core, self._adapter_of)
        self._terminals = Terminals(self.engine, core.clock.now)
        self._serves_console = CONSOLE in core.settings.channels.enabled()
        self._stopping = False
        stored = Stored(core.store, core.clock, self.models)
        metrics = Metrics(core.clock, stored)
        self._metering = Metering(core.bus, metrics)
        self._web = self._server(token, metrics)
        core.bus.attach(MESSAGE_HANDLED, self._terminals.decided)
        core.bus.attach(AGENT_FAILED, self._terminals.failed)
        notices = Notices(
            core.texts,
            core.settings.locale.default,
            core.settings.operator.notify,
            core.store,
            self.dispatch,
        )
        core.bus.subscribe(OPERATOR_NOTICE, "notices", notices.send)

    @property
    def redactor(self) -> Redactor:
        """Knows the secrets of this deployment, the operator's token among them."""
        return self._core.redactor

    async def run(self, stop: asyncio.Event, started: Callable[[str], None]) -> None:
        """Serve until `stop` is set, then drain; `started` hears the address.

        Raises:
            ConfigError: the web server's address cannot be had.
            StorageError: the store has failed for good.
        """
        done = asyncio.Event()
        watching = asyncio.create_task(self._core.watch(done))
        warming = asyncio.create_task(self._core.models.warm())
        try:
            await self._web.start()
            self.engine.outbox.hold()
            self.engine.recover()
            await self._channels.start(self.engine)
            self.engine.outbox.open()
            self._metering.start()
            started(self._web.address)
            await self.engine.until(stop)
        finally:
            done.set()
            warming.cancel()
            await self._stop()
            await asyncio.gather(watching, warming, return_exceptions=True)

    def channels(self) -> dict[str, ChannelHealth]:
        """See `Running.channels`."""
        found = self._channels.health()
        if self._serves_console:
            found[CONSOLE] = self._terminals.health()
        return found

    def serves(self, channel: str, account: str) -> bool:
        """See `Running.serves`."""
        is_console = channel == CONSOLE and self._serves_console
        return is_console or self._channels.has(channel, account)

    def models(self) -> tuple[ModelState, ...]:
        """See `Running.models`."""
        return self._core.models.states()

    def dispatch(self, rows: tuple[OutboxRow, ...]) -> None:
        """See `Running.dispatch`."""
        self.engine.outbox.dispatch(rows)

    def accepts(self) -> bool:
        """Whether new messages are taken; not while it drains."""
        return not self._stopping

    async def _stop(self) -> None:
        self._stopping = True
        _log.info("stopping: no new messages; what is under way is finished")
        await self._channels.stop(DRAIN_OUTBOX_S, web=False)
        await self.engine.drain(DRAIN_TURNS_S, DRAIN_OUTBOX_S)
        await self._metering.stop()
        await self._channels.stop(DRAIN_OUTBOX_S, web=True)
        self._terminals.close()
        await self._web.stop(WEB_GRACE_S)
        await self._core.models.aclose()
        await self._core.bus.close()

    def _server(self, token: OperatorToken, metrics: Metrics) -> WebServer:
        core, settings = self._core, self._core.settings
        operations = LocalOperations(
            core.store,
            core.clock,
            lambda: Roster(core.plugins, core.texts),
            lambda: core,
            running=self,
        )
        parts = WebParts(
            settings=settings.web,
            texts=core.texts,
            locale=settings.locale.default,
            clock=core.clock,
            token=token,
            operations=operations,
            metrics=metrics,
            accepts=self.accepts,
            terminals=self._terminals if self._serves_console else None,
            channels=self._channels.served_by_web,
        )
        return WebServer(build_web(parts), settings.web.host, settings.web.port)

    def _adapter_of(self, target: ReplyTarget) -> ChannelAdapter | None:
        if target.channel == CONSOLE:
            return self._terminals.serving(target)
        return self._channels.of(target)


@asynccontextmanager
async def open_daemon(
    settings: Settings, locale: Locale, *, allow_remote: bool
) -> AsyncGenerator[tuple[Daemon, WorkspaceLock]]:
    """Hold the workspace and make the daemon; `locale` is that of whoever reads errors.

    Raises:
        StorageError: the workspace is held by another process, or the store cannot be opened.
        ConfigError: a setting, a table, a channel or the operator's token cannot be used.
    """
    check_models(settings)
    clock = SystemClock()
    with WorkspaceLock(settings.workspace).hold("run", clock.now()) as lock:
        token = OperatorToken(
            settings.web.operator_token.get_secret_value(), settings.workspace
        )
        check_bind(settings.web, token.prepare(), allow_remote=allow_remote)
        texts = load_texts(settings)
        plugins = await asyncio.to_thread(load_plugins, settings, texts)
        store = open_store(settings.workspace, clock, dedup_days=settings.bus.dedup_days)
        try:
            core = build_core(settings, store, clock, texts, plugins)
            core.redactor.add(token.prepare())
            channels = await asyncio.to_thread(
                open_channels, settings, plugins, locale, clock.now
            )
            yield Daemon(core, channels, token), lock
        finally:
            await store.close()
