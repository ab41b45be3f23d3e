"""The chat page in a real browser against the real daemon."""

import asyncio
import re
import time

import pytest
from page_driver import Site, Visitor
from playwright.async_api import Browser, Download, Page, Route, expect

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c"
    "626001000000ffff03000006000557bfabd40000000049454e44ae426082"
)
IS_TOO_WIDE = """() => { const scroll = document.getElementById('scroll');
    return document.documentElement.scrollWidth > innerWidth
        || scroll.scrollWidth > scroll.clientWidth; }"""
HOSTILE = [
    "<script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 1'>",
    "<svg onload='window.hacked = 1'></svg>",
    "[点我](javascript:window.hacked=1)",
    "[点我](data:text/html,<script>window.hacked=1</script>)",
    "![x](javascript:window.hacked=1)",
    "<a href='javascript:window.hacked=1'>点我</a>",
    "{{ 7 * 7 }} ${7 * 7} {window.hacked = 1}",
    "`<script>window.hacked = 1</script>`",
    "\u202egnp.exe\u202c 之后",
    "长" * 400 + "w" * 900,
    "&lt;b&gt; &amp;amp; &#60;script&#62;",
]


async def say(page: Page, text: str) -> None:
    await page.fill("#text", text)
    await page.press("#text", "Enter")


async def downloaded(download: Download) -> tuple[str, bytes]:
    path = await download.path()
    return download.suggested_filename, await asyncio.to_thread(path.read_bytes)


async def texts(page: Page) -> list[str]:
    return await page.locator(".message .bubble").all_inner_texts()


class TestTalking:
    async def test_the_first_visit_is_greeted_with_examples_that_can_be_pressed(
        self, visitor: Visitor
    ) -> None:
        page = await visitor.open()
        await expect(page.locator(".theirs .choice:enabled")).not_to_have_count(0)
        example = page.locator(".choice:enabled", has_text="回声 你好")
        await example.click()
        await expect(page.locator(".theirs").last).to_contain_text("听到： 你好")
        assert await page.locator(".mine").count() == 1
        await expect(page.locator(".choice.taken")).to_have_text("回声 你好")

    async def test_an_answer_is_shown_while_it_grows_and_ends_as_one_bubble(
        self, visitor: Visitor, site: Site
    ) -> None:
        page = await visitor.open()
        await say(page, "慢慢 go-on")
        growing = page.locator(".theirs.growing")
        await expect(growing).to_contain_text("先写")
        await expect(growing).to_have_attribute("aria-busy", "true")
        site.let("go-on")
        done = page.locator(".theirs").last
        await expect(done).to_contain_text("先写一半，再写完")
        await expect(growing).to_have_count(0)
        assert await done.locator("b").inner_text() == "一半"
        assert await page.locator(".theirs").count() == 2
        await expect(page.locator("#thinking")).to_be_hidden()

    async def test_pressed_buttons_are_said_and_become_stale(self, visitor: Visitor) -> None:
        page = await visitor.open()
        await say(page, "选择")
        await page.locator(".choice:enabled", has_text="乙方案").click()
        await expect(page.locator(".mine.pressed .bubble")).to_have_text("乙方案")
        await expect(page.locator(".theirs").last).to_contain_text("听到： 乙方案")
        await expect(page.locator(".choice:enabled", has_text="方案")).to_have_count(0)
        await page.reload()
        await expect(page.locator(".choice.taken")).to_have_text("乙方案")

    async def test_enter_sends_but_not_while_a_word_is_composed(self, visitor: Visitor) -> None:
        page = await visitor.open()
        await page.fill("#text", "nihao")
        compose = """() => document.getElementById('text').dispatchEvent(new KeyboardEvent(
            'keydown', {key: 'Enter', isComposing: true, bubbles: true, cancelable: true}))"""
        assert await page.evaluate(compose) is True
        await page.press("#text", "Shift+Enter")
        await page.keyboard.type("two")
        assert await page.input_value("#text") == "nihao\ntwo"
        assert await page.locator(".mine").count() == 0
        await page.press("#text", "Enter")
        await expect(page.locator(".mine .bubble")).to_have_text("nihao\ntwo")
        assert await page.input_value("#text") == ""

    async def test_code_is_copied(self, visitor: Visitor) -> None:
        await visitor.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page = await visitor.open()
        await say(page, "排版")
        copy = page.locator(".copy")
        await copy.click()
        await expect(copy).to_have_text("已复制")
        assert "print(" in await page.evaluate("navigator.clipboard.readText()")


class TestFiles:
    async def test_files_are_sent_shown_and_there_after_a_reload(
        self, visitor: Visitor
    ) -> None:
        page = await visitor.open()
        await page.set_input_files(
            "#file",
            [
                {"name": "头像.png", "mimeType": "image/png", "buffer": PNG},
                {"name": "简历.pdf", "mimeType": "application/pdf", "buffer": b"%PDF-1.4"},
            ],
        )
        await expect(page.locator("#files li small").nth(1)).to_have_text("8 B")
        await say(page, "回声 请看")
        answer = page.locator(".theirs").last
        await expect(answer).to_contain_text(f"image:头像.png:{len(PNG)} file:简历.pdf:8")
        await page.reload()
        picture = page.locator(".mine img")
        await expect(picture).to_be_visible()
        await expect(picture).to_have_js_property("naturalWidth", 1)
        async with page.expect_download() as downloading:
            await page.locator(".mine a.chip").click()
        assert await downloaded(await downloading.value) == ("简历.pdf", b"%PDF-1.4")

    async def test_a_file_of_a_reply_is_downloaded(self, visitor: Visitor) -> None:
        page = await visitor.open()
        await say(page, "文件")
        async with page.expect_download() as downloading:
            await page.locator(".theirs a.chip").click()
        assert await downloaded(await downloading.value) == ("计划.csv", b"a,b\n")

    async def test_a_file_that_is_too_large_is_refused_before_it_is_sent(
        self, visitor: Visitor
    ) -> None:
        page = await visitor.open()
        await page.evaluate(
            """() => { const files = new DataTransfer();
            files.items.add(new File([new Uint8Array(10 * 1024 * 1024 + 1)], 'big.bin'));
            const input = document.getElementById('file'); input.files = files.files;
            input.dispatchEvent(new Event('change')); }"""
        )
        await expect(page.locator("#files li.failed small")).to_contain_text("10 MiB")
        await say(page, "回声 一")
        await expect(page.locator(".theirs").last).to_contain_text("听到： 一")


class TestResuming:
    async def test_a_reload_shows_the_same_conversation(self, visitor: Visitor) -> None:
        page = await visitor.open()
        for number in range(3):
            await say(page, f"回声 {number}")
            await expect(page.locator(".theirs").last).to_contain_text(f"听到： {number}")
        before = await texts(page)
        await page.reload()
        await expect(page.locator(".message")).to_have_count(len(before))
        assert await texts(page) == before

    async def test_older_messages_come_a_page_at_a_time(self, visitor: Visitor) -> None:
        page = await visitor.open()
        post = """async (n) => { for (let i = 0; i < n; i += 1) await fetch(
            '/chat/api/messages', {method: 'POST',
            headers: {'Content-Type': 'application/json'},
            body: JSON.stringify({client_msg_id: `n${i}`, text: `回声 第${i}条`})}); }"""
        await page.evaluate(post, 40)
        await expect(page.locator(".theirs").last).to_contain_text("第39条")
        await expect(page.locator(".message")).to_have_count(81)
        await page.reload()
        await expect(page.locator(".message")).to_have_count(50)
        await page.locator("#older").click()
        await expect(page.locator(".message")).to_have_count(81)
        await expect(page.locator("#older")).to_be_hidden()
        said = await page.locator(".mine .bubble").all_inner_texts()
        assert said == [f"回声 第{number}条" for number in range(40)]

    async def test_after_kill_nine_nothing_is_lost_or_doubled(
        self, own_visitor: Visitor, own_site: Site
    ) -> None:
        page = await own_visitor.open()
        await say(page, "慢慢 go-on")
        await expect(page.locator(".growing")).to_contain_text("先写")
        own_site.kill()
        await expect(page.locator("#state")).to_have_attribute("data-state", "offline")
        await expect(page.locator("#state")).to_have_text("连接断开，正在重连……")
        await say(page, "回声 断线时说的")
        await expect(page.locator(".mine.failed .retry")).to_be_visible()
        own_site.let("go-on")
        own_site.start()
        await expect(page.locator("#state")).to_have_attribute("data-state", "online")
        await expect(page.locator(".theirs").last).to_contain_text("断线时说的")
        await expect(page.locator(".failed, .growing")).to_have_count(0)
        shown = await texts(page)
        assert [text for text in shown if "先写" in text] == ["先写一半，再写完"]
        assert len([text for text in shown if "断线时说的" in text]) == 2
        await page.reload()
        await expect(page.locator(".message")).to_have_count(len(shown))
        assert sorted(await texts(page)) == sorted(shown)

    async def test_a_daemon_that_ends_in_order_does_not_wait_for_open_pages(
        self, own_visitor: Visitor, own_site: Site
    ) -> None:
        page = await own_visitor.open()
        began = time.monotonic()
        assert await asyncio.to_thread(own_site.end) == 0
        assert time.monotonic() - began < 10
        await expect(page.locator("#state")).to_have_attribute("data-state", "offline")
        own_site.start()
        await expect(page.locator("#state")).to_have_attribute("data-state", "online")
        await say(page, "回声 又来了")
        await expect(page.locator(".theirs").last).to_contain_text("听到： 又来了")

    async def test_what_was_not_sent_is_sent_again_once(self, visitor: Visitor) -> None:
        page, other = await visitor.open(), await visitor.open()
        posts = "**/chat/api/messages"
        await page.route(posts, lambda route: route.abort())
        await say(page, "回声 离线")
        retry = page.locator(".mine.failed .retry")
        await retry.click()
        await expect(retry).to_be_visible()
        await page.unroute(posts)
        await retry.click()
        for tab in (page, other):
            await expect(tab.locator(".theirs").last).to_contain_text("听到： 离线")
            assert await tab.locator(".mine").count() == 1

    async def test_an_answer_that_was_lost_on_its_way_is_not_asked_for_twice(
        self, visitor: Visitor
    ) -> None:
        page = await visitor.open()
        posts = "**/chat/api/messages"

        async def taken_but_not_told(route: Route) -> None:
            await route.fetch()
            await route.abort()

        await page.route(posts, taken_but_not_told)
        await say(page, "回声 一次")
        await expect(page.locator(".theirs").last).to_contain_text("听到： 一次")
        await page.unroute(posts)
        for retry in await page.locator(".retry").all():
            await retry.click()
        await expect(page.locator(".retry")).to_have_count(0)
        await page.reload()
        await expect(page.locator(".theirs")).to_have_count(2)
        assert await page.locator(".mine").count() == 1

    async def test_two_tabs_show_one_conversation(self, visitor: Visitor) -> None:
        left, right = await visitor.open(), await visitor.open()
        await say(left, "回声 左")
        await expect(right.locator(".theirs").last).to_contain_text("听到： 左")
        await say(right, "回声 右")
        await expect(left.locator(".theirs").last).to_contain_text("听到： 右")
        assert await texts(left) == await texts(right)
        assert await left.locator(".mine").count() == 2

    async def test_eight_tabs_at_once_still_get_through(self, visitor: Visitor) -> None:
        tabs = [await visitor.open() for _ in range(8)]
        for number in (7, 0, 4):
            await say(tabs[number], f"回声 第{number}个")
            for tab in tabs:
                await expect(tab.locator(".theirs").last).to_contain_text(f"第{number}个")
        await tabs.pop().close()
        await say(tabs[2], "回声 少了一个")
        for tab in tabs:
            await expect(tab.locator(".theirs").last).to_contain_text("少了一个")
            assert await tab.locator(".message").count() == 9


class TestSafety:
    @pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
    async def test_hostile_text_is_shown_as_text(self, visitor: Visitor, text: str) -> None:
        page = await visitor.open()
        await page.set_viewport_size({"width": 320, "height": 640})
        await say(page, f"回声 {text}")
        await expect(page.locator(".mine .bubble")).to_have_text(f"回声 {text}")
        answer = page.locator(".theirs").last
        await expect(answer).to_contain_text("听到：")
        for link in await answer.locator("a").all():
            assert re.match(r"https?:|mailto:", await link.get_attribute("href") or "")
            await link.click()
        assert await page.locator("#log script, #log iframe, #log svg").count() == 0
        assert await page.evaluate("window.hacked") is None
        assert await page.evaluate(IS_TOO_WIDE) is False

    async def test_nobody_sees_anothers_conversation(
        self, visitor: Visitor, browser: Browser
    ) -> None:
        page = await visitor.open()
        await say(page, "回声 秘密")
        await expect(page.locator(".theirs").last).to_contain_text("秘密")
        stranger = Visitor(await browser.new_context(locale="zh-CN"), visitor.address)
        other = await stranger.open()
        assert await other.locator(".mine").count() == 0
        await stranger.context.close()

    async def test_forgetting_asks_first_and_begins_anew_in_every_tab(
        self, visitor: Visitor
    ) -> None:
        page, other = await visitor.open(), await visitor.open()
        await say(page, "回声 忘掉我")
        await expect(other.locator(".mine")).to_have_count(1)
        await page.locator("#new").click()
        await page.locator("#forget .plain").click()
        assert await page.locator(".mine").count() == 1
        await page.locator("#new").click()
        await page.locator("#forget .danger").click()
        for tab in (page, other):
            await expect(tab.locator(".mine")).to_have_count(0)
            await expect(tab.locator(".theirs")).to_have_count(1)


class TestLooks:
    async def test_the_language_is_switched_and_lasts(self, visitor: Visitor) -> None:
        page = await visitor.open()
        await page.fill("#text", "draft")
        await page.locator("#language").click()
        await expect(page.locator("h2").first).to_have_text("What can I do for you?")
        await expect(page.locator("#state")).to_have_text("Connected")
        assert await page.input_value("#text") == "draft"
        await page.reload()
        assert await page.get_attribute("html", "lang") == "en"
        assert page.url.endswith("/chat")

    async def test_an_english_reader_is_greeted_in_english(
        self, site: Site, browser: Browser
    ) -> None:
        reader = Visitor(await browser.new_context(locale="en-GB"), site.address)
        page = await reader.open()
        await expect(page.locator(".theirs").first).to_contain_text("Hello!")
        await reader.context.close()
        assert reader.troubles == []

    async def test_colours_follow_the_system_until_they_are_chosen(
        self, visitor: Visitor
    ) -> None:
        page = await visitor.open()
        ground = "getComputedStyle(document.body).backgroundColor"
        light = await page.evaluate(ground)
        await page.emulate_media(color_scheme="dark")
        dark = await page.evaluate(ground)
        assert light != dark
        await page.select_option("#theme", "light")
        assert await page.evaluate(ground) == light
        await page.reload()
        assert await page.evaluate(ground) == light
        assert await page.input_value("#theme") == "light"

    @pytest.mark.parametrize(("width", "height"), [(320, 568), (390, 844), (1280, 800)])
    async def test_nothing_is_wider_than_the_screen(
        self, visitor: Visitor, width: int, height: int
    ) -> None:
        page = await visitor.open()
        await page.set_viewport_size({"width": width, "height": height})
        await say(page, "排版")
        await expect(page.locator(".theirs table")).to_be_visible()
        assert await page.evaluate(IS_TOO_WIDE) is False
        for name in ("#new", "#language", "#theme", "#attach", "#send", "#text"):
            box = await page.locator(name).bounding_box()
            assert box is not None
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
            assert box["y"] + box["height"] <= height

    async def test_everything_has_a_name_and_is_reached_by_keys(self, visitor: Visitor) -> None:
        page = await visitor.open()
        for control in await page.locator("button:visible, a:visible, textarea, select").all():
            name = await control.evaluate(
                """(one) => one.getAttribute('aria-label') || one.textContent.trim()
                || one.labels?.[0]?.textContent.trim()"""
            )
            assert name, await control.evaluate("(one) => one.outerHTML")
        await page.focus(".skip")
        reached: list[str] = []
        for _ in range(3):
            await page.keyboard.press("Tab")
            reached.append(await page.evaluate("document.activeElement.id"))
        assert reached == ["new", "language", "theme"]
        await page.focus(".skip")
        await page.keyboard.press("Enter")
        assert await page.evaluate("document.activeElement.id") == "text"
        assert await page.get_attribute("#log", "aria-live") == "polite"
