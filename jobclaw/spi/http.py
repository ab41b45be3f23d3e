"""The port of HTTP: what a channel serves through the daemon's one web server.

The server has checked the Host, and for anything but GET and HEAD the Origin, before a route is
asked; it adds the security headers. Bodies arrive as they were sent, so that a signature can be
checked.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Literal, Protocol, runtime_checkable

import msgspec
from msgspec import field

from jobclaw.spi.channel import ChannelAdapter

BODY_MOST = 1024 * 1024


class RawRequest(msgspec.Struct, frozen=True):
    """One request. Header and cookie names are lower case; `params` come from the path.

    `client` is the canonical address of the peer; `secure`: people reach the server by https
    (`web.public_url`).
    """

    method: str
    path: str
    params: Mapping[str, str] = field(default_factory=dict[str, str])
    query: Mapping[str, str] = field(default_factory=dict[str, str])
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    cookies: Mapping[str, str] = field(default_factory=dict[str, str])
    body: bytes = b""
    client: str = ""
    secure: bool = False


class RawResponse(msgspec.Struct, frozen=True):
    """One response; an iterator as `body` is sent as it comes and closed when the peer goes."""

    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | AsyncIterator[bytes] = b""


class HttpRoute(msgspec.Struct, frozen=True):
    """A path that a channel answers, such as `/chat/files/{name}`.

    `body_most` in bytes: a longer body is refused with 413 before the route is asked. `signed`:
    a platform calls it, which sends no Origin; the route checks who it is.
    """

    method: Literal["GET", "POST", "DELETE"]
    path: str
    handle: Callable[[RawRequest], Awaitable[RawResponse]]
    body_most: int = BODY_MOST
    signed: bool = False


@runtime_checkable
class HttpChannel(ChannelAdapter, Protocol):
    """A channel that people or platforms reach through the daemon's web server."""

    def routes(self) -> Sequence[HttpRoute]:
        """What it answers, asked once before `start`."""
        ...
