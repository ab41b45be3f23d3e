"""Headers that every answer carries, whoever made it.

Pages with forms may tell our own server where they are: under `no-referrer` a browser sends
`Origin: null` with a form, which is refused.
"""

from __future__ import annotations

from collections.abc import Iterable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'"
)
_ALWAYS = (
    (b"content-security-policy", CSP.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
_REFERRER = b"referrer-policy"
_NAMES = frozenset({_REFERRER, *(name for name, _ in _ALWAYS)})
_WITH_FORMS = "/console"
_NEVER_KEPT = ("/api/", "/console", "/healthz", "/readyz", "/metrics")
_CACHE = b"cache-control"

Pairs = Iterable[tuple[bytes, bytes]]


class SecurityHeaders:
    """Adds the headers; those that a route set under the same names are replaced."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and its answer back."""

        async def adding(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = headers_of(scope["path"], message.get("headers", ()))
            await send(message)

        await self._app(scope, receive, adding)


def headers_of(path: str, given: Pairs) -> list[tuple[bytes, bytes]]:
    """The headers of an answer: `given` ones, and those that all have."""
    kept = [(name, value) for name, value in given if name.lower() not in _NAMES]
    cached = any(name.lower() == _CACHE for name, _ in kept)
    if path.startswith(_NEVER_KEPT) and not cached:
        kept.append((_CACHE, b"no-store"))
    referrer = b"same-origin" if path.startswith(_WITH_FORMS) else b"no-referrer"
    return [*kept, *_ALWAYS, (_REFERRER, referrer)]
