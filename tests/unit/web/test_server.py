"""Starting and stopping the server, and the console's files."""

from __future__ import annotations

import asyncio
import signal
import socket
from contextlib import suppress
from pathlib import Path

import aiohttp
import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send
from web_host import serving, settings_in

from jobclaw.errors import ConfigError
from jobclaw.web.connections import PunctualProtocol
from jobclaw.web.server import WebServer

APP = PlainTextResponse("here")


async def fetched(address: str) -> str:
    async with aiohttp.ClientSession() as http, http.get(address) as response:
        return await response.text()


def port_of(server: WebServer) -> int:
    return int(server.address.rpartition(":")[2])


async def test_any_free_port_is_taken_and_given_back():
    server = WebServer(APP, "127.0.0.1", 0)
    await server.start()
    assert await fetched(server.address) == "here"
    port = port_of(server)
    async with asyncio.timeout(10):
        await server.stop(1.0)
    with pytest.raises(aiohttp.ClientConnectorError):
        await fetched(server.address)
    again = WebServer(APP, "127.0.0.1", port)
    await again.start()
    assert again.address == server.address
    await again.stop(1.0)


@pytest.mark.skipif(not socket.has_ipv6, reason="this machine has no IPv6")
async def test_ipv6_is_listened_to():
    server = WebServer(APP, "::1", 0)
    await server.start()
    assert server.address.startswith("http://[::1]:")
    assert await fetched(server.address) == "here"
    await server.stop(1.0)


async def test_a_port_in_use_is_named_with_the_next_command():
    first = WebServer(APP, "127.0.0.1", 0)
    await first.start()
    port = port_of(first)
    with pytest.raises(ConfigError) as raised:
        await WebServer(APP, "127.0.0.1", port).start()
    assert (raised.value.text_id, raised.value.values) == ("http.port-taken", {"port": port})
    assert await fetched(first.address) == "here"
    await first.stop(1.0)


@pytest.mark.parametrize("host", ["203.0.113.5", "no-such-host.invalid"])
async def test_an_address_that_cannot_be_had_is_named(host: str):
    with pytest.raises(ConfigError) as raised:
        await WebServer(APP, host, 0).start()
    assert raised.value.text_id == "http.no-address"
    assert raised.value.values["host"] == host


async def test_signals_stay_the_daemon_s():
    before = [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)]
    server = WebServer(APP, "127.0.0.1", 0)
    await server.start()
    assert [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)] == before
    await server.stop(1.0)


async def test_stopping_what_never_started_does_nothing():
    await WebServer(APP, "127.0.0.1", 0).stop(1.0)


async def test_the_console_s_files_are_served_by_exact_name(tmp_path: Path):
    async with serving(settings_in(tmp_path)) as host:
        style = await host.ask("/console/static/console.css")
        assert style.headers["content-type"] == "text/css; charset=utf-8"
        known = {"If-None-Match": style.headers["etag"]}
        assert (await host.ask("/console/static/console.css", headers=known)).status == 304
        for name in ("none.css", "..%2Fserver.py", "%2e%2e/server.py", "console.css/", ""):
            assert (await host.ask(f"/console/static/{name}")).status in (404, 307), name


WHOLE = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.mark.parametrize(
    ("first", "then"),
    [(b"", b""), (b"", WHOLE[:-2]), (WHOLE, WHOLE[:-2]), (WHOLE, b"G")],
    ids=["silent", "unfinished", "unfinished-second", "first-letter-of-second"],
)
async def test_a_head_comes_in_time_or_the_connection_ends(
    monkeypatch: pytest.MonkeyPatch, first: bytes, then: bytes
):
    monkeypatch.setattr(PunctualProtocol, "head_within_s", 0.2)
    server = WebServer(APP, "127.0.0.1", 0)
    await server.start()
    reader, writer = await asyncio.open_connection("127.0.0.1", port_of(server))
    async with asyncio.timeout(10):
        if first:
            writer.write(first)
            await reader.readuntil(b"here")
        writer.write(then)
        assert await reader.read() == b""
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()
    await server.stop(1.0)


async def test_a_slow_answer_is_not_cut(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(PunctualProtocol, "head_within_s", 0.05)
    asked, go = asyncio.Event(), asyncio.Event()

    async def slow(scope: Scope, receive: Receive, send: Send) -> None:
        asked.set()
        await go.wait()
        await APP(scope, receive, send)

    server = WebServer(slow, "127.0.0.1", 0)
    await server.start()
    fetching = asyncio.create_task(fetched(server.address))
    await asked.wait()
    asyncio.get_running_loop().call_later(0.2, go.set)
    async with asyncio.timeout(10):
        assert await fetching == "here"
    await server.stop(1.0)
