"""Keeps calls away from a model that fails, so that nobody waits for what will not come.

closed ─failures in a row─► open ─time─► half-open (one probe) ─► closed, or open for longer

A refused key or an unpaid bill (401, 402, 403) stays until the configuration changes, which
makes a new breaker. A local model that has not answered since the start is cold: it is loading,
and its timeouts do not count, unless it takes longer than any model does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from jobclaw.spi.llm import Failure

OPEN_MOST_S = 300.0
State = Literal["closed", "open", "half-open", "refused"]
_COUNTED: frozenset[Failure] = frozenset({"timeout", "rate-limited", "invalid", "error"})


class Breaker:
    """One model's; `monotonic` gives seconds. Never blocks, never calls anything."""

    def __init__(
        self,
        monotonic: Callable[[], float],
        *,
        failures: int = 3,
        open_s: float = 30.0,
        cold: bool = False,
    ) -> None:
        self._monotonic = monotonic
        self._most = failures
        self._first_s = open_s
        self._open_s = open_s
        self._cold = cold
        self._failures = 0
        self._until = 0.0
        self._state: State = "closed"
        self._probing = False
        self.last_failure: Failure | None = None

    @property
    def state(self) -> State:
        """The state now; an open one whose time is over is half-open."""
        if self._state == "open" and self._monotonic() >= self._until:
            return "half-open"
        return self._state

    @property
    def is_cold(self) -> bool:
        """Whether it is a local model that has not answered yet."""
        return self._cold

    def remaining_s(self) -> float:
        """Seconds until a probe may pass; 0 when one may now."""
        return max(0.0, self._until - self._monotonic()) if self._state == "open" else 0.0

    def refuses(self) -> bool:
        """Whether a call would be kept away now."""
        state = self.state
        return state in ("open", "refused") or (state == "half-open" and self._probing)

    def admit(self) -> bool:
        """Take a call's place; each admitted call must end in one of the three below."""
        if self.refuses():
            return False
        self._probing = self.state == "half-open"
        return True

    def succeeded(self) -> None:
        """It answered: everything bad is forgotten."""
        self._state, self._failures, self._open_s = "closed", 0, self._first_s
        self._probing = self._cold = False
        self.last_failure = None

    def abandoned(self) -> None:
        """Nobody knows: the call was cancelled, or the fault was the question's."""
        self._probing = False

    def overdue(self) -> None:
        """It had its time to load: from now on timeouts count."""
        self._cold = False

    def failed(self, why: Failure, retry_after: float | None = None) -> None:
        """It failed; `retry_after` are the seconds for which it asked to be left alone."""
        self._probing = False
        self.last_failure = why
        if why == "auth":
            self._state = "refused"
        elif why in _COUNTED and not (self._cold and why == "timeout"):
            self._count(retry_after or 0.0)

    def _count(self, least_s: float) -> None:
        state = self.state
        if state == "open":  # admitted before it opened, so it says nothing new
            return
        self._failures += 1
        probe_failed = state == "half-open"
        if probe_failed:
            self._open_s = min(self._open_s * 2, OPEN_MOST_S)
        if probe_failed or self._failures >= self._most or least_s > self._open_s:
            wait_s = min(max(self._open_s, least_s), OPEN_MOST_S)
            self._state, self._until = "open", self._monotonic() + wait_s
