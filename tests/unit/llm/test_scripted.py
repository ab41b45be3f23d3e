"""The double that tests of agents use keeps the contract of a client."""

import time

import pytest

from jobclaw.llm.scripted import HANG, Asked, ScriptedLlm
from jobclaw.spi import LlmClient
from jobclaw.spi.llm import LlmError, LlmMessage, LlmReply

QUESTION = (LlmMessage(role="user", content="hello"),)


async def test_a_list_is_answered_in_order_and_its_end_for_ever():
    client: LlmClient = ScriptedLlm(["one", LlmReply(text="two", model="m", tokens=5)])
    replies = [await client.complete(QUESTION, deadline_s=1) for _ in range(3)]
    assert [reply.text for reply in replies] == ["one", "two", "two"]
    assert replies[2].tokens == 5


async def test_a_function_sees_the_question():
    def answer(asked: Asked) -> str:
        return asked.messages[-1].content.upper()

    client = ScriptedLlm(answer)
    assert (await client.complete(QUESTION, deadline_s=1)).text == "HELLO"
    assert client.asked == [Asked(messages=QUESTION, deadline_s=1)]


async def test_a_failure_is_raised():
    client = ScriptedLlm([LlmError("rate-limited", "m"), "fine"])
    with pytest.raises(LlmError, match="rate-limited"):
        await client.complete(QUESTION, deadline_s=1)
    assert (await client.complete(QUESTION, deadline_s=1)).text == "fine"


async def test_silence_ends_at_the_deadline():
    started = time.monotonic()
    with pytest.raises(LlmError, match="timeout"):
        await ScriptedLlm(HANG).complete(QUESTION, deadline_s=0.1)
    assert time.monotonic() - started >= 0.1


async def test_a_wrong_answer_is_mended_once():
    def check(text: str) -> str:
        return "" if text == "right" else "wrong"

    client = ScriptedLlm(["bad", "right", "bad", "bad"])
    assert (await client.complete(QUESTION, deadline_s=1, check=check)).text == "right"
    assert [part.content for part in client.asked[1].messages] == ["hello", "bad", "wrong"]
    with pytest.raises(LlmError, match="invalid") as caught:
        await client.complete(QUESTION, deadline_s=1, check=check)
    assert caught.value.reply is not None
