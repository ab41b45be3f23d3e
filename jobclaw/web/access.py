"""Logs every request: what was asked and how it went, never the query or a header."""

from __future__ import annotations

import logging
import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from jobclaw.web.head import head_of

_log = logging.getLogger(__name__)


class AccessLog:
    """Writes one line for people who look for it (level debug)."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if not _log.isEnabledFor(logging.DEBUG):
            await self._app(scope, receive, send)
            return
        head, began, status = head_of(scope), time.monotonic(), 0

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noting)
        finally:
            ms = 1000 * (time.monotonic() - began)
            _log.debug(
                "request",
                extra={
                    "method": head.method,
                    "path": head.path,
                    "status": status,
                    "ms": round(ms, 1),
                    "peer": head.peer,
                },
            )
