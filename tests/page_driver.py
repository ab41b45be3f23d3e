"""Drives the chat page: a deployment whose daemon can be killed, and people with browsers."""

from driver import Deployment
from playwright.async_api import BrowserContext, Page, expect


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

    def end(self) -> int:
        """SIGTERM, and the exit code."""
        code = self._daemon.end()
        self.close()
        return code

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
