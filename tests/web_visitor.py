"""A browser in the web chat, over HTTP: its cookie, its stream, what it says."""

import asyncio
import json
import secrets
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
from driver import Daemon

WAIT_S = 20.0


class Visitor:
    """One browser: its cookie, its stream, what it says."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session
        self._visit = secrets.token_hex(4)
        self._said = 0
        self.seen: list[dict[str, Any]] = []

    async def say(self, text: str = "", **more: object) -> dict[str, Any]:
        """Say something and return the next reply of the stream."""
        self._said += 1
        await self.send(f"{self._visit}-{self._said}", text, **more)
        return await self.reply()

    async def send(self, client_msg_id: str, text: str, **more: object) -> dict[str, Any]:
        """Send a message and return what the server said to that."""
        body = {"client_msg_id": client_msg_id, "text": text, **more}
        async with self._session.post("/chat/api/messages", json=body) as response:
            assert response.status == 202, await response.text()
            return await response.json()

    async def reply(self) -> dict[str, Any]:
        """The next reply, as the stream brings it."""
        after = self.seen[-1]["seq"] if self.seen else 0
        address = f"/chat/api/stream?after={after}"
        async with asyncio.timeout(WAIT_S), self._session.get(address) as response:
            assert response.headers["Content-Type"].startswith("text/event-stream")
            name = ""
            async for line in response.content:
                if line.startswith(b"event: "):
                    name = line.decode()[7:].strip()
                if line.startswith(b"data: ") and name == "posted":
                    self.seen.append(json.loads(line[6:]))
                    return self.seen[-1]
        raise AssertionError("the stream ended")

    def cookies(self) -> dict[str, str]:
        """What the browser keeps, for another visit."""
        return {cookie.key: cookie.value for cookie in self._session.cookie_jar}

    async def upload(self, name: str, data: bytes) -> str:
        """Upload a file; its id."""
        form = aiohttp.FormData(quote_fields=False)  # as browsers do
        form.add_field("file", data, filename=name)
        async with self._session.post("/chat/api/uploads", data=form) as response:
            assert response.status in (200, 201), await response.text()
            return (await response.json())["id"]


@asynccontextmanager
async def visitor(
    daemon: Daemon, language: str = "zh-CN", cookies: Mapping[str, str] | None = None
) -> AsyncGenerator[Visitor]:
    """Open the page, with the cookies of an earlier visit."""
    headers = {"Accept-Language": language, "Origin": daemon.address}
    jar = aiohttp.CookieJar(unsafe=True)  # cookies for an address, not a name
    async with aiohttp.ClientSession(
        daemon.address, headers=headers, cookie_jar=jar, cookies=cookies
    ) as session:
        async with session.get("/chat") as page:
            assert page.status == 200
        yield Visitor(session)


def words(reply: dict[str, Any]) -> str:
    """Everything that a reply says."""
    return json.dumps(reply, ensure_ascii=False)
