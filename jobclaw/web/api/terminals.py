"""`/terminals`: how `jobclaw chat` talks through a running daemon.

Not part of the documented API: both ends are jobclaw's own, and of the same version.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import TypeVar

import msgspec
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from jobclaw.model import DeliveryReceipt, InboundMessage, from_json
from jobclaw.service.refusals import InvalidError, NotFoundError
from jobclaw.spi.http import RawResponse
from jobclaw.web.channel_routes import Streamed
from jobclaw.web.pages import json_of
from jobclaw.web.terminals import CHANNEL, Attaching, Terminal, Terminals

T = TypeVar("T")
_LINES = (("content-type", "application/x-ndjson"), ("x-accel-buffering", "no"))


def terminals_router(terminals: Terminals) -> APIRouter:
    """The paths."""
    router = APIRouter(prefix="/terminals", include_in_schema=False)

    @router.post("")
    async def attach(request: Request) -> Response:
        """Stream what is to be shown until the terminal goes."""
        body = _attached(terminals, await _read(request, Attaching))
        streamed = Streamed(RawResponse(body=body), body)
        for name, value in _LINES:
            streamed.headers[name] = value
        return streamed

    @router.post("/{terminal_id}/messages")
    async def say(terminal_id: str, request: Request) -> Response:
        """Accept what was written; answered when it is on disk."""
        terminal = _known(terminals, terminal_id)
        message = await _read(request, InboundMessage)
        if message.channel != CHANNEL or message.reply.channel != CHANNEL:
            raise InvalidError("terminal.other-channel", channel=message.channel)
        return json_of(await terminals.accept(terminal, message), 202)

    @router.post("/{terminal_id}/receipts/{number}")
    async def acknowledge(terminal_id: str, number: int, request: Request) -> Response:
        """Say whether a message was shown."""
        receipt = await _read(request, DeliveryReceipt)
        _known(terminals, terminal_id).acknowledge(number, receipt)
        return Response(status_code=204)

    @router.post("/{terminal_id}/waits/{number}")
    async def wait(terminal_id: str, number: int) -> Response:
        """Ask for an `idle` line when all that was said is answered and shown."""
        terminals.wait(_known(terminals, terminal_id), number)
        return Response(status_code=204)

    return router


async def _attached(terminals: Terminals, attaching: Attaching) -> AsyncGenerator[bytes]:
    """Attach when the first line is asked for: who left before that is never attached."""
    terminal = terminals.attach(attaching)
    try:
        async for line in terminal.stream():
            yield line
    finally:
        terminals.detach(terminal)


def _known(terminals: Terminals, terminal_id: str) -> Terminal:
    terminal = terminals.get(terminal_id)
    if terminal is None:
        raise NotFoundError("terminal.gone")
    return terminal


async def _read(request: Request, kind: type[T]) -> T:
    try:
        return from_json(await request.body(), kind)
    except msgspec.DecodeError as error:
        raise InvalidError("terminal.unreadable", problem=str(error)) from error
