"""The web chat over HTTP: the same conversation as in the terminal."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from driver import Daemon, Deployment

WAIT_S = 20.0


class Visitor:
    """One browser: its cookie, its stream, what it says."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session
        self._said = 0
        self.seen: list[dict[str, Any]] = []

    async def say(self, text: str = "", **more: object) -> dict[str, Any]:
        """Say something and return the next reply of the stream."""
        self._said += 1
        body = {"client_msg_id": f"m{self._said}", "text": text, **more}
        async with self._session.post("/chat/api/messages", json=body) as response:
            assert response.status == 202, await response.text()
        return await self.reply()

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

    async def upload(self, name: str, data: bytes) -> str:
        """Upload a file; its id."""
        form = aiohttp.FormData(quote_fields=False)  # as browsers do
        form.add_field("file", data, filename=name)
        async with self._session.post("/chat/api/uploads", data=form) as response:
            assert response.status in (200, 201), await response.text()
            return (await response.json())["id"]


@asynccontextmanager
async def visitor(daemon: Daemon, language: str = "zh-CN") -> AsyncGenerator[Visitor]:
    """Open the page."""
    headers = {"Accept-Language": language, "Origin": daemon.address}
    jar = aiohttp.CookieJar(unsafe=True)  # cookies for an address, not a name
    async with aiohttp.ClientSession(
        daemon.address, headers=headers, cookie_jar=jar
    ) as session:
        async with session.get("/chat") as page:
            assert page.status == 200
        yield Visitor(session)


def words(reply: dict[str, Any]) -> str:
    """Everything that a reply says."""
    return json.dumps(reply, ensure_ascii=False)


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with Deployment(tmp_path_factory.mktemp("web"), "").daemon() as running:
        yield running


async def test_the_promised_conversation_with_why(daemon: Daemon) -> None:
    async with visitor(daemon) as ann:
        assert "您会哪些技能" in words(await ann.say("帮我看看有没有合适的 Java 岗位"))
        found = await ann.say("跳过")
        assert "云帆科技" in words(found)
        assert found["agent"] == "job-recommend"
        assert "不对" in words(found)
        assert "20-35K" in words(await ann.say("薪资多少"))
        assert "正在和" in words(await ann.say("/why"))


async def test_an_english_reader_is_asked_in_english(daemon: Daemon) -> None:
    async with visitor(daemon, "en-GB") as bob:
        assert "Two short questions" in words(await bob.say("/start")) or bob.seen
        assert "Skip" in words(await bob.say("recommend some Java jobs for me"))


async def test_a_file_that_nobody_reads_is_said_so_by_its_name(daemon: Daemon) -> None:
    async with visitor(daemon) as cy:
        await cy.say("你好")
        await cy.say("跳过")
        await cy.say("跳过")
        upload = await cy.upload("简历.pdf", b"%PDF-1.4 a")
        assert "收到了 简历.pdf" in words(await cy.say(attachments=[upload]))


async def test_a_file_is_not_taken_for_a_search_of_postings(daemon: Daemon) -> None:
    async with visitor(daemon) as flo:
        await flo.say("帮我看看有没有合适的 Java 岗位")
        await flo.say("跳过")
        upload = await flo.upload("简历.pdf", b"%PDF-1.4 a")
        assert "读不了文件" in words(await flo.say("这是我的简历", attachments=[upload]))
        more = await flo.upload("再来.pdf", b"%PDF-1.4 b")
        assert "云帆科技" in words(await flo.say("推荐上海的 Java 岗位", attachments=[more]))


@pytest.mark.parametrize("blank", ["\u200b", "\ufeff \u3000", "\u2060\u00ad"])
async def test_inb06_what_cannot_be_seen_spoils_nothing_that_follows(
    daemon: Daemon, blank: str
) -> None:
    async with visitor(daemon) as dan:
        await dan.say("你好")
        await dan.say("跳过")
        await dan.say("跳过")
        assert "只能看懂文字" in words(await dan.say(blank))
        assert (await dan.say("推荐几个 Java 岗位"))["agent"] == "job-recommend"
