"""The console channel: talk to the bot in a terminal, or as JSON lines from a script."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jobclaw.spi import ChannelAdapter, ChannelPlugin, hookimpl

BOT_NAMES = frozenset({"jobclaw", "jobclawbot", "bot"})


def _create(account: str, settings: Mapping[str, Any]) -> ChannelAdapter:
    from jobclaw_channels.console.adapter import create  # noqa: PLC0415 - only when it is used

    return create(account, settings)


@hookimpl
def jobclaw_channels() -> list[ChannelPlugin]:
    """Provide the channel; its senders sit at this machine, so they may claim a role."""
    return [
        ChannelPlugin(name="console", create=_create, trusted_roles=True, bot_names=BOT_NAMES)
    ]
