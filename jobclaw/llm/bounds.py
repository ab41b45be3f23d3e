"""Bounds what a model's server may send, before anybody reads it into memory.

litellm reads an answer whole, and unpacks it first: a megabyte that was packed well becomes
gigabytes, on the event loop. So answers are asked for unpacked, and end where none is any more.
"""

from __future__ import annotations

import importlib
from collections.abc import AsyncIterator, Awaitable, Callable

import httpx

ANSWER_MOST = 1024 * 1024
_PLACE = "litellm.llms.custom_httpx.aiohttp_transport"
_CLASS = "LiteLLMAiohttpTransport"
_METHOD = "handle_async_request"
Ask = Callable[[object, httpx.Request], Awaitable[httpx.Response]]


class _Bounded(httpx.AsyncByteStream):
    """A body that breaks off when it is too long."""

    def __init__(self, body: httpx.AsyncByteStream) -> None:
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """The parts of the body."""
        length = 0
        async for part in self._body:
            length += len(part)
            if length > ANSWER_MOST:
                raise httpx.RemoteProtocolError(f"an answer of more than {ANSWER_MOST} bytes")
            yield part

    async def aclose(self) -> None:
        """Close the body."""
        await self._body.aclose()


def bounded(ask: Ask) -> Ask:
    """The same, but its answers are unpacked and not too long."""

    async def handle_async_request(transport: object, request: httpx.Request) -> httpx.Response:
        request.headers["accept-encoding"] = "identity"
        response = await ask(transport, request)
        packing = response.headers.get("content-encoding", "identity")
        if packing.strip().lower() != "identity":
            await response.aclose()
            raise httpx.RemoteProtocolError(f"an answer packed with {packing}, unasked")
        if isinstance(response.stream, httpx.AsyncByteStream):
            response.stream = _Bounded(response.stream)
        return response

    return handle_async_request


def bound_answers() -> None:
    """Put the bounds between litellm and every server."""
    transport = getattr(importlib.import_module(_PLACE), _CLASS)
    setattr(transport, _METHOD, bounded(getattr(transport, _METHOD)))
