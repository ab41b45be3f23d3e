"""The two console adapters: JSON lines for scripts, a prompt for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jobclaw.spi import ChannelAdapter
from jobclaw_channels.console.json_lines import JsonLinesAdapter
from jobclaw_channels.console.prompt import PromptAdapter
from jobclaw_channels.console.settings import ConsoleSettings


def create(account: str, settings: Mapping[str, Any]) -> ChannelAdapter:
    """Make the adapter of the mode that the settings name."""
    known = {
        name: settings[name] for name in settings if name in ConsoleSettings.__struct_fields__
    }
    console = ConsoleSettings(**known)
    if console.mode == "jsonl":
        return JsonLinesAdapter(account, console)
    return PromptAdapter(account, console)
