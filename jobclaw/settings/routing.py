"""How messages are classified, bound and routed (spec: the seven steps of the router)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from jobclaw.errors import ConfigError
from jobclaw.settings.fields import (
    Count,
    Limit,
    Number,
    Section,
    Share,
    ShippedPath,
    Strings,
    Switch,
    complain,
)

GateMode = Literal["first", "when_needed", "off"]
AutoSwitch = Literal["auto", "on", "off"]


def _gate_mode(value: object) -> object:
    """YAML reads `off` as false; true and false stand for first and off."""
    if isinstance(value, bool):
        return "first" if value else "off"
    return value


def _auto_switch(value: object) -> object:
    if isinstance(value, bool):
        return "on" if value else "off"
    return value


class RouterSettings(Section):
    """Who answers when nobody else does, and what a newcomer is asked first."""

    default_agent: str = "chat"
    """Id of the agent for everything that no other agent is found for."""

    identity_gate: Annotated[GateMode, BeforeValidator(_gate_mode)] = "first"
    """When a newcomer is asked for the required fields: `first` before being served in a direct
    chat, `when_needed` only before an agent that declares `requires_profile`, `off` never.
    `true` and `false` stand for first and off."""

    required_fields: Strings = ("skills", "education")
    """Profile fields that must be known; one question each, so the default asks two."""


class BindingSettings(Section):
    """How long a session stays with its agent, and what moves it."""

    ttl_hours: Annotated[Number, Field(gt=0, le=24 * 366)] = 6.0
    """Hours until a session forgets its agent: half a working day, so that tomorrow's question
    is classified anew."""

    renew: Literal["sliding", "fixed"] = "sliding"
    """`sliding`: every message starts the hours again; `fixed`: they count from the binding."""

    escape: Switch = True
    """Whether a certain keyword of another agent moves a bound session to that agent."""

    default_agent_minutes: Annotated[Number, Field(ge=0)] = 30.0
    """Minutes after an answer of the default agent during which the model is not asked again,
    so that small talk does not cost a call a message."""


class TakeoverSettings(Section):
    """Conversations that a person has taken over from the bot."""

    resume_minutes: Annotated[Number, Field(gt=0)] = 30.0
    """Minutes of silence after which the bot answers again."""


class LearnedSettings(Section):
    """The tier that learns from labelled examples; closed until trained."""

    enabled: Annotated[AutoSwitch, BeforeValidator(_auto_switch)] = "auto"
    """`auto`: used as soon as it has been trained; `true`/`false` force it."""

    precision: Share = 0.95
    """Precision whose lower confidence bound the tier must reach before it answers."""

    encoder: Literal["ngram", "encoder"] = "ngram"
    """`ngram` is fast and needs nothing more; `encoder` needs the extra of that name."""


class ClarifySettings(Section):
    """The question asked when two intents are equally likely."""

    enabled: Switch = True
    """Whether to ask at all; otherwise the best guess or the default agent answers."""

    margin: Share = 0.15
    """Ask when the two best confidences are nearer to each other than this."""


class IntentSettings(Section):
    """The cascade of classifiers."""

    keywords_file: ShippedPath = Path("config/keywords.yaml")
    """Table of weighted keywords; `keywords.local.yaml` in the same folder overlays it."""

    high: Share = 0.9
    """From this weight on a keyword is certain and is reported as 1.0."""

    medium: Share = 0.7
    """From this weight on a keyword decides; below it is kept as a guess."""

    llm_threshold: Share = 0.7
    """Least confidence at which the model's answer is used."""

    learned: LearnedSettings = Field(default_factory=LearnedSettings)
    """The learned tier."""

    clarify: ClarifySettings = Field(default_factory=ClarifySettings)
    """The clarifying question."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.medium > self.high:
            complain([(("medium",), ConfigError("config.medium-above-high", high=self.high))])
        return self


class BusSettings(Section):
    """Bounds of the queues between channels and agents."""

    max_parallel: Limit = 64
    """Conversations handled at the same time."""

    lane_limit: Limit = 50
    """Messages that may wait in one conversation; the next one gets a notice."""

    ready_limit: Limit = 10_000
    """Messages that may wait in all; beyond it channels stop taking more."""

    merge_window_ms: Count = 0
    """Milliseconds in which messages of one sender become one; 0 merges none, and nobody waits
    longer for an answer."""

    max_bot_turns: Limit = 6
    """Consecutive messages of bots in one chat after which none is answered."""

    dedup_days: Limit = 8
    """Days for which a message is recognised when a platform sends it again; the longest retry
    ladder known is seven hours, people resend after a weekend."""


class LimitSettings(Section):
    """How much one user may send."""

    user_per_minute: Limit = 20
    """Messages of one user per minute; more of them wait in the lane."""

    burst: Limit = 10
    """Messages that may come at once before the rate counts."""

    text_max_chars: Limit = 20_000
    """Characters of one message that are kept; agents get no more."""
