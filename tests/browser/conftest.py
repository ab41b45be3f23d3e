"""A real daemon and a real browser; what goes wrong in a page turns its test red."""

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from driver import Deployment
from page_driver import Site, Visitor
from playwright.async_api import Browser, async_playwright, expect

CHROMIUM = os.environ.get("JOBCLAW_CHROMIUM", "/usr/bin/chromium")
ARGUMENTS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PATIENCE_MS = 15_000
AGENT = Path(__file__).parent / "page_agent.py"


@pytest.fixture
def site(deployment: Deployment) -> Iterator[Site]:
    if not Path(CHROMIUM).exists():
        pytest.skip(f"there is no browser: {CHROMIUM} (JOBCLAW_CHROMIUM names another)")
    deployment.drop_in("page_agent", AGENT.read_text("utf-8"))
    site = Site(deployment)
    yield site
    site.close()


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    expect.set_options(timeout=PATIENCE_MS)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=CHROMIUM, args=list(ARGUMENTS)
        )
        yield browser
        await browser.close()


@pytest.fixture
async def visitor(site: Site, browser: Browser) -> AsyncIterator[Visitor]:
    context = await browser.new_context(locale="zh-CN", color_scheme="light")
    context.set_default_timeout(PATIENCE_MS)
    visitor = Visitor(context, site.address)
    yield visitor
    await context.close()
    assert visitor.troubles == []
