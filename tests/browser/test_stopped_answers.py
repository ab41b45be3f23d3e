"""An answer that is stopped while it is written: the page does not keep half of it."""

import pytest
from page_driver import Visitor
from playwright.async_api import Page, expect


async def say(page: Page, text: str) -> None:
    await page.fill("#text", text)
    await page.press("#text", "Enter")


async def texts(page: Page) -> list[str]:
    return await page.locator(".message .bubble").all_inner_texts()


@pytest.mark.parametrize("command", ["/stop", "/reset"])
async def test_iso09_what_was_stopped_does_not_stay_as_if_it_were_written(
    visitor: Visitor, command: str
) -> None:
    page = await visitor.open()
    await say(page, "慢慢 never")
    await expect(page.locator(".theirs.growing")).to_contain_text("先写")
    await say(page, "回声 在后面等")
    await expect(page.locator(".mine")).to_have_count(2)
    await say(page, command)
    await expect(page.locator(".theirs:not(.growing)")).to_have_count(2)
    await expect(page.locator(".theirs.growing")).to_have_count(0)
    await expect(page.locator("#thinking")).to_be_hidden()
    shown = await texts(page)
    await page.reload()
    await expect(page.locator(".message .bubble")).to_have_count(len(shown))
    assert await texts(page) == shown
