"""The port to a language model, for the third tier of the classifier and for agents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from jobclaw.model import Value


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


class LlmClient(Protocol):
    """A model behind a deadline; it fails with an IntentError or AgentError, never hangs."""

    async def complete(self, messages: Sequence[LlmMessage], *, deadline_s: float) -> LlmReply:
        """Ask once; `deadline_s` is wall-clock seconds around the whole call."""
        ...
