"""The third tier of the classifier: asks a language model, and trusts nothing it says.

Whatever happens in there, the answer is one of the choices or UNKNOWN, in time, with the reason
(`IntentAnswer.outcome`) for the record. Only valid answers are remembered, never failures.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict

import msgspec

from jobclaw.errors import JobclawError
from jobclaw.intent.model_judgement import Labels, judge, judge_runner_up
from jobclaw.intent.model_prompt import REPAIR, prompt
from jobclaw.intent.model_reading import legible, read_answer
from jobclaw.intent.normalise import LIMIT, fold
from jobclaw.model import LlmView, Value
from jobclaw.model.decision import UNKNOWN
from jobclaw.spi.clock import Clock
from jobclaw.spi.llm import IntentAnswer, IntentQuestion, LlmClient, LlmError, LlmReply

_log = logging.getLogger(__name__)
REASONING_MOST, RAW_MOST = 500, 2000
CACHE_MOST = 1000
# A client keeps its deadline itself and says why it could not answer; this one is for a client
# that does not.
GRACE_S = 1.0
_Key = tuple[str, tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]


class ModelRules(Value, frozen=True):
    """Seconds for a question, the least confidence of a hit, how long answers are kept."""

    deadline_s: float = 8.0
    threshold: float = 0.7
    cache_s: float = 3600.0


class ModelTier:
    """Implements `spi.IntentModel` over a client, with a memory for equal questions.

    The memory is of one client with its models: a new configuration is a new tier.
    """

    def __init__(self, client: LlmClient, rules: ModelRules, clock: Clock) -> None:
        self._client = client
        self._rules = rules
        self._clock = clock
        self._kept: OrderedDict[_Key, tuple[float, IntentAnswer]] = OrderedDict()

    async def ask(self, question: IntentQuestion) -> IntentAnswer:
        """See `spi.IntentModel.ask`."""
        started = self._clock.monotonic()
        key = _key(question)
        answer = self._remembered(key, started)
        if answer is None:
            answer = await self._asked(question)
            if answer.outcome in ("hit", "low", "unknown"):
                self._remember(key, answer)
        elapsed_ms = round((self._clock.monotonic() - started) * 1000, 3)
        return msgspec.structs.replace(answer, ms=elapsed_ms)

    async def _asked(self, question: IntentQuestion) -> IntentAnswer:
        try:
            async with asyncio.timeout(self._rules.deadline_s + GRACE_S):
                reply = await self._client.complete(
                    prompt(question), deadline_s=self._rules.deadline_s, check=_check
                )
        except LlmError as error:
            reply = error.reply or LlmReply(text="", model=error.model)
            return _failed(error.why, reply)
        except TimeoutError:
            return _failed("timeout", LlmReply(text="", model=""))
        except JobclawError as error:
            _log.warning("the model could not be asked: %s", error)
            return _failed("error", LlmReply(text="", model=""))
        except Exception:  # noqa: BLE001 - a client may be anybody's
            _log.exception("the model's client raised")
            return _failed("error", LlmReply(text="", model=""))
        return self._judged(question, reply)

    def _judged(self, question: IntentQuestion, reply: LlmReply) -> IntentAnswer:
        found = read_answer(reply.text)
        if found is None:
            return _failed("invalid", reply)
        labels = Labels([choice.intent for choice in question.choices])
        intent, confidence = judge(found, labels)
        reasoning = found.get("reasoning")
        llm = _view(reply, reasoning if isinstance(reasoning, str) else "")
        if confidence is None:
            return IntentAnswer(intent=UNKNOWN, confidence=0.0, outcome="invalid", llm=llm)
        if intent == UNKNOWN:
            return IntentAnswer(intent=UNKNOWN, confidence=0.0, outcome="unknown", llm=llm)
        return IntentAnswer(
            intent=intent,
            confidence=confidence,
            outcome="hit" if confidence >= self._rules.threshold else "low",
            runner_up=judge_runner_up(found, labels, intent),
            llm=llm,
        )

    def _remembered(self, key: _Key, now: float) -> IntentAnswer | None:
        """An earlier answer to the same question, which costs nothing now."""
        kept = self._kept.get(key)
        if kept is None:
            return None
        until, answer = kept
        if now >= until:
            del self._kept[key]
            return None
        self._kept.move_to_end(key)
        return answer

    def _remember(self, key: _Key, answer: IntentAnswer) -> None:
        if self._rules.cache_s <= 0:
            return
        if answer.llm is not None:
            free = msgspec.structs.replace(answer.llm, tokens=0, cost_usd=0.0)
            answer = msgspec.structs.replace(answer, llm=free)
        self._kept[key] = (self._clock.monotonic() + self._rules.cache_s, answer)
        if len(self._kept) > CACHE_MOST:
            self._kept.popitem(last=False)


def _check(text: str) -> str:
    return REPAIR if read_answer(text) is None else ""


def _failed(why: str, reply: LlmReply) -> IntentAnswer:
    view = _view(reply, "") if reply.model or reply.text else None
    return IntentAnswer(intent=UNKNOWN, confidence=0.0, outcome=why, llm=view)


def _view(reply: LlmReply, reasoning: str) -> LlmView:
    return LlmView(
        model=reply.model,
        tokens=reply.tokens,
        cost_usd=reply.cost_usd,
        reasoning=legible(reasoning, REASONING_MOST),
        raw=legible(reply.text, RAW_MOST),
    )


def _key(question: IntentQuestion) -> _Key:
    choices = tuple((choice.intent, choice.description) for choice in question.choices)
    return fold(question.text[:LIMIT]), choices, question.turns
