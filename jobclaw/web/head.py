"""The head of a request, as the checks before any handler look at it."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qsl

import msgspec
from starlette.types import Scope

from jobclaw.model import Locale


class RequestHead(msgspec.Struct, frozen=True):
    """What is known before the body is read. `headers` are lower case, several of one joined.

    `port` is where the connection arrived; `upgrade`: it wants to become a websocket.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    query: str = ""
    peer: str = ""
    port: int = 0
    upgrade: bool = False

    def header(self, name: str) -> str:
        """A header by its lower-case name, empty when missing."""
        return self.headers.get(name, "")

    def asks(self) -> frozenset[str]:
        """The names of the parameters in the address."""
        pairs = parse_qsl(self.query, keep_blank_values=True, max_num_fields=None)
        return frozenset(name.lower() for name, _ in pairs)

    @property
    def changes(self) -> bool:
        """Whether it may change something, or opens a two-way stream."""
        return self.upgrade or self.method not in ("GET", "HEAD")


def head_of(scope: Scope) -> RequestHead:
    """Read the head of an ASGI request or websocket."""
    headers: dict[str, str] = {}
    for raw_name, raw_value in scope["headers"]:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    client, server = scope.get("client"), scope.get("server")
    is_socket = scope["type"] == "websocket"
    return RequestHead(
        method="GET" if is_socket else scope["method"],
        path=scope["path"],
        headers=headers,
        query=scope["query_string"].decode("latin-1"),
        peer=client[0] if client else "",
        port=(server[1] or 0) if server else 0,
        upgrade=is_socket or headers.get("upgrade", "").lower() == "websocket",
    )


def reader_language(accepted: str, otherwise: Locale) -> Locale:
    """The language of an Accept-Language header that we have and the reader likes best."""
    best, liked = otherwise, 0.0
    for part in accepted.split(","):
        tag, _, weight = part.partition(";")
        quality = _quality(weight)
        language = tag.strip().lower().partition("-")[0]
        if language in ("zh", "en") and quality > liked:
            best, liked = "zh" if language == "zh" else "en", quality
    return best


def _quality(weight: str) -> float:
    name, _, value = weight.strip().partition("=")
    if name.strip() != "q":
        return 1.0
    try:
        return min(float(value), 1.0)
    except ValueError:
        return 0.0


def wants_page(head: RequestHead) -> bool:
    """Whether a person in a browser asks, who is shown a page instead of JSON."""
    return not head.path.startswith("/api/") and "text/html" in head.header("accept")
