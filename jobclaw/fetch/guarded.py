"""Fetches over https, resolving each host once and connecting to what was checked.

A name is resolved here, every address of it must be public, and the connection goes to those
addresses and no others, so that a second answer of the same name server changes nothing. Each
redirect is checked in the same way. Hosts of `fetch.allow_hosts` may be private, and may be
asked over http.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from jobclaw import __version__
from jobclaw.fetch.addresses import is_public
from jobclaw.spi.fetch import BYTES_MOST, DEADLINE_S, Fetched, FetchError

REDIRECTS_MOST = 3
CHUNK = 64 * 1024
_MOVED = frozenset({301, 302, 303, 307, 308})
_HEADERS = {"User-Agent": f"jobclaw/{__version__}", "Accept-Encoding": "identity"}
Lookup = Callable[[str, int], Awaitable[Sequence[str]]]


class NotPublicError(OSError):
    """A name leads to an address that is not public."""


async def look_up(host: str, port: int) -> Sequence[str]:
    """The addresses of a name, as the system resolves it."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(place[0]) for *_, place in found]


class _Resolver(AbstractResolver):
    """Gives the connector addresses that were checked."""

    def __init__(self, look_up: Lookup, allowed: frozenset[str]) -> None:
        self._look_up = look_up
        self._allowed = allowed

    async def resolve(
        self,
        host: str,
        port: int = 0,
        family: socket.AddressFamily = socket.AF_INET,  # noqa: ARG002 - the addresses say
    ) -> list[ResolveResult]:
        """See aiohttp."""
        addresses = await self._look_up(host, port)
        if host not in self._allowed and not all(map(is_public, addresses)):
            raise NotPublicError(host)
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for address in addresses
        ]

    async def close(self) -> None:
        """Nothing to close."""


class GuardedFetcher:
    """See `spi.Fetcher`; every fetch has a connection of its own, no cookies and no proxy."""

    def __init__(self, allow_hosts: Sequence[str], look_up: Lookup = look_up) -> None:
        self._allowed = frozenset(host.lower() for host in allow_hosts)
        self._look_up = look_up

    async def get(
        self, url: str, *, bytes_most: int = BYTES_MOST, deadline_s: float = DEADLINE_S
    ) -> Fetched:
        """See `spi.Fetcher.get`."""
        place = self._checked(url, url)
        try:
            async with asyncio.timeout(deadline_s), self._session() as session:
                for _ in range(REDIRECTS_MOST + 1):
                    found = await self._ask(session, place, bytes_most)
                    if isinstance(found, Fetched):
                        return found
                    place = self._checked(found, url)
        except TimeoutError as error:
            raise FetchError("timeout", url) from error
        except aiohttp.ClientConnectorError as error:
            private = isinstance(error.os_error, NotPublicError)
            raise FetchError("private" if private else "network", url) from error
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise FetchError("network", url) from error
        raise FetchError("redirects", url)

    def _session(self) -> aiohttp.ClientSession:
        resolver = _Resolver(self._look_up, self._allowed)
        connector = aiohttp.TCPConnector(
            resolver=resolver, use_dns_cache=False, force_close=True
        )
        return aiohttp.ClientSession(
            connector=connector,
            headers=_HEADERS,
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
            auto_decompress=False,
            timeout=aiohttp.ClientTimeout(total=None),
        )

    def _checked(self, text: str, asked: str) -> URL:
        """The address, if it may be asked; numbers as hosts are checked here, names later."""
        try:
            place = URL(text)
            host = (place.host or "").lower()
            port = place.port
        except ValueError as error:
            raise FetchError("address", asked) from error
        if not host or place.user is not None or place.password is not None or port is None:
            raise FetchError("address", asked)
        allowed = host in self._allowed
        if place.scheme != "https" and not (allowed and place.scheme == "http"):
            raise FetchError("scheme", asked)
        if not allowed and _is_number(host) and not is_public(host):
            raise FetchError("private", asked)
        return place.with_fragment(None)

    async def _ask(
        self, session: aiohttp.ClientSession, place: URL, bytes_most: int
    ) -> Fetched | str:
        """What is there, or where it has moved to."""
        async with session.get(place, allow_redirects=False) as response:
            if response.status in _MOVED and "Location" in response.headers:
                return str(place.join(URL(response.headers["Location"])))
            if response.headers.get("Content-Encoding", "identity").lower() != "identity":
                raise FetchError("encoding", str(place))
            if (response.content_length or 0) > bytes_most:
                raise FetchError("size", str(place))
            body = bytearray()
            async for chunk in response.content.iter_chunked(CHUNK):
                body += chunk
                if len(body) > bytes_most:
                    raise FetchError("size", str(place))
            return Fetched(
                url=str(place),
                status=response.status,
                media_type=response.content_type,
                body=bytes(body),
            )


def _is_number(host: str) -> bool:
    """Whether a host is an address already, which no resolver is asked about."""
    try:
        socket.getaddrinfo(host, None, flags=socket.AI_NUMERICHOST)
    except OSError:
        return False
    return True
