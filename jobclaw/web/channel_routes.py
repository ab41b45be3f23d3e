"""Puts the routes of channels on the server."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from jobclaw.spi.http import HttpChannel, HttpRoute, RawRequest, RawResponse
from jobclaw.web.addresses import canonical
from jobclaw.web.bodies import BODY_MOST
from jobclaw.web.head import head_of

_OWN = ("/api", "/console", "/healthz", "/readyz", "/metrics")
_log = logging.getLogger(__name__)


class Streamed(Response):
    """Sends an iterator as it comes, and closes it as soon as the peer has gone."""

    def __init__(self, raw: RawResponse, body: AsyncIterator[bytes]) -> None:
        super().__init__(status_code=raw.status)
        self._body = body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until the body ends or nobody reads it."""
        sending = asyncio.create_task(self._send(scope, send))
        gone = asyncio.create_task(_gone(receive))
        try:
            await asyncio.wait((sending, gone), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (sending, gone):
                task.cancel()
            results = await asyncio.gather(sending, gone, return_exceptions=True)
            await _close(self._body)
        failure = results[0]
        if isinstance(failure, Exception):
            raise failure

    async def _send(self, scope: Scope, send: Send) -> None:
        headers = [pair for pair in self.raw_headers if pair[0] != b"content-length"]
        await send(
            {"type": "http.response.start", "status": self.status_code, "headers": headers}
        )
        if scope["method"] != "HEAD":
            async for chunk in self._body:
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _close(body: AsyncIterator[bytes]) -> None:
    close = getattr(body, "aclose", None)
    if close is not None:
        await close()


class ChannelRoutes:
    """The routes of all channels that have some, and what is to be known of them beforehand."""

    def __init__(self, channels: Iterable[HttpChannel], *, secure: bool) -> None:
        self._secure = secure
        self._declared: list[tuple[Route, HttpRoute]] = []
        for channel in channels:
            self._add(channel)

    @property
    def routes(self) -> list[BaseRoute]:
        """The routes, to be mounted."""
        return [route for route, _ in self._declared]

    def is_signed(self, method: str, path: str) -> bool:
        """Whether a platform calls this and signs it."""
        found = self._find(method, path)
        return found is not None and found.signed

    def body_most(self, method: str, path: str) -> int:
        """How long a body may be, in bytes."""
        found = self._find(method, path)
        return BODY_MOST if found is None else found.body_most

    def has(self, path: str) -> bool:
        """Whether a page is there."""
        return self._find("GET", path) is not None

    def _find(self, method: str, path: str) -> HttpRoute | None:
        scope: Scope = {"type": "http", "method": method, "path": path}
        for route, declared in self._declared:
            if route.matches(scope)[0] is Match.FULL:
                return declared
        return None

    def _add(self, channel: HttpChannel) -> None:
        try:
            declared = tuple(channel.routes())
            for route in declared:
                self._mount(route)
        except Exception:  # noqa: BLE001 - an adapter's own code; the others are served
            _log.exception("a channel's routes cannot be had")

    def _mount(self, route: HttpRoute) -> None:
        if route.path.startswith(_OWN) or not route.path.startswith("/"):
            _log.error("the route %s of a channel is left out: it is ours", route.path)
            return
        endpoint = _Endpoint(route, secure=self._secure)
        self._declared.append((Route(route.path, endpoint, methods=[route.method]), route))


class _Endpoint:
    """One route as an ASGI application."""

    def __init__(self, route: HttpRoute, *, secure: bool) -> None:
        self._route = route
        self._secure = secure

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Ask the route and send what it says."""
        request = Request(scope, receive)
        raw = await self._route.handle(await self._raw(request))
        await _response(raw)(scope, receive, send)

    async def _raw(self, request: Request) -> RawRequest:
        head = head_of(request.scope)
        return RawRequest(
            method=head.method,
            path=head.path,
            params={name: str(value) for name, value in request.path_params.items()},
            query=dict(request.query_params),
            headers=head.headers,
            cookies=request.cookies,
            body=await request.body(),
            client=canonical(head.peer),
            secure=self._secure,
        )


def _response(raw: RawResponse) -> ASGIApp:
    body = raw.body
    response = Response(body, raw.status) if isinstance(body, bytes) else Streamed(raw, body)
    for name, value in raw.headers:
        if name.lower() != "content-length":  # counted by us, or streamed
            response.headers.append(name, value)
    return response
