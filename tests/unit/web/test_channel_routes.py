"""A channel's routes on the real server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from io import BytesIO
from pathlib import Path

import pytest
from unit.bus.platform_double import SmallPlatform
from web_host import TOKEN, Host, serving, settings_in

from jobclaw.spi import HttpRoute, RawRequest, RawResponse
from jobclaw.web.channel_routes import ChannelRoutes

MIB = 1024 * 1024


class Site(SmallPlatform):
    """A channel with routes that show what they were asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[RawRequest] = []
        self.streaming = asyncio.Event()
        self.closed = asyncio.Event()

    def routes(self) -> Sequence[HttpRoute]:
        return [
            HttpRoute("GET", "/chat", self._page),
            HttpRoute("POST", "/chat/api/messages", self._page, body_most=100),
            HttpRoute("POST", "/chat/api/uploads", self._page, body_most=4 * MIB),
            HttpRoute("DELETE", "/chat/files/{name}", self._page),
            HttpRoute("GET", "/chat/stream", self._stream),
            HttpRoute("GET", "/chat/broken", self._broken),
            HttpRoute("GET", "/chat/broken-stream", self._broken_stream),
            HttpRoute("POST", "/webhooks/site", self._page, signed=True),
            HttpRoute("GET", "/console", self._page),
            HttpRoute("GET", "/api/v1/agents", self._page),
        ]

    async def _page(self, request: RawRequest) -> RawResponse:
        self.asked.append(request)
        headers = (("Content-Type", "text/plain"), ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"))
        return RawResponse(
            200, (*headers, ("Content-Security-Policy", "default-src *")), b"own"
        )

    async def _stream(self, request: RawRequest) -> RawResponse:
        self.asked.append(request)
        return RawResponse(200, (("Content-Type", "text/event-stream"),), self._events())

    async def _events(self) -> AsyncIterator[bytes]:
        try:
            yield b"data: 1\n\n"
            self.streaming.set()
            await asyncio.Event().wait()
        finally:
            self.closed.set()

    async def _broken(self, request: RawRequest) -> RawResponse:
        raise RuntimeError(f"secret in {request.path}")

    async def _broken_stream(self, request: RawRequest) -> RawResponse:
        async def events() -> AsyncIterator[bytes]:
            yield b"data: 1\n\n"
            raise RuntimeError(f"secret in {request.path}")

        return RawResponse(200, (), events())


class Broken(SmallPlatform):
    """A channel that cannot say what it answers."""

    def routes(self) -> Sequence[HttpRoute]:
        raise RuntimeError("no routes")


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[tuple[Host, Site]]:
    site = Site()
    async with serving(settings_in(tmp_path), channels=[Broken(), site]) as host:
        yield host, site


async def test_a_route_gets_the_request_as_it_was_sent(served: tuple[Host, Site]):
    host, site = served
    body = bytes(range(100))
    answer = await host.ask(
        "/chat/api/messages?a=1&b=%E4%BD%A0",
        "POST",
        data=body,
        headers={"X-Signature": "s", "Cookie": "jobclaw_chat=c"},
    )
    assert (answer.status, answer.text) == (200, "own")
    [asked] = site.asked
    assert (asked.method, asked.path, asked.body) == ("POST", "/chat/api/messages", body)
    assert asked.query == {"a": "1", "b": "你"}
    assert asked.cookies == {"jobclaw_chat": "c"}
    assert asked.headers["x-signature"] == "s"
    assert (asked.client, asked.secure) == ("127.0.0.1", False)
    await host.ask("/chat/files/%E4%BD%A0.txt", "DELETE")
    assert site.asked[-1].params == {"name": "你.txt"}


async def test_the_headers_of_all_answers_win(served: tuple[Host, Site]):
    host, _ = served
    answer = await host.ask("/chat")
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    async with host.http.get(f"{host.address}/chat") as response:
        assert response.headers.getall("Set-Cookie") == ["a=1", "b=2"]
        assert response.headers["Content-Length"] == "3"


async def test_the_front_page_is_the_chat(served: tuple[Host, Site], tmp_path: Path):
    host, _ = served
    home = await host.ask("/")
    assert (home.status, home.headers["location"]) == (307, "/chat")
    async with serving(settings_in(tmp_path / "other")) as without:
        assert (await without.ask("/")).headers["location"] == "/console"


async def test_what_is_ours_stays_ours(served: tuple[Host, Site]):
    host, site = served
    assert (await host.ask("/console")).status == 303
    assert (await host.ask("/api/v1/agents")).status == 401
    assert isinstance((await host.api("/agents")).json, list)
    assert not site.asked


@pytest.mark.parametrize(
    ("path", "size", "status"),
    [
        ("messages", 100, 200),
        ("messages", 101, 413),
        ("uploads", 4 * MIB, 200),
        ("uploads", 4 * MIB + 1, 413),
    ],
)
async def test_a_route_bounds_its_bodies(
    served: tuple[Host, Site], path: str, size: int, status: int
):
    host, site = served
    answer = await host.ask(f"/chat/api/{path}", "POST", data=BytesIO(b"x" * size))
    assert answer.status == status
    assert len(site.asked) == (status == 200)


@pytest.mark.parametrize(
    ("path", "origin", "status"),
    [
        ("/webhooks/site", "https://platform.example", 200),
        ("/chat/api/messages", "https://platform.example", 403),
        ("/webhooks/site", "", 200),
        ("/chat/api/messages", "", 200),
    ],
)
async def test_only_signed_routes_may_be_called_from_elsewhere(
    served: tuple[Host, Site], path: str, origin: str, status: int
):
    host, site = served
    headers = {"Origin": origin} if origin else {}
    assert (await host.ask(path, "POST", data=b"x", headers=headers)).status == status
    assert len(site.asked) == (status == 200)
    assert (await host.ask(path, "POST", headers={"Host": "evil.example"})).status == 403


async def test_a_stream_is_closed_when_its_reader_goes(served: tuple[Host, Site]):
    host, site = served
    async with asyncio.timeout(10):
        async with host.http.get(f"{host.address}/chat/stream") as response:
            assert response.headers["Content-Type"] == "text/event-stream"
            assert await response.content.readline() == b"data: 1\n"
            await site.streaming.wait()
            assert not site.closed.is_set()
        await site.closed.wait()


async def test_a_look_at_a_stream_opens_none(served: tuple[Host, Site]):
    host, site = served
    async with asyncio.timeout(10):
        answer = await host.ask("/chat/stream", "HEAD")
        assert (answer.status, answer.text) == (200, "")
    assert site.asked[-1].method == "HEAD"
    assert not site.streaming.is_set()


async def test_stopping_ends_streams_within_the_grace(tmp_path: Path):
    site = Site()
    async with serving(settings_in(tmp_path), channels=[site]) as host:
        response = await host.http.get(f"{host.address}/chat/stream")
        await site.streaming.wait()
        async with asyncio.timeout(10):
            await host.server.stop(1.0)
        assert site.closed.is_set()
        response.close()


async def test_a_fault_of_a_route_is_an_error_id(
    served: tuple[Host, Site], caplog: pytest.LogCaptureFixture
):
    host, _ = served
    page = await host.ask("/chat/broken", headers={"Accept": "text/html"})
    assert page.status == 500
    assert page.headers["content-type"].startswith("text/html")
    assert "secret" not in page.text
    data = await host.ask("/chat/broken")
    assert data.json["code"] == "http.internal"
    assert "secret in /chat/broken" in caplog.text, "its author finds the traceback"
    error_id = data.json["error"].rstrip(".。").rpartition(" ")[2]
    assert f"error {error_id}" in caplog.text


async def test_a_stream_that_breaks_is_cut(
    served: tuple[Host, Site], caplog: pytest.LogCaptureFixture
):
    host, _ = served
    with pytest.raises(Exception, match=r"payload|closed|Disconnected"):
        await host.ask("/chat/broken-stream")
    assert "secret in /chat/broken-stream" in caplog.text
    assert (await host.ask("/chat")).status == 200


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE"])
async def test_another_method_is_refused(served: tuple[Host, Site], method: str):
    host, _ = served
    answer = await host.ask("/chat", method)
    assert (answer.status, answer.json["code"]) == (405, "http.wrong-method")
    assert "GET" in answer.headers["allow"]


async def test_behind_https_a_route_is_told(tmp_path: Path):
    site = Site()
    web = f"operator_token: {TOKEN}, public_url: https://bot.example.com"
    async with serving(settings_in(tmp_path, web), channels=[site]) as host:
        await host.ask("/chat", headers={"Host": "bot.example.com"})
    assert site.asked[0].secure


@pytest.mark.parametrize(
    ("method", "path", "signed", "most"),
    [
        ("POST", "/webhooks/site", True, 1024 * 1024),
        ("GET", "/webhooks/site", False, 1024 * 1024),
        ("POST", "/webhooks/site/", False, 1024 * 1024),
        ("POST", "/chat/api/messages", False, 100),
        ("POST", "/api/v1/messages", False, 1024 * 1024),
    ],
)
async def test_what_is_known_of_a_path(method: str, path: str, signed: bool, most: int):
    routes = ChannelRoutes([Site()], secure=False)
    assert routes.is_signed(method, path) is signed
    assert routes.body_most(method, path) == most
