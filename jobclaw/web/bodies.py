"""Reads request bodies within a size and a time, before any handler is asked.

A handler gets the whole body at once or is not asked at all, so that no half of a request is
ever acted upon, and a peer that sends a byte a minute holds nothing but a connection.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from jobclaw.web.head import RequestHead, head_of
from jobclaw.web.refusal import Refusal

BODY_MOST = 1024 * 1024
BODY_WITHIN_S = 30.0

Show = Callable[[RequestHead, Refusal], ASGIApp]
LimitOf = Callable[[str, str], int]


class BodyLimit:
    """Refuses what is too long (413) or too slow (408); `limit_of` is asked method and path."""

    def __init__(self, app: ASGIApp, limit_of: LimitOf, show: Show) -> None:
        self._app = app
        self._limit_of = limit_of
        self._show = show

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the body, then pass the request on."""
        if scope["type"] != "http" or not _has_body(head := head_of(scope)):
            await self._app(scope, receive, send)
            return
        found = await self._read(head, receive)
        if isinstance(found, Refusal):
            await self._show(head, found)(scope, receive, send)
        elif found is not None:
            await self._app(scope, _replayed(found, receive), send)

    async def _read(self, head: RequestHead, receive: Receive) -> bytes | Refusal | None:
        """The body, why it is refused, or None when the peer has gone."""
        most = self._limit_of(head.method, head.path)
        too_long = Refusal(
            413, "http.too-long", {"most": str(most)}, headers=(("Connection", "close"),)
        )
        announced = head.header("content-length")
        if announced.isdecimal() and int(announced) > most:
            return too_long
        body = bytearray()
        try:
            async with asyncio.timeout(BODY_WITHIN_S):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return None
                    body += message.get("body", b"")
                    if len(body) > most:
                        return too_long
                    if not message.get("more_body", False):
                        return bytes(body)
        except TimeoutError:
            return Refusal(408, "http.too-slow", headers=(("Connection", "close"),))


def _has_body(head: RequestHead) -> bool:
    """Whether one may follow; after GET and HEAD only if it is announced."""
    if head.method not in ("GET", "HEAD"):
        return True
    return head.header("content-length") not in ("", "0") or "transfer-encoding" in head.headers


def _replayed(body: bytes, receive: Receive) -> Callable[[], Awaitable[Message]]:
    """Give the body once, then whatever comes."""
    whole: Message = {"type": "http.request", "body": body, "more_body": False}
    parts = iter([whole])

    async def again() -> Message:
        for part in parts:
            return part
        return await receive()

    return again
