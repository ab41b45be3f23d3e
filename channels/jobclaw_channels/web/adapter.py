"""The adapter: takes messages from the page, tells open pages what leaves."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jobclaw.errors import PermanentChannelError
from jobclaw.model import Attachment, DeliveryReceipt, OutboundMessage
from jobclaw.spi import (
    Capabilities,
    Catalogue,
    ChannelHealth,
    CommandInfo,
    HttpRoute,
    Sink,
)
from jobclaw_channels.web.chat_routes import Account, ChatRoutes
from jobclaw_channels.web.markdown_tree import MarkdownTree
from jobclaw_channels.web.settings import WebSettings
from jobclaw_channels.web.streams import Streams
from jobclaw_channels.web.uploads import Uploads

_log = logging.getLogger(__name__)


def create(account: str, settings: Mapping[str, Any]) -> WebAdapter:
    """Make the adapter of an account.

    Raises:
        PermanentChannelError: `access` asks for something that an anonymous page cannot do.
    """
    known = {name: settings[name] for name in settings if name in WebSettings.__struct_fields__}
    web = WebSettings(**known)
    if web.access != "open":
        raise PermanentChannelError("web.access-open-only", account=account, access=web.access)
    return WebAdapter(account, web)


class WebAdapter:
    """See `spi.HttpChannel`."""

    capabilities = Capabilities(
        markdown="rich", buttons=True, stream="native", typing=True, idempotent=True
    )

    def __init__(self, account: str, settings: WebSettings) -> None:
        trees = MarkdownTree()
        self._streams = Streams(trees, settings.streams_most)
        self._account = Account(account, self._streams, trees)
        self._uploads = Uploads(settings)
        texts = Catalogue((Path(__file__).parent / "locales", *settings.locales))
        self._routes = ChatRoutes(self._account, settings, texts, self._uploads)
        self._since = datetime.now(UTC)
        self._last_out: datetime | None = None

    def routes(self) -> Sequence[HttpRoute]:
        """See `spi.HttpChannel`."""
        return self._routes.routes()

    async def start(self, sink: Sink) -> None:
        """See `spi.ChannelAdapter`; a disk that refuses to be tidied stops nobody."""
        try:
            await asyncio.to_thread(self._uploads.purge, time.time())
        except OSError:
            _log.exception("old uploads could not be removed")
        self._since = datetime.now(UTC)
        self._account.open(sink)

    async def stop(self, grace_s: float) -> None:  # noqa: ARG002 - nothing of it is under way
        """See `spi.ChannelAdapter`; pages see their streams end, and come again."""
        self._account.close()

    async def send(self, message: OutboundMessage) -> DeliveryReceipt:
        """See `spi.ChannelAdapter`; a reply is on disk, and pages are told to read it there."""
        user = message.target.conversation
        if message.op == "stream_delta":
            self._streams.preview(user, message)
        else:
            self._streams.wake(user)
        self._last_out = datetime.now(UTC)
        return DeliveryReceipt(ok=True, message_ids=(message.id,))

    def fetch(self, attachment: Attachment) -> AsyncIterator[bytes]:
        """See `spi.ChannelAdapter`."""
        return self._uploads.fetch(attachment)

    def health(self) -> ChannelHealth:
        """See `spi.ChannelAdapter`."""
        return ChannelHealth(
            state="ok" if self._account.is_open else "down",
            since=self._since,
            last_in=self._account.last_in,
            last_out=self._last_out,
        )

    async def register_commands(self, commands: Sequence[CommandInfo]) -> None:
        """See `spi.ChannelAdapter`; the page has no menu."""
