"""Which host names and origins may speak to the server: an exact list, loopback included.

A page of any site can make a browser send requests to 127.0.0.1, and by DNS rebinding even read
the answers; what such a request cannot do is name us as its Host and its Origin.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import urlsplit

from jobclaw.errors import ConfigError
from jobclaw.settings.services import WebSettings
from jobclaw.web.addresses import is_loopback
from jobclaw.web.head import RequestHead
from jobclaw.web.refusal import Refusal

_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9][a-z0-9._-]*)(?::([0-9]{1,5}))?")
_OURS = frozenset({"127.0.0.1", "localhost", "[::1]"})
_EVERY_ADDRESS = frozenset({"", "0.0.0.0", "::", "[::]"})  # noqa: S104 - refused as a name
_PORTS = {"http": 80, "https": 443}
_EXEMPT = "/healthz"

Place = tuple[str, int | None]


def read_host(netloc: str) -> Place | None:
    """Host and port of a Host header, None if it is none."""
    found = _HOST.fullmatch(netloc.lower())
    if found is None:
        return None
    return found[1], int(found[2]) if found[2] else None


class HostList:
    """The names that we answer to.

    Raises:
        ConfigError: one of `web.allowed_hosts` is no name.
    """

    def __init__(self, settings: WebSettings) -> None:
        host = settings.host.lower()
        bound = f"[{host}]" if ":" in host and not host.startswith("[") else host
        self._own = _OURS | ({bound} - _EVERY_ADDRESS)
        self._named = tuple(map(_allowed, settings.allowed_hosts))
        public = urlsplit(settings.public_url)
        self._scheme = public.scheme
        self._public = read_host(public.netloc)

    def permits(self, netloc: str, port: int) -> bool:
        """Whether a Host header is ours, on a connection that arrived at `port`."""
        place = read_host(netloc)
        if place is None:
            return False
        host, asked = place
        if host in self._own and (asked or _PORTS["http"]) == port:
            return True
        if any(host == name and fixed in (None, asked) for name, fixed in self._named):
            return True
        return self._is_public(place)

    def permits_origin(self, origin: str, netloc: str, port: int) -> bool:
        """Whether an Origin is the page of ours at the Host `netloc`, or our public address."""
        scheme, _, place = origin.partition("://")
        at = read_host(place)
        if scheme not in _PORTS or at is None or not self.permits(place, port):
            return False
        if self._public is not None and at[0] == self._public[0]:
            return scheme == self._scheme and self._is_public(at)
        if at[0] in self._own:
            return scheme == "http"
        return _with_port(at, scheme) == _with_port(read_host(netloc), scheme)

    def _is_public(self, place: Place) -> bool:
        return self._public is not None and (
            _with_port(place, self._scheme) == _with_port(self._public, self._scheme)
        )


def _allowed(name: str) -> Place:
    place = read_host(name)
    if place is None:
        raise ConfigError("http.bad-host", host=name)
    return place


def _with_port(place: Place | None, scheme: str) -> Place | None:
    return None if place is None else (place[0], place[1] or _PORTS.get(scheme))


class HostCheck:
    """Refuses requests that name another host; `/healthz` may be asked under any."""

    def __init__(self, hosts: HostList) -> None:
        self._hosts = hosts

    def __call__(self, head: RequestHead) -> Refusal | None:
        """See `refusal.Check`."""
        named = head.header("host")
        if head.path == _EXEMPT or self._hosts.permits(named, head.port):
            return None
        if read_host(named) is None:
            return Refusal(403, "http.no-host")
        advice = f'web:\n  allowed_hosts: ["{named.lower()}"]'
        return Refusal(403, "http.foreign-host", {"host": named.lower()}, advice=advice)


class OriginCheck:
    """Refuses what a page of another site makes a browser send.

    A browser always says where a change comes from; a program that is no browser says nothing,
    and has no cookies of ours either. Routes that platforms call (`is_signed`) are exempt: they
    check a signature.
    """

    def __init__(self, hosts: HostList, is_signed: Callable[[str, str], bool]) -> None:
        self._hosts = hosts
        self._is_signed = is_signed

    def __call__(self, head: RequestHead) -> Refusal | None:
        """See `refusal.Check`."""
        if not head.changes or self._is_signed(head.method, head.path):
            return None
        origin, site = head.header("origin"), head.header("sec-fetch-site")
        if origin:
            good = self._hosts.permits_origin(origin, head.header("host"), head.port)
        else:
            good = site in ("", "same-origin", "none")
        return None if good and site != "cross-site" else Refusal(403, "http.foreign-origin")


def is_local(head: RequestHead) -> bool:
    """Whether a program on this machine asks, and no proxy in front of us for somebody else."""
    place = read_host(head.header("host"))
    forwarded = {"forwarded", "x-forwarded-for", "x-real-ip", "via"} & head.headers.keys()
    return (
        is_loopback(head.peer)
        and not forwarded
        and place is not None
        and is_loopback(place[0].strip("[]"))
    )
