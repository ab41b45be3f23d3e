"""A model that answers from a script: for tests of jobclaw, of plugins and of deployments.

    client = ScriptedLlm(['{"intent": "CHAT", "confidence": 0.9}', LlmError("timeout"), HANG])
    …
    assert client.asked[0].messages[-1].content == …

A list is answered from in order, its last entry for ever; a text is always the same; a function
is given each `Asked`. An exception is raised, `HANG` never comes back (and ends as a timeout at
the deadline, as with a real one).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from enum import Enum

from jobclaw.model import Value
from jobclaw.spi.llm import Check, LlmError, LlmMessage, LlmReply

NAME = "scripted"


class Silence(Enum):
    """An answer that never comes."""

    HANG = "hang"


HANG = Silence.HANG


class Asked(Value, frozen=True):
    """One question, as the model saw it."""

    messages: tuple[LlmMessage, ...]
    deadline_s: float


Line = str | LlmReply | BaseException | Silence
Script = Line | Sequence[Line] | Callable[[Asked], Line]


class ScriptedLlm:
    """Implements `spi.LlmClient`; `asked` holds every question so far.

    A wrong answer (by `check`) may be mended once, as with a real model.
    """

    def __init__(self, script: Script, model: str = NAME) -> None:
        self._script = script
        self._model = model
        self.asked: list[Asked] = []

    async def complete(
        self,
        messages: Sequence[LlmMessage],
        *,
        deadline_s: float,
        check: Check | None = None,
    ) -> LlmReply:
        """See `spi.LlmClient.complete`."""
        asked = Asked(messages=tuple(messages), deadline_s=deadline_s)
        reply = await self._answer(asked)
        wrong = "" if check is None else check(reply.text)
        if not wrong or check is None:
            return reply
        again = (
            *asked.messages,
            LlmMessage(role="assistant", content=reply.text),
            LlmMessage(role="user", content=wrong),
        )
        reply = await self._answer(Asked(messages=again, deadline_s=deadline_s))
        if check(reply.text):
            raise LlmError("invalid", self._model, reply=reply)
        return reply

    async def _answer(self, asked: Asked) -> LlmReply:
        self.asked.append(asked)
        line = self._next(asked)
        if isinstance(line, Silence):
            await asyncio.sleep(asked.deadline_s)
            raise LlmError("timeout", self._model)
        if isinstance(line, BaseException):
            raise line
        return LlmReply(text=line, model=self._model) if isinstance(line, str) else line

    def _next(self, asked: Asked) -> Line:
        script = self._script
        if isinstance(script, str | LlmReply | BaseException | Silence):
            return script
        if callable(script):
            return script(asked)
        return script[min(len(self.asked), len(script)) - 1]
