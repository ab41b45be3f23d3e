"""A real daemon and a real browser; what goes wrong in a page turns its test red."""

import os
import shutil
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


def _site(deployment: Deployment) -> Iterator[Site]:
    deployment.drop_in("page_agent", AGENT.read_text("utf-8"))
    site = Site(deployment)
    yield site
    site.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The daemon that a module's visitors share; nobody ends it."""
    yield from _site(Deployment(tmp_path_factory.mktemp("site")))


@pytest.fixture
def own_site(deployment: Deployment) -> Iterator[Site]:
    """A daemon of one test, to be killed."""
    yield from _site(deployment)


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    if shutil.which(CHROMIUM) is None:
        pytest.skip(f"there is no browser: {CHROMIUM} (JOBCLAW_CHROMIUM names another)")
    expect.set_options(timeout=PATIENCE_MS)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=CHROMIUM, args=list(ARGUMENTS)
        )
        yield browser
        await browser.close()


async def _visitor(site: Site, browser: Browser) -> AsyncIterator[Visitor]:
    context = await browser.new_context(locale="zh-CN", color_scheme="light")
    context.set_default_timeout(PATIENCE_MS)
    visitor = Visitor(context, site.address)
    yield visitor
    await context.close()
    assert visitor.troubles == []


@pytest.fixture
async def visitor(browser: Browser, site: Site) -> AsyncIterator[Visitor]:
    """Somebody new at the shared daemon."""
    async for visitor in _visitor(site, browser):
        yield visitor


@pytest.fixture
async def own_visitor(browser: Browser, own_site: Site) -> AsyncIterator[Visitor]:
    """Somebody new at the daemon of one test."""
    async for visitor in _visitor(own_site, browser):
        yield visitor
