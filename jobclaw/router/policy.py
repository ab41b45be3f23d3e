"""The settings that the router goes by, as plain values."""

from __future__ import annotations

from datetime import timedelta
from typing import Literal

from jobclaw.model import Locale, Value

GateMode = Literal["first", "when_needed", "off"]


class Policy(Value, frozen=True):
    """What the deployment decided; the meaning of each field is in settings/schema.py."""

    default_agent: str = "chat"
    gate: GateMode = "first"
    required_fields: tuple[str, ...] = ("skills", "education")
    ttl: timedelta = timedelta(hours=6)
    sliding: bool = True
    escape: bool = True
    default_pause: timedelta = timedelta(minutes=30)
    clarify: bool = True
    clarify_margin: float = 0.15
    high: float = 0.9
    takeover: timedelta = timedelta(minutes=30)
    agent_timeout_s: float = 120.0
    text_most: int = 20_000
    locale: Locale = "zh"
