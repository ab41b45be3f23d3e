"""Builds the web application, and serves it inside the daemon's own event loop.

From outside in, a request meets: the headers that all answers carry, the log, the gate (limits,
host, origin, address, token), the body limit, the net for faults, and then a route.
"""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import uvicorn
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from jobclaw.errors import ConfigError
from jobclaw.model import Locale
from jobclaw.observe.metrics import Metrics
from jobclaw.service.operations import Operations
from jobclaw.settings.services import WebSettings
from jobclaw.spi.clock import Clock
from jobclaw.spi.http import HttpChannel
from jobclaw.texts import Catalogue
from jobclaw.web.access import AccessLog
from jobclaw.web.api.document import PREFIX, build_api
from jobclaw.web.api.terminals import terminals_router
from jobclaw.web.assets import assets_route
from jobclaw.web.authentication import ApiCheck, Authenticator, check_address
from jobclaw.web.bodies import BodyLimit
from jobclaw.web.channel_routes import ChannelRoutes
from jobclaw.web.connections import PunctualProtocol
from jobclaw.web.console.entrance import HOME, Entrance
from jobclaw.web.console.logins import Logins
from jobclaw.web.console.overview import Console
from jobclaw.web.descriptors import make_room
from jobclaw.web.faults import Faults
from jobclaw.web.gate import Gate
from jobclaw.web.headers import SecurityHeaders
from jobclaw.web.health import HealthRoutes
from jobclaw.web.hosts import HostCheck, HostList, OriginCheck
from jobclaw.web.limiter import RequestLimit
from jobclaw.web.pages import Pages
from jobclaw.web.stopping import StoppingCheck
from jobclaw.web.terminals import Terminals
from jobclaw.web.token import OperatorToken

CHAT = "/chat"
_KEEP_ALIVE_S = 15
_CANCEL_S = 1.0


@dataclass(frozen=True)
class WebParts:
    """What the web server is made of; `channels` are those that have routes.

    `accepts` says whether new messages are taken; `terminals` are those of other processes.
    """

    settings: WebSettings
    texts: Catalogue
    locale: Locale
    clock: Clock
    token: OperatorToken
    operations: Operations
    metrics: Metrics
    channels: Sequence[HttpChannel] = ()
    accepts: Callable[[], bool] = lambda: True
    terminals: Terminals | None = None


def build_web(parts: WebParts) -> ASGIApp:
    """The whole application."""
    pages = Pages(parts.texts, parts.locale)
    secure = parts.settings.public_url.startswith("https:")
    channels = ChannelRoutes(parts.channels, secure=secure)
    authenticator = Authenticator(parts.token, parts.clock)
    app = build_api(parts.operations, pages)
    app.add_middleware(Faults, pages=pages)
    if parts.terminals is not None:
        app.include_router(terminals_router(parts.terminals), prefix=PREFIX)
    _add_pages(app, parts, authenticator, pages)
    app.router.routes.extend(channels.routes)
    app.router.routes.append(_home(CHAT if channels.has(CHAT) else HOME))
    hosts = HostList(parts.settings)
    checks = (
        RequestLimit(parts.clock, channels.is_signed),
        HostCheck(hosts),
        OriginCheck(hosts, channels.is_signed),
        StoppingCheck(parts.accepts),
        check_address,
        ApiCheck(authenticator, PREFIX),
    )
    limited = BodyLimit(app, channels.body_most, pages.refuse)
    return SecurityHeaders(AccessLog(Gate(limited, checks, pages)))


def _add_pages(
    app: FastAPI, parts: WebParts, authenticator: Authenticator, pages: Pages
) -> None:
    secure = parts.settings.public_url.startswith("https:")
    entrance = Entrance(authenticator, Logins(parts.clock), pages, secure=secure)
    health = HealthRoutes(parts.operations, parts.metrics, authenticator, pages)
    app.router.routes.extend(health.routes)
    app.router.routes.extend(Console(parts.operations, entrance, pages).routes)
    app.router.routes.append(assets_route(f"{HOME}/static/{{name}}"))


def _home(target: str) -> Route:
    async def go(_: Request) -> Response:
        return RedirectResponse(target, 307)

    return Route("/", go)


class _Server(uvicorn.Server):
    """Leaves signals to the daemon, and says when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = asyncio.Event()

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Install nothing: a signal ends the daemon, and that ends us."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """See uvicorn."""
        await super().startup(sockets)
        self.listening.set()


class WebServer:
    """Serves an application on one address; port 0 takes any free one."""

    def __init__(self, app: ASGIApp, host: str, port: int) -> None:
        self._app = app
        self._wanted = (host, port)
        self._server: _Server | None = None
        self._serving: asyncio.Task[None] | None = None
        self.address = ""

    async def start(self) -> None:
        """Listen; returns when requests are answered.

        Raises:
            ConfigError: the address cannot be had.
        """
        room = make_room()
        listener = _listen(*self._wanted, room.backlog)
        config = uvicorn.Config(
            self._app,
            http=PunctualProtocol,
            lifespan="off",
            ws="none",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=room.connections,
            timeout_keep_alive=_KEEP_ALIVE_S,
            backlog=room.backlog,
        )
        server = self._server = _Server(config)
        self._serving = asyncio.create_task(server.serve([listener]), name="web server")
        ready = asyncio.create_task(server.listening.wait())
        await asyncio.wait((self._serving, ready), return_when=asyncio.FIRST_COMPLETED)
        ready.cancel()
        if self._serving.done():
            self._serving.result()
        host, port = listener.getsockname()[:2]
        self.address = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

    async def stop(self, grace_s: float) -> None:
        """Accept nothing more, and give requests under way `grace_s` seconds."""
        if self._server is None or self._serving is None:
            return
        self._server.config.timeout_graceful_shutdown = max(1, round(grace_s))
        self._server.should_exit = True
        await self._serving
        cancelled = self._server.server_state.tasks
        if cancelled:  # what outlived its grace closes its streams before we are gone
            await asyncio.wait(cancelled, timeout=_CANCEL_S)


def _listen(host: str, port: int, backlog: int) -> socket.socket:
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(
            host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        raise ConfigError("http.no-address", host=host, problem=_said(error)) from error
    try:
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(place)
        listener.listen(backlog)
        listener.settimeout(0)
    except OSError as error:
        listener.close()
        raise _unusable(host, port, error) from error
    return listener


def _unusable(host: str, port: int, error: OSError) -> ConfigError:
    if error.errno == errno.EADDRINUSE:
        return ConfigError("http.port-taken", port=port)
    if error.errno == errno.EACCES:
        return ConfigError("http.port-forbidden", port=port)
    return ConfigError("http.no-address", host=host, problem=_said(error))


def _said(error: OSError) -> str:
    return error.strerror or str(error)
