"""The web chat over HTTP: the same conversation as in the terminal."""

from typing import Any

import pytest
from driver import Daemon, Deployment
from web_visitor import visitor, words


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


@pytest.mark.parametrize("text", ["/help", "／ＨＥＬＰ", "\u2060/help\u00a0"])
async def test_r11_a_command_passes_the_questions(daemon: Daemon, text: str) -> None:
    async with visitor(daemon) as gus:
        assert "/agents" in words(await gus.say(text))
        assert "您会哪些技能" in words(await gus.say("推荐岗位"))


@pytest.mark.parametrize("way", ["button", "zero", "command"])
async def test_a_wrong_answer_is_corrected_in_the_page(daemon: Daemon, way: str) -> None:
    async with visitor(daemon) as hal:
        await hal.say("推荐几个 Java 岗位")
        answer = await hal.say("跳过")
        assert answer["agent"] == "job-recommend"
        if way == "button":
            [wrong] = [one["id"] for one in choices(answer) if one["label"] == "不对"]
            question = await hal.say(button=wrong)
        else:
            question = await hal.say({"zero": "0", "command": "/wrong"}[way])
        offered = [one["id"] for one in choices(question)]
        assert len(offered) == 3
        assert "pick:job-search" in offered
        assert "pick:job-recommend" not in offered
        picked = await hal.say(button="pick:job-search")
        assert picked["agent"] == "job-search"
        assert "云帆科技" in words(picked)
        assert "岗位搜索" in words(await hal.say("/current"))


def choices(reply: dict[str, Any]) -> list[dict[str, str]]:
    """The buttons of a reply."""
    return [one for block in reply["blocks"] for one in block.get("buttons", [])]
