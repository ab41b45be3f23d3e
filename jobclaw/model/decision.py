"""How a message was classified and routed, and the record that `why` shows.

Field names of `RouteDecision` are the interface of `route --json`, `why --json`, the `decision`
lines of `chat --jsonl` and the API (design.md §Interfaces).
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from jobclaw.model.base import Value

Step = Literal["identity", "command", "switch", "binding", "classify"]
Tier = Literal["command", "keyword", "learned", "llm", "clarify", "fallback", "none"]
Outcome = Literal[
    "answered", "command", "hint", "clarify", "refused", "failed", "dropped", "superseded"
]
DiscountReason = Literal["", "negated", "quoted", "inside"]
UNKNOWN = "UNKNOWN"


class KeywordHit(Value, frozen=True):
    """A keyword found in the text; `start` indexes the original text (code points).

    `why` is empty when the hit counts, else why it does not: governed by a negator, in a
    quotation, code, URL, file name or identifier, or inside a longer hit.
    """

    keyword: str
    intent: str
    weight: float
    start: int
    counted: bool = True
    why: DiscountReason = ""


class RunnerUp(Value, frozen=True):
    """The intent that came second."""

    intent: str
    confidence: float


class TierTrace(Value, frozen=True):
    """One tier that was tried: `outcome` is hit, low, tie, none, skipped, or why it failed."""

    tier: Tier
    outcome: str
    ms: float


class LlmView(Value, frozen=True):
    """What the model was asked and answered, bounded; `raw` is its answer as it came."""

    model: str
    tokens: int = 0
    cost_usd: float = 0.0
    reasoning: str = ""
    raw: str = ""


class Classification(Value, frozen=True):
    """What the cascade says of a text. `intent` is UNKNOWN when nothing was certain.

    `certain` is False for a low guess or a tie: then `candidates` (best first) feed the
    clarification question and `intent` is the guess. `confidence` of 0.9 and more is reported
    as 1.0.
    """

    intent: str
    confidence: float
    tier: Tier
    certain: bool
    keywords: tuple[KeywordHit, ...] = ()
    candidates: tuple[RunnerUp, ...] = ()
    runner_up: RunnerUp | None = None
    margin: float | None = None
    tiers: tuple[TierTrace, ...] = ()
    llm: LlmView | None = None


class RemovedAgent(Value, frozen=True):
    """An agent that would have answered but may not or cannot, and why."""

    agent: str
    why: Literal["role", "unavailable", "disabled", "default", "missing"]


class BindingView(Value, frozen=True):
    """The binding at the time of the decision."""

    agent: str
    bound_at: datetime | None = None
    expires_at: datetime | None = None


class RouteDecision(Value, frozen=True):
    """The stored explanation of one message.

    `message` is our id, `platform_message` the sender's. `detail` refines the outcome (the
    command that ran, why a message was dropped, `escape`, `pick`, `gate`, an error id).
    `replayed` names the earlier message whose text was answered here (after the profile
    questions or a clarification).
    """

    message: str
    session: str
    user: str
    role: str
    step: Step
    tier: Tier
    intent: str
    confidence: float
    agent: str
    outcome: Outcome
    at: datetime
    v: int = 1
    platform_message: str = ""
    text: str = ""
    detail: str = ""
    replayed: str = ""
    escaped_from: str = ""
    keywords: tuple[KeywordHit, ...] = ()
    runner_up: RunnerUp | None = None
    margin: float | None = None
    tiers: tuple[TierTrace, ...] = ()
    removed: tuple[RemovedAgent, ...] = ()
    binding: BindingView | None = None
    llm: LlmView | None = None
    revision: str = ""
