"""The port to a language model, for the third tier of the classifier and for agents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Literal, Protocol

from jobclaw.errors import IntentError
from jobclaw.model import LlmView, RunnerUp, Value

Failure = Literal[
    "timeout", "open", "budget", "rate-limited", "auth", "error", "missing", "invalid"
]
Check = Callable[[str], str]


class LlmMessage(Value, frozen=True):
    """One turn of the conversation with the model."""

    role: Literal["system", "user", "assistant"]
    content: str


class LlmReply(Value, frozen=True):
    """What the model answered, with what it cost."""

    text: str
    model: str
    tokens: int = 0
    cost_usd: float = 0.0


class LlmError(IntentError):
    """Why no model answered, as in `IntentAnswer.outcome`; never holds a secret.

    `model` is the one that was asked last, `reply` the answer that was of no use (invalid).
    """

    def __init__(
        self, why: Failure, model: str = "", detail: str = "", reply: LlmReply | None = None
    ) -> None:
        super().__init__(f"llm.{why}", model=model, detail=detail)
        self.why: Failure = why
        self.model = model
        self.reply = reply


class LlmClient(Protocol):
    """A model behind a deadline; it fails with an LlmError, never hangs."""

    async def complete(
        self,
        messages: Sequence[LlmMessage],
        *,
        deadline_s: float,
        check: Check | None = None,
    ) -> LlmReply:
        """Ask once; `deadline_s` is wall-clock seconds around the whole call.

        `check` says in the model's words what is wrong with an answer, empty if nothing: the
        model may then mend it once. An answer that stays wrong fails as invalid.

        Raises:
            LlmError: there is no usable answer.
        """
        ...


class IntentChoice(Value, frozen=True):
    """An intent that the sender may ask for, with the agent that would answer."""

    intent: str
    agent: str
    description: str
    examples: tuple[str, ...] = ()


class IntentQuestion(Value, frozen=True):
    """What the third tier is asked: a text, the permitted choices, and the turns before.

    `turns`, oldest first, are pairs of what was said and what was answered.
    """

    text: str
    choices: tuple[IntentChoice, ...]
    turns: tuple[tuple[str, str], ...] = ()


class IntentAnswer(Value, frozen=True):
    """The third tier's word: an intent of the choices, or UNKNOWN; `outcome` says why.

    `outcome`: hit, low (below `intent.llm_threshold`), unknown (the model knows none, or named
    what is no choice), invalid (no usable answer), or why no model answered: timeout, open,
    budget, rate-limited, auth, error, missing. `ms` is wall-clock time.
    """

    intent: str
    confidence: float
    outcome: str
    ms: float = 0.0
    runner_up: RunnerUp | None = None
    llm: LlmView | None = None


class IntentModel(Protocol):
    """The third tier of the classifier."""

    async def ask(self, question: IntentQuestion) -> IntentAnswer:
        """Answer within the configured deadline; never raises but for cancellation."""
        ...


class ModelState(Value, frozen=True):
    """How one model is: `open` means that its breaker keeps calls away until `retry_at`."""

    model: str
    state: Literal["ok", "open", "auth", "budget", "missing"]
    reason: str = ""
    retry_at: datetime | None = None
