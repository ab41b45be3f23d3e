"""Asks every check before a request reaches a route."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.types import ASGIApp, Receive, Scope, Send

from jobclaw.web.head import head_of
from jobclaw.web.pages import Pages
from jobclaw.web.refusal import Check

_POLICY_VIOLATION = 1008


class Gate:
    """The first check that refuses answers; a websocket is closed before it is opened."""

    def __init__(self, app: ASGIApp, checks: Sequence[Check], pages: Pages) -> None:
        self._app = app
        self._checks = tuple(checks)
        self._pages = pages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        head = head_of(scope)
        for check in self._checks:
            refusal = check(head)
            if refusal is None:
                continue
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": _POLICY_VIOLATION})
            else:
                await self._pages.refuse(head, refusal)(scope, receive, send)
            return
        await self._app(scope, receive, send)
