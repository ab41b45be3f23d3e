"""One call to one model: what is sent, what comes back, what a failure means."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace

from jobclaw.llm.budget import Budget
from jobclaw.llm.convert import Fault, Prices, fault_of, reply_of, text_of
from jobclaw.llm.library import Litellm
from jobclaw.llm.targets import Target
from jobclaw.settings.services import LlmSettings
from jobclaw.spi.llm import Check, LlmError, LlmMessage, LlmReply

_log = logging.getLogger(__name__)
TIMEOUT_LEAST_S = 0.1
REPAIRED_CHARS = 2000
NO_KEY = "none"  # litellm asks nothing of OpenAI's kind without some key


@dataclass(frozen=True)
class Question:
    """What is asked, until when (the loop's time), and how an answer is checked."""

    messages: tuple[LlmMessage, ...]
    until: float
    check: Check | None = None


class CallError(Exception):
    """A call failed with `fault`; `question` is what to ask if it is tried again."""

    def __init__(
        self, model: str, question: Question, fault: Fault, reply: LlmReply | None = None
    ) -> None:
        super().__init__(fault.detail)
        self.error = LlmError(fault.why, model, fault.detail, reply)
        self.fault = fault
        self.question = question


class Calls:
    """Makes calls and counts what they use. No retries, here or in litellm.

    `clean` takes the deployment's secrets out of what leaves, whoever wrote them into it.
    """

    def __init__(
        self, settings: LlmSettings, budget: Budget, clean: Callable[[str], str]
    ) -> None:
        self._settings = settings
        self._clean = clean
        self.budget = budget

    async def ask(
        self, library: Litellm, target: Target, question: Question, until: float
    ) -> LlmReply:
        """Ask once and have the answer by `until`, checked.

        Raises:
            CallError: it failed, or the answer is of no use.
        """
        model = target.model
        try:
            async with asyncio.timeout_at(until):
                response = await library.acompletion(**self._arguments(target, question, until))
        except TimeoutError:
            raise CallError(model, question, Fault("timeout", "deadline")) from None
        except Exception as error:  # noqa: BLE001 - a library's own, of many kinds
            fault = fault_of(error, target.api_key)
            _log.debug("%s failed: %s", model, fault.detail)  # a traceback would show the key
            raise CallError(model, question, fault) from None
        reply = reply_of(response, model, Prices(library.model_cost))
        await self.budget.count(reply)
        wrong = "" if text_of(response) is not None else "There was no text in your answer."
        if not wrong and question.check is not None:
            wrong = question.check(reply.text)
        if wrong:
            fault = Fault("invalid", "unusable answer", again=True)
            raise CallError(model, _mending(question, reply, wrong), fault, reply)
        return reply

    def _arguments(self, target: Target, question: Question, until: float) -> dict[str, object]:
        left_s = until - asyncio.get_running_loop().time()
        given: dict[str, object] = {
            "model": target.model,
            "messages": [
                {"role": part.role, "content": self._clean(part.content)}
                for part in question.messages
            ],
            "temperature": 0,
            "max_tokens": self._settings.max_tokens,
            "timeout": max(TIMEOUT_LEAST_S, left_s),
            "max_retries": 0,
            "num_retries": 0,
            "stream": False,
        }
        if target.api_base:
            given["api_base"] = target.api_base
        if target.api_key or target.is_keyless:
            given["api_key"] = target.api_key or NO_KEY
        return given


def _mending(question: Question, reply: LlmReply, wrong: str) -> Question:
    """The question again, with the answer and what is wrong with it."""
    if not reply.text.strip():
        return question
    said = LlmMessage(role="assistant", content=reply.text[:REPAIRED_CHARS])
    again = LlmMessage(role="user", content=wrong)
    return replace(question, messages=(*question.messages, said, again))
