"""Fetching what somebody else named: bounded, public, and nothing inside."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence

import pytest
from aiohttp import web

from jobclaw.fetch.guarded import GuardedFetcher
from jobclaw.spi.fetch import FetchError


class Site:
    """A server on loopback, and the names that lead to it."""

    def __init__(self) -> None:
        self.port = 0
        self.asked: list[str] = []
        self.looked_up: list[str] = []
        self.names: dict[str, Sequence[str]] = {"inside.example": ["127.0.0.1"]}

    async def look_up(self, host: str, port: int) -> Sequence[str]:  # noqa: ARG002 - the signature
        self.looked_up.append(host)
        if host not in self.names:
            raise OSError(host)
        return self.names[host]

    def fetcher(self, *allowed: str) -> GuardedFetcher:
        return GuardedFetcher(allowed, self.look_up)

    def url(self, path: str, host: str = "inside.example") -> str:
        return f"http://{host}:{self.port}{path}"

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request.path)
        assert "Cookie" not in request.headers
        to = {"/moved": "/page", "/loop": "/loop", "/out": request.query.get("to", "")}
        if request.path in to:
            raise web.HTTPFound(to[request.path])
        if request.path == "/slow":
            await asyncio.sleep(30)
        if request.path == "/zipped":
            return web.Response(body=b"x", headers={"Content-Encoding": "gzip"})
        if request.path == "/large":
            return await self._large(request)
        return web.Response(text="here", headers={"Set-Cookie": "a=b"})

    async def _large(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        with contextlib.suppress(ConnectionError):
            for _ in range(100):
                await response.write(b"x" * 1024)
        return response


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    found = Site()
    app = web.Application()
    app.router.add_get("/{path:.*}", found.answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    found.port = runner.addresses[0][1]
    yield found
    await runner.cleanup()


async def why(fetcher: GuardedFetcher, url: str, **bounds: float) -> str:
    with pytest.raises(FetchError) as caught:
        await fetcher.get(url, **bounds)  # type: ignore[arg-type]
    return caught.value.why


async def test_an_allowed_host_is_fetched_also_over_http_and_after_a_redirect(
    site: Site,
) -> None:
    fetcher = site.fetcher("inside.example")
    found = await fetcher.get(site.url("/page"))
    assert (found.status, found.body, found.media_type) == (200, b"here", "text/plain")
    moved = await fetcher.get(site.url("/moved"))
    assert (moved.url, moved.body) == (site.url("/page"), b"here")
    assert (await fetcher.get(site.url("/page"))).body == b"here"


@pytest.mark.parametrize(
    ("url", "refused"),
    [
        ("https://127.0.0.1/", "private"),
        ("https://[::1]/", "private"),
        ("https://2130706433/", "private"),
        ("https://0x7f.1/", "private"),
        ("https://169.254.169.254/latest/meta-data", "private"),
        ("https://inside.example/", "private"),
        ("https://INSIDE.example/", "private"),
        ("https://two.example/", "private"),
        ("http://93.184.215.14/", "scheme"),
        ("file:///etc/passwd", "address"),
        ("ftp://inside.example/", "scheme"),
        ("gopher://inside.example/", "address"),
        ("https://user:secret@inside.example/", "address"),
        ("https://", "address"),
        ("//inside.example/", "scheme"),
        ("https://[", "address"),
        ("https://inside.example:99999/", "address"),
        ("not an address", "address"),
        ("https://nowhere.example/", "network"),
    ],
)
async def test_what_may_not_be_asked_is_not(site: Site, url: str, refused: str) -> None:
    site.names["two.example"] = ["93.184.215.14", "10.0.0.1"]
    assert await why(site.fetcher(), url) in (refused, "address")
    assert site.asked == []


@pytest.mark.parametrize(
    "to", ["https://127.0.0.1/", "http://127.0.0.1/", "https://metadata.example/", "file:///a"]
)
async def test_a_redirect_to_the_inside_is_not_followed(site: Site, to: str) -> None:
    site.names["metadata.example"] = ["169.254.169.254"]
    refused = await why(site.fetcher("inside.example"), site.url(f"/out?to={to}"))
    assert refused in ("private", "scheme", "address")
    assert site.asked == ["/out"]


async def test_a_name_is_resolved_once_for_each_connection(site: Site) -> None:
    await site.fetcher("inside.example").get(site.url("/page"))
    assert site.looked_up == ["inside.example"]


@pytest.mark.parametrize(
    ("path", "refused", "bounds"),
    [
        ("/loop", "redirects", {}),
        ("/large", "size", {"bytes_most": 5000}),
        ("/slow", "timeout", {"deadline_s": 0.3}),
        ("/zipped", "encoding", {}),
    ],
)
async def test_what_has_no_bounds_is_cut_off(
    site: Site, path: str, refused: str, bounds: dict[str, float]
) -> None:
    assert await why(site.fetcher("inside.example"), site.url(path), **bounds) == refused
    assert len(site.asked) <= 4
