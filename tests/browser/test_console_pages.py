"""The operator console: what it shows, and that it is all text."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page
from web_host import TOKEN, Host, serving, settings_in

from jobclaw.spi.channel import ChannelHealth
from jobclaw.spi.llm import ModelState

HOSTILE = (
    "<script>document.title='taken'</script>",
    '"><img src=x onerror="document.title=1">',
    "{{ 7 * 7 }}{% include 'login.html' %}",
    "\u202ereversed\u202c",
    "x" * 400,
)


@pytest.fixture
async def host(tmp_path: Path) -> AsyncIterator[Host]:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "broken.py").write_text("raise OSError('<b>disk</b>')\n", "utf-8")
    async with serving(settings_in(tmp_path)) as host:
        yield host


async def enter(host: Host, browser: Browser, **context: object) -> Page:
    """Log in as a person does."""
    opened = await browser.new_context(**context)  # type: ignore[arg-type]
    page = await opened.new_page()
    await page.goto(f"{host.address}/console")
    assert page.url == f"{host.address}/console/login"
    await page.fill("#token", TOKEN)
    await page.click("main button")
    await page.wait_for_selector(".tiles")
    return page


async def test_a_person_gets_in_and_out(host: Host, browser: Browser):
    page = await enter(host, browser, locale="en-US")
    assert page.url == f"{host.address}/console"
    assert await page.evaluate("document.cookie") == "", "no script sees the login"
    await page.click("header button")
    await page.wait_for_url("**/console/login")
    await page.goto(f"{host.address}/console")
    assert page.url == f"{host.address}/console/login"


async def test_a_wrong_token_is_said_in_the_form(host: Host, browser: Browser):
    page = await browser.new_page(locale="zh-CN")
    await page.goto(f"{host.address}/console/login")
    await page.fill("#token", "not-the-token")
    await page.click("main button")
    assert await page.inner_text("[role=alert]") == "运维令牌不对。"
    await page.fill("#token", TOKEN)
    await page.click("main button")
    await page.wait_for_selector(".tiles")


async def test_a_form_on_another_site_does_nothing(host: Host, browser: Browser):
    page = await enter(host, browser)
    evil = await page.context.new_page()
    await evil.set_content(
        f'<form method="post" action="{host.address}/console/logout"><button>x</button></form>'
    )
    async with evil.expect_response("**/console/logout") as found:
        await evil.click("button")
    assert (await found.value).status == 403
    await page.reload()
    assert page.url == f"{host.address}/console"


async def test_what_people_wrote_is_text(host: Host, browser: Browser):
    for text in HOSTILE:
        await host.say(text)
    page = await enter(host, browser, locale="en-US", viewport={"width": 320, "height": 800})
    assert await page.title() == "Overview · jobclaw"
    shown = await page.locator(".decisions .said").all_text_contents()
    assert shown == list(reversed(HOSTILE))
    assert await page.locator("script, .decisions img").count() == 0
    assert await page.evaluate("document.documentElement.scrollWidth") == 320


async def test_everything_at_a_glance(host: Host):
    await host.say("推荐几个 Java 岗位")
    at = datetime(2026, 8, 3, 10, 30, 45, tzinfo=UTC)
    host.around.health = {
        "web": ChannelHealth(state="ok", last_in=at),
        "telegram/sales": ChannelHealth(state="needs_login", reason="<i>401</i>"),
    }
    host.around.llm = (ModelState(model="openai/test", state="open", reason="timeout"),)
    form = await host.ask("/console/login")
    csrf = re.search(r'name="csrf" value="([^"]+)"', form.text)
    assert csrf is not None
    await host.ask("/console/login", "POST", data={"csrf": csrf[1], "token": TOKEN})
    english = await host.ask("/console", headers={"Accept-Language": "en"})
    for text in (
        "telegram/sales",
        "&lt;i&gt;401&lt;/i&gt;",
        "login needed",
        "08-03 10:30:45",
        "openai/test",
        "timeout",
        "broken",
        "&lt;b&gt;disk&lt;/b&gt;",
        "Because you said",
        "推荐几个 Java 岗位",
        "0 messages to handle",
    ):
        assert text in english.text, text
    chinese = await host.ask("/console", headers={"Accept-Language": "zh"})
    assert chinese.headers["content-language"] == "zh-CN"
    for text in ("需要登录", "因为你说了", "无法导入", "死信"):
        assert text in chinese.text, text


async def test_an_empty_house_says_so(tmp_path: Path, browser: Browser):
    async with serving(settings_in(tmp_path)) as host:
        page = await enter(host, browser, locale="en-US", color_scheme="dark")
        assert "No channel is enabled." in await page.inner_text("main")
        assert "Nothing has been decided yet." in await page.inner_text("main")
