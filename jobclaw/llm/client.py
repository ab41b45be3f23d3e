"""The client over litellm: one deadline around everything, attempts, fallbacks, breakers.

Every wait has its own end within the deadline, so that a failure is counted against the model
that caused it: the import, each call, each pause. A cancelled call is cancelled down to its
socket.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from jobclaw.llm.breaker import Breaker
from jobclaw.llm.budget import Budget, Notify
from jobclaw.llm.call import CallError, Calls, Question
from jobclaw.llm.convert import Prices
from jobclaw.llm.library import Library, Litellm, is_installed
from jobclaw.llm.targets import Target, targets_of
from jobclaw.settings.services import LlmSettings
from jobclaw.spi.clock import Clock
from jobclaw.spi.llm import Check, LlmError, LlmMessage, LlmReply, ModelState
from jobclaw.spi.store import UsageBook

_log = logging.getLogger(__name__)
WARM_S = 120.0
PROBE_S = 30.0
TINY_QUESTION = LlmMessage(role="user", content="Answer with the word ok.")
PAUSE_FIRST_S, PAUSE_MOST_S = 0.25, 2.0
RETRY_AFTER_MOST_S = 5.0
SHARE = 0.6


@dataclass(frozen=True)
class Line:
    """One model with its breaker."""

    target: Target
    breaker: Breaker


@dataclass(frozen=True)
class Probe:
    """What came of asking a model once: seconds, and what was wrong if anything was."""

    model: str
    api_base: str
    seconds: float
    error: LlmError | None


class LitellmClient:
    """Implements `spi.LlmClient` for the models of a configuration; see `open_client`."""

    def __init__(
        self, lines: Sequence[Line], calls: Calls, attempts: int, clock: Clock, notify: Notify
    ) -> None:
        self._lines = tuple(lines)
        self._calls = calls
        self._attempts = attempts
        self._clock = clock
        self._notify = notify
        self._library = Library()

    async def complete(
        self,
        messages: Sequence[LlmMessage],
        *,
        deadline_s: float,
        check: Check | None = None,
    ) -> LlmReply:
        """See `spi.LlmClient.complete`."""
        if all(line.breaker.refuses() for line in self._lines):
            raise _refusal(self._lines[0])
        until = _now() + deadline_s
        library = await self._library_by(until)
        question = Question(tuple(messages), until, check)
        failures: list[LlmError] = []
        for place, line in enumerate(self._lines):
            share = self._share(until, self._lines[place + 1 :])
            try:
                return await self._ask(library, line, question, share)
            except LlmError as error:
                failures.append(error)
                _log.warning("the model did not answer: %s", error)
        raise next((error for error in failures if error.why != "open"), failures[0])

    async def prepare(self) -> None:
        """Import litellm, so that the first question need not wait for that; asks nothing."""
        try:
            await self._library.load()
        except LlmError as error:
            _log.warning("the model is not ready: %s", error)

    async def warm(self) -> None:
        """Import litellm and let local models load; a failure shows when somebody asks."""
        try:
            library = await self._library.load()
            for line in self._lines:
                if line.breaker.is_cold and self._is_affordable(line, library):
                    await self._load(library, line)
        except LlmError as error:
            _log.warning("the model is not ready: %s", error)

    async def _load(self, library: Litellm, line: Line) -> None:
        """Let a local model load; one that hangs for so long is none that loads."""
        until = _now() + WARM_S
        try:
            await self._call(library, line, Question((TINY_QUESTION,), until), until)
        except CallError as failed:
            if failed.fault.why == "timeout":
                line.breaker.overdue()
            _log.warning("a local model is not ready: %s", failed.error)

    async def probe(self) -> tuple[Probe, ...]:
        """Ask every model one tiny question, breakers and budget apart.

        Raises:
            LlmError: the library cannot be loaded.
        """
        library = await self._library.load()
        return tuple([await self._probed(library, line.target) for line in self._lines])

    async def _probed(self, library: Litellm, target: Target) -> Probe:
        started = _now()
        until = started + (WARM_S if target.local else PROBE_S)
        error = None
        try:
            await self._calls.ask(library, target, Question((TINY_QUESTION,), until), until)
        except CallError as failed:
            error = failed.error
        return Probe(target.model, target.api_base, _now() - started, error)

    def states(self) -> tuple[ModelState, ...]:
        """How each model is, for `/readyz` and the operator."""
        return tuple(self._state(line) for line in self._lines)

    async def aclose(self) -> None:
        """Close the connections."""
        if self._library.loaded is not None:
            await self._library.loaded.close_litellm_async_clients()

    async def _library_by(self, until: float) -> Litellm:
        try:
            async with asyncio.timeout_at(until):
                return await self._library.load()
        except TimeoutError:
            model = self._lines[0].target.model
            raise LlmError("timeout", model, "import litellm") from None

    async def _ask(
        self, library: Litellm, line: Line, question: Question, until: float
    ) -> LlmReply:
        """Ask one model, and again where that may help; an answer is mended once at most."""
        if not self._is_affordable(line, library):
            raise LlmError("budget", line.target.model)
        is_mending = False
        for attempt in range(1, self._attempts + 1):
            try:
                return await self._call(library, line, question, until)
            except CallError as failed:
                is_last = attempt == self._attempts or is_mending or not failed.fault.again
                if is_last or not await _paused(attempt, failed, until):
                    raise failed.error from None
                question, is_mending = failed.question, failed.fault.why == "invalid"
        raise AssertionError("the last attempt returns or raises")

    def _is_affordable(self, line: Line, library: Litellm) -> bool:
        """Whether the month's budget lets this model be asked."""
        return self._calls.budget.allows(line.target.model, Prices(library.model_cost))

    def _share(self, until: float, others: Sequence[Line]) -> float:
        """When a model must have answered, so that the ones after it can be asked too."""
        if all(line.breaker.refuses() for line in others):
            return until
        return _now() + (until - _now()) * SHARE

    async def _call(
        self, library: Litellm, line: Line, question: Question, until: float
    ) -> LlmReply:
        """Ask one model once, under its breaker."""
        if not line.breaker.admit():
            raise _refusal(line)
        is_counted = False
        try:
            reply = await self._calls.ask(library, line.target, question, until)
            line.breaker.succeeded()
            is_counted = True
        except CallError as failed:
            is_counted = failed.fault.counts
            if is_counted:
                line.breaker.failed(failed.fault.why, failed.fault.retry_after)
            if failed.fault.why == "auth":
                values = {"model": line.target.model, "reason": failed.fault.detail}
                self._notify("notice.llm-auth", values)
            raise
        finally:
            if not is_counted:
                line.breaker.abandoned()
        return reply

    def _state(self, line: Line) -> ModelState:
        model, breaker = line.target.model, line.breaker
        library = self._library.loaded
        if self._library.is_missing or (library is None and not is_installed()):
            return ModelState(model=model, state="missing")
        if breaker.state == "refused":
            return ModelState(model=model, state="auth")
        if wait_s := breaker.remaining_s():
            at = self._clock.now() + timedelta(seconds=wait_s)
            reason = breaker.last_failure or ""
            return ModelState(model=model, state="open", reason=reason, retry_at=at)
        if library and not self._is_affordable(line, library):
            return ModelState(model=model, state="budget")
        return ModelState(model=model, state="ok")


async def _paused(attempt: int, failed: CallError, until: float) -> bool:
    """Wait before another attempt; False, at once, if it would come too late."""
    if failed.fault.why == "invalid":
        return _now() < until
    asked_s = failed.fault.retry_after or 0.0
    grown_s = min(PAUSE_FIRST_S * 2 ** (attempt - 1), PAUSE_MOST_S)
    pause_s = max(asked_s, grown_s * random.uniform(0.5, 1.0))  # noqa: S311 - no secret
    if asked_s > RETRY_AFTER_MOST_S or _now() + pause_s >= until:
        return False
    await asyncio.sleep(pause_s)
    return True


def _refusal(line: Line) -> LlmError:
    is_refused = line.breaker.state == "refused"
    return LlmError("auth" if is_refused else "open", line.target.model)


def _now() -> float:
    return asyncio.get_running_loop().time()


def open_client(
    settings: LlmSettings,
    book: UsageBook,
    clock: Clock,
    notify: Notify,
    clean: Callable[[str], str],
) -> LitellmClient | None:
    """The client of a configuration, None without a model; nothing is imported yet.

    `notify` is given the id and values of a sentence for the operator; `clean` takes secrets
    out of a text.
    """
    if not settings.model:
        return None
    lines = [
        Line(
            target,
            Breaker(
                clock.monotonic,
                failures=settings.breaker_failures,
                open_s=settings.breaker_open_s,
                cold=target.local,
            ),
        )
        for target in targets_of(settings)
    ]
    calls = Calls(settings, Budget(book, settings, clock, notify), clean)
    return LitellmClient(lines, calls, settings.max_attempts, clock, notify)
