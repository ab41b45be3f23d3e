"""The web channel: the chat page `/chat` of the daemon's own web server."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jobclaw.spi import ChannelAdapter, ChannelPlugin, hookimpl

BOT_NAMES = frozenset({"jobclaw", "jobclawbot", "bot"})


def _create(account: str, settings: Mapping[str, Any]) -> ChannelAdapter:
    from jobclaw_channels.web.adapter import create  # noqa: PLC0415 - only when it is used

    return create(account, settings)


@hookimpl
def jobclaw_channels() -> list[ChannelPlugin]:
    """Provide the channel; whoever reaches the page may write, under a name of chance."""
    locales = Path(__file__).parent / "locales"
    return [
        ChannelPlugin(name="web", create=_create, bot_names=BOT_NAMES, locales=locales),
    ]
