"""Reads what litellm gives back: an answer, a price, a failure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from jobclaw.spi.llm import Failure, LlmReply

TEXT_MOST = 64 * 1024
DETAIL_MOST = 200
REFUSED = frozenset({401, 402, 403})
OVERLOADED = 429
NOT_FOUND = 404
_TIMEOUTS = frozenset({"Timeout", "APITimeoutError", "TimeoutError"})
# Long runs of letters and digits: keys, or parts that a provider shows of them.
_KEY_LIKE = re.compile(r"\b(?:sk-|Bearer\s+)\S+|[A-Za-z0-9_*-]{20,}")


@dataclass(frozen=True)
class Fault:
    """Why a call failed.

    `again`: the same call may succeed soon, after `retry_after` seconds if given. `counts`: it
    says something of the model's health, not only of this question.
    """

    why: Failure
    detail: str
    again: bool = False
    counts: bool = True
    retry_after: float | None = None


@dataclass(frozen=True)
class Used:
    """What a call used; `priced` is False where nobody knows what a token costs."""

    tokens: int
    cost_usd: float
    priced: bool


def text_of(response: object) -> str | None:
    """The first 64 KiB of the answer's text, None if it is no answer."""
    choices = getattr(response, "choices", None)
    if not isinstance(choices, Sequence) or not choices:
        return None
    message = getattr(cast("Sequence[object]", choices)[0], "message", None)
    content = getattr(message, "content", None)
    return content[:TEXT_MOST] if isinstance(content, str) else None


def reply_of(response: object, model: str, prices: Prices) -> LlmReply:
    """The answer with what it used."""
    used = prices.used(model, getattr(response, "usage", None))
    text = text_of(response) or ""
    return LlmReply(text=text, model=model, tokens=used.tokens, cost_usd=used.cost_usd)


class Prices:
    """What tokens cost, by litellm's own list."""

    def __init__(self, table: Mapping[str, Mapping[str, object]]) -> None:
        self._table = table

    def is_known(self, model: str) -> bool:
        """Whether there is a price for a model, which may be zero."""
        return self._of(model) is not None

    def used(self, model: str, usage: object) -> Used:
        """What a call cost that used `usage`."""
        asked, said = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
        price = self._of(model)
        cost = 0.0 if price is None else asked * price[0] + said * price[1]
        return Used(asked + said, cost, price is not None)

    def _of(self, model: str) -> tuple[float, float] | None:
        """US dollars for one token of the question and of the answer."""
        provider, _, name = model.rpartition("/")
        entry = self._table.get(model)
        if entry is None:
            entry = self._table.get(name, {})
            if provider and entry.get("litellm_provider") != provider:
                return None
        asked, said = entry.get("input_cost_per_token"), entry.get("output_cost_per_token")
        if not isinstance(asked, int | float) or not isinstance(said, int | float):
            return None
        return float(asked), float(said)


def fault_of(error: Exception, secret: str) -> Fault:
    """What a raised error means; its words are kept only without keys, and in short."""
    status = getattr(error, "status_code", None)
    status = status if isinstance(status, int) else 0
    kind = type(error).__name__
    if status in REFUSED:  # providers like to repeat a part of the key
        return Fault("auth", f"HTTP {status}")
    if kind in _TIMEOUTS:
        return Fault("timeout", kind, again=True)
    detail = f"{kind}: {_first_line(error, secret)}"
    if status == OVERLOADED:
        return Fault("rate-limited", f"HTTP {status}", again=True, retry_after=_wait(error))
    if OVERLOADED > status >= 400:  # noqa: PLR2004 - the question, or the model's name
        return Fault("error", detail, counts=status == NOT_FOUND)
    return Fault("error", detail, again=True, retry_after=_wait(error))


def _wait(error: Exception) -> float | None:
    """The seconds of Retry-After; a date, which few send, counts as not said."""
    response = getattr(error, "response", None)
    for headers in (
        getattr(error, "litellm_response_headers", None),
        getattr(response, "headers", None),
    ):
        if isinstance(headers, Mapping):
            said = cast("Mapping[str, object]", headers).get("retry-after")
            try:
                return max(0.0, min(float(str(said)), 86_400.0))
            except ValueError:
                continue
    return None


def _first_line(error: Exception, secret: str) -> str:
    line = next(iter(str(error).splitlines()), "").strip()
    line = line.rpartition("Exception - ")[2].rstrip(".")  # litellm's own words come first
    if secret:
        line = line.replace(secret, "…")
    return _KEY_LIKE.sub("…", line)[:DETAIL_MOST]


def _count(usage: object, name: str) -> int:
    value = getattr(usage, name, None)
    return max(0, value) if isinstance(value, int) else 0
