"""A real daemon and a real browser; what goes wrong in a page turns its test red."""

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from driver import Deployment
from playwright.async_api import Browser, BrowserContext, Page, async_playwright, expect

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


class Site:
    """A deployment with its daemon, which can be killed and started again at the same place."""

    def __init__(self, deployment: Deployment) -> None:
        self._folder = deployment.folder
        self._deployment = deployment
        self._daemon = deployment.daemon()
        self.address = self._daemon.address

    def start(self) -> None:
        """Start it again."""
        port = self.address.rpartition(":")[2]
        self._daemon = self._deployment.daemon("--port", port)

    def kill(self) -> None:
        """`kill -9`."""
        self._daemon.kill()
        self.close()

    def close(self) -> None:
        """End what is left of it."""
        self._daemon.__exit__()

    def let(self, name: str) -> None:
        """Let the agent that waits for `name` go on."""
        (self._folder / name).touch()


class Visitor:
    """One person's browser with its open pages; `troubles` is what their consoles reported."""

    def __init__(self, context: BrowserContext, address: str) -> None:
        self.context = context
        self.address = address
        self.troubles: list[str] = []

    async def open(self) -> Page:
        """Open the chat in a new tab, and wait until the bot has said something."""
        page = await self.context.new_page()
        page.on("pageerror", lambda error: self.troubles.append(str(error)))
        page.on("console", lambda said: self._heard(said.type, said.text))
        await page.goto(f"{self.address}/chat")
        await expect(page.locator(".theirs").first).to_be_visible()
        await expect(page.locator("#state")).to_have_attribute("data-state", "online")
        return page

    def _heard(self, kind: str, text: str) -> None:
        if kind in ("error", "warning") and "net::" not in text:
            self.troubles.append(text)


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
