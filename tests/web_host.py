"""A real core, store and web server on loopback, for tests of the server."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
from yarl import URL

from jobclaw.app.core import Core, SystemClock, build_core, load_plugins, load_texts
from jobclaw.app.engine import Engine
from jobclaw.model import Conversation, InboundMessage, ReplyTarget, Sender
from jobclaw.observe.metrics import Metrics, Stored
from jobclaw.service.local_operations import LocalOperations
from jobclaw.service.metering import Metering
from jobclaw.service.roster import Roster
from jobclaw.settings import Settings, load_settings
from jobclaw.spi.channel import ChannelAdapter, ChannelHealth
from jobclaw.spi.clock import Clock
from jobclaw.spi.http import HttpChannel
from jobclaw.spi.llm import ModelState
from jobclaw.spi.store import OutboxRow
from jobclaw.storage import open_store
from jobclaw.web.server import WebParts, WebServer, build_web
from jobclaw.web.token import OperatorToken

TOKEN = "an-operator-token-of-more-than-32-bytes"  # noqa: S105 - of a test
STOP_S = 2.0


@dataclass
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)


@dataclass
class Surroundings:
    """A daemon's part of the operations; tests set what they need."""

    engine: Engine
    served: set[str] = field(default_factory=lambda: {"console"})
    health: dict[str, ChannelHealth] = field(default_factory=dict[str, ChannelHealth])
    llm: tuple[ModelState, ...] = ()

    def channels(self) -> dict[str, ChannelHealth]:
        return self.health

    def serves(self, channel: str, account: str) -> bool:
        return channel in self.served and account == "default"

    def models(self) -> tuple[ModelState, ...]:
        return self.llm

    def dispatch(self, rows: tuple[OutboxRow, ...]) -> None:
        self.engine.outbox.dispatch(rows)


class Host:
    """A running server and what is behind it."""

    def __init__(self, core: Core, around: Surroundings, server: WebServer) -> None:
        self.core = core
        self.engine = around.engine
        self.around = around
        self.server = server
        self.address = server.address
        self.http: aiohttp.ClientSession

    @property
    def netloc(self) -> str:
        return self.address.removeprefix("http://")

    @property
    def token_file(self) -> Path:
        return self.core.settings.workspace / "operator.token"

    async def ask(
        self, path: str, method: str = "GET", *, token: str = "", **options: Any
    ) -> Answer:
        """One request, redirects shown; `token` is borne."""
        headers = dict(options.pop("headers", {}))
        if token:
            headers["Authorization"] = f"Bearer {token}"
        async with self.http.request(
            method,
            URL(f"{self.address}{path}", encoded=True),
            headers=headers,
            allow_redirects=False,
            **options,
        ) as response:
            found = {name.lower(): value for name, value in response.headers.items()}
            return Answer(response.status, found, await response.text())

    async def api(self, path: str, method: str = "GET", **options: Any) -> Answer:
        """One request to the API by the operator."""
        return await self.ask(f"/api/v1{path}", method, token=TOKEN, **options)

    async def say(self, text: str, sender: str = "u1", chat: str = "") -> str:
        """A message from a direct chat of the console, handled; returns its id."""
        target = ReplyTarget(channel="console", account="default", conversation=chat or sender)
        accepted = await self.engine.accept(
            InboundMessage(
                channel="console",
                account="default",
                conversation=Conversation(
                    id=chat or sender, kind="group" if chat else "direct"
                ),
                sender=Sender(id=sender, name=sender),
                reply=target,
                received_at=self.core.clock.now(),
                text=text,
                text_raw=text,
            )
        )
        await self.engine.idle()
        return accepted.message_id


@asynccontextmanager
async def serving(
    settings: Settings,
    *,
    channels: Sequence[HttpChannel] = (),
    adapter: ChannelAdapter | None = None,
    clock: Clock | None = None,
) -> AsyncGenerator[Host]:
    """Serve a deployment; what is delivered goes to `adapter`, `clock` is the server's."""
    store = open_store(settings.workspace, SystemClock())
    texts = load_texts(settings)
    core = build_core(settings, store, SystemClock(), texts, load_plugins(settings, texts))
    engine = Engine(core, lambda _: adapter)
    around = Surroundings(engine)
    parts = _parts(core, around, clock or core.clock, channels)
    metering = Metering(core.bus, parts.metrics)
    server = WebServer(build_web(parts), settings.web.host, 0)
    metering.start()
    await server.start()
    host = Host(core, around, server)
    try:
        async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as http:
            host.http = http
            yield host
    finally:
        await server.stop(STOP_S)
        await metering.stop()
        await engine.drain(STOP_S, STOP_S)
        await core.bus.close()
        await store.close()


def _parts(
    core: Core, around: Surroundings, clock: Clock, channels: Sequence[HttpChannel]
) -> WebParts:
    settings = core.settings
    roster = Roster(core.plugins, core.texts)
    token = OperatorToken(settings.web.operator_token.get_secret_value(), settings.workspace)
    token.prepare()
    return WebParts(
        settings=settings.web,
        texts=core.texts,
        locale=settings.locale.default,
        clock=clock,
        token=token,
        operations=LocalOperations(
            core.store, core.clock, lambda: roster, lambda: core, around
        ),
        metrics=Metrics(core.clock, Stored(core.store, core.clock, around.models)),
        channels=channels,
    )


def settings_in(folder: Path, web: str = f"operator_token: {TOKEN}") -> Settings:
    """A configuration without the profile questions, and with these settings of the server."""
    config = folder / "config" / "jobclaw.yaml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(
        f'web: {{{web}}}\nrouter: {{identity_gate: "off"}}\nplugins: {{watch: false}}\n',
        "utf-8",
    )
    return load_settings(config, {})
