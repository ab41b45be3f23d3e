"""The client through the real litellm, against a server on loopback with every fault."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from typing import Literal

import pytest
from fakes.hand_clock import HandClock
from fakes.llm_server import WAIT_S, Answer, Asked, LlmServer, Plan

from jobclaw.llm import client as client_module
from jobclaw.llm.client import LitellmClient, open_client
from jobclaw.llm.convert import TEXT_MOST
from jobclaw.observe.redaction import Redactor
from jobclaw.settings.services import LlmSettings
from jobclaw.spi.llm import LlmError, LlmMessage
from jobclaw.spi.store import Store
from jobclaw.storage import open_store

KEY = "sk-abcdefgh0123456789"
QUESTION = (LlmMessage(role="user", content="hello"),)
Open = Callable[..., Awaitable[LitellmClient]]


class Notices:
    """What the operator was told."""

    def __init__(self) -> None:
        self.ids: list[str] = []

    def __call__(self, text_id: str, values: Mapping[str, str]) -> None:
        assert KEY not in repr(values)
        self.ids.append(text_id)


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def notices() -> Notices:
    return Notices()


@pytest.fixture
async def server() -> AsyncIterator[LlmServer]:
    async with LlmServer("fine") as running:
        yield running


@pytest.fixture
async def store(tmp_path: Path, clock: HandClock) -> AsyncIterator[Store]:
    opened = open_store(tmp_path, clock)
    yield opened
    await opened.close()


@pytest.fixture
async def opened(
    server: LlmServer, store: Store, clock: HandClock, notices: Notices
) -> AsyncIterator[Open]:
    """Opens clients of the server, with litellm imported, and closes them."""
    clients: list[LitellmClient] = []

    async def open_one(**given: object) -> LitellmClient:
        base = {"model": "openai/test", "api_base": server.url, "api_key": KEY}
        settings = LlmSettings.model_validate({**base, **given})
        client = open_client(settings, store, clock, notices, Redactor([KEY]).clean)
        assert client is not None
        await client.prepare()
        clients.append(client)
        return client

    yield open_one
    for client in clients:
        await client.aclose()


async def failure(client: LitellmClient, deadline_s: float = 5.0) -> LlmError:
    with pytest.raises(LlmError) as caught:
        await client.complete(QUESTION, deadline_s=deadline_s)
    assert KEY not in f"{caught.value} {caught.value.values}"
    return caught.value


async def test_without_a_model_there_is_no_client(
    store: Store, clock: HandClock, notices: Notices
):
    assert open_client(LlmSettings(), store, clock, notices, str) is None


async def test_an_answer_with_what_it_used(opened: Open, server: LlmServer, store: Store):
    client = await opened(max_tokens=77)
    reply = await client.complete(QUESTION, deadline_s=5)
    assert (reply.text, reply.model, reply.tokens) == ("fine", "openai/test", 120)
    [asked] = server.asked
    assert asked.authorization == f"Bearer {KEY}"
    assert asked.body["max_tokens"] == 77
    assert [row.tokens for row in store.usage("2026-11")] == [120]
    assert [state.state for state in client.states()] == ["ok"]


@pytest.mark.parametrize(
    ("answer", "why", "calls"),
    [
        (Answer(status=500), "error", 2),
        (Answer(status=503), "error", 2),
        (Answer(status=429), "rate-limited", 2),
        (Answer(status=401, text=f"no {KEY}"), "auth", 1),
        (Answer(status=402), "auth", 1),
        (Answer(status=403), "auth", 1),
        (Answer(status=404), "error", 1),
        (Answer(status=400), "error", 1),
        (Answer(fault="reset"), "error", 2),
        (Answer(fault="cut-off"), "error", 2),
        (Answer(fault="garbage"), "error", 2),
        (Answer(fault="no-choices"), "invalid", 2),
    ],
    ids=lambda value: f"{value.status}{value.fault}" if isinstance(value, Answer) else None,
)
async def test_each_fault_has_its_reason_and_its_number_of_calls(
    opened: Open, server: LlmServer, answer: Answer, why: str, calls: int
):
    server.answer = answer
    client = await opened()
    assert (await failure(client)).why == why
    assert len(server.asked) == calls


@pytest.mark.parametrize("fault", ["hang", "drip"])
async def test_no_server_holds_a_call_beyond_its_deadline(
    opened: Open, server: LlmServer, fault: str
):
    server.answer = Answer(fault="hang") if fault == "hang" else Answer(fault="drip")
    client = await opened()
    before = asyncio.all_tasks()
    started = time.monotonic()
    assert (await failure(client, 0.5)).why == "timeout"
    assert time.monotonic() - started < WAIT_S / 2
    assert len(server.asked) == 1
    assert not own_tasks(before)


# What litellm starts once for its log, and what the server's connections are.
OTHERS = ("LoggingWorker", "logging_helper", "ServiceLogging", "RequestHandler", "Event.wait")


def own_tasks(before: set[asyncio.Task[object]]) -> list[str]:
    """The tasks since `before` that a call started."""
    names = [repr(task.get_coro()) for task in asyncio.all_tasks() - before]
    return [name for name in names if not any(other in name for other in OTHERS)]


async def test_a_cancelled_call_is_gone_and_counts_for_nothing(opened: Open, server: LlmServer):
    arrived = asyncio.Event()

    def hang(_asked: Asked) -> Answer:
        arrived.set()
        return Answer(fault="hang")

    server.answer = hang
    client = await opened(breaker_failures=1)
    before = asyncio.all_tasks()
    call = asyncio.create_task(client.complete(QUESTION, deadline_s=30))
    async with asyncio.timeout(5):
        await arrived.wait()
    assert own_tasks(before)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert not own_tasks(before)
    server.answer = "fine"
    assert (await client.complete(QUESTION, deadline_s=5)).text == "fine"


@pytest.mark.parametrize(
    ("plan", "calls"),
    [
        ([Answer(status=500), "fine"], 2),
        ([Answer(fault="reset"), "fine"], 2),
        ([Answer(status=429, retry_after=0.3), "fine"], 2),
    ],
)
async def test_a_second_attempt_may_succeed(
    opened: Open, server: LlmServer, plan: Plan, calls: int
):
    server.answer = plan
    client = await opened()
    assert (await client.complete(QUESTION, deadline_s=5)).text == "fine"
    assert len(server.asked) == calls


async def test_retry_after_is_obeyed(opened: Open, server: LlmServer):
    server.answer = [Answer(status=429, retry_after=0.8), "fine"]
    client = await opened()
    started = time.monotonic()
    await client.complete(QUESTION, deadline_s=5)
    assert time.monotonic() - started >= 0.8


@pytest.mark.parametrize("retry_after", [4.9, 60.0], ids=["beyond the deadline", "too long"])
async def test_a_long_retry_after_gives_up_at_once(
    opened: Open, server: LlmServer, retry_after: float
):
    server.answer = Answer(status=429, retry_after=retry_after)
    client = await opened()
    started = time.monotonic()
    assert (await failure(client, 4.8)).why == "rate-limited"
    assert time.monotonic() - started < 4.5
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "first", [Answer(status=401), Answer(fault="hang"), Answer(status=429)]
)
async def test_the_next_model_answers_within_the_same_deadline(
    opened: Open, server: LlmServer, first: Answer
):
    server.answer = lambda asked: first if asked.model == "test" else "from the other"
    client = await opened(fallbacks=["openai/other"], max_attempts=1)
    reply = await client.complete(QUESTION, deadline_s=5.0)
    assert (reply.text, reply.model) == ("from the other", "openai/other")


async def test_an_open_breaker_answers_at_once_and_closes_after_a_probe(
    opened: Open, server: LlmServer, clock: HandClock
):
    server.answer = Answer(status=500)
    client = await opened(breaker_failures=2)
    await failure(client)
    calls = len(server.asked)
    [state] = client.states()
    assert (state.state, state.reason) == ("open", "error")
    assert state.retry_at is not None
    for _ in range(100):
        assert (await failure(client)).why == "open"
    assert len(server.asked) == calls
    clock.forward(30)
    server.answer = "fine again"
    assert (await client.complete(QUESTION, deadline_s=5)).text == "fine again"
    assert [state.state for state in client.states()] == ["ok"]


async def test_each_model_has_a_breaker_of_its_own_and_the_order_stays(
    opened: Open, server: LlmServer, clock: HandClock
):
    broken = {"test", "second"}
    server.answer = lambda asked: Answer(status=500) if asked.model in broken else asked.model
    models = ["openai/second", "openai/third"]
    client = await opened(fallbacks=models, max_attempts=1, breaker_failures=2)
    for _ in range(4):
        assert (await client.complete(QUESTION, deadline_s=5)).text == "third"
    calls = [asked.model for asked in server.asked]
    assert calls == ["test", "second", "third"] * 2 + ["third"] * 2
    assert [state.state for state in client.states()] == ["open", "open", "ok"]
    broken.remove("test")
    clock.forward(30)
    assert (await client.complete(QUESTION, deadline_s=5)).text == "test"
    assert client.states()[0].state == "ok"


async def test_a_refused_key_is_not_shown_again_and_the_operator_is_told_once(
    opened: Open, server: LlmServer, clock: HandClock, notices: Notices
):
    server.answer = Answer(status=401)
    client = await opened()
    for _ in range(3):
        assert (await failure(client)).why == "auth"
        clock.forward(10_000)
    assert len(server.asked) == 1
    assert [state.state for state in client.states()] == ["auth"]
    assert notices.ids == ["notice.llm-auth"]


async def test_a_cold_local_model_may_take_its_time_to_load(opened: Open, server: LlmServer):
    server.answer = Answer(fault="hang")
    client = await opened(breaker_failures=1)
    for _ in range(3):
        assert (await failure(client, 0.2)).why == "timeout"
    server.answer = Answer(text="ok", delay_s=0.3)
    await client.warm()
    assert server.asked[-1].user.startswith("Answer with")
    server.answer = Answer(fault="hang")
    assert (await failure(client, 0.2)).why == "timeout"
    assert (await failure(client, 0.2)).why == "open"


@pytest.mark.parametrize("fault", ["long", "packed"])
async def test_an_answer_is_bounded_before_it_is_read(
    opened: Open, server: LlmServer, fault: Literal["long", "packed"]
):
    server.answer = Answer(text="fine", fault=fault)
    client = await opened(max_attempts=1)
    assert (await failure(client, 10.0)).why == "error"
    server.answer = "x" * 100_000
    assert len((await client.complete(QUESTION, deadline_s=10)).text) > 1000


async def test_a_local_model_that_hangs_for_ever_is_left_alone_in_the_end(
    opened: Open, server: LlmServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(client_module, "WARM_S", 0.3)
    server.answer = Answer(fault="hang")
    client = await opened(breaker_failures=1)
    await client.warm()
    assert (await failure(client, 0.2)).why == "timeout"
    assert (await failure(client, 0.2)).why == "open"


async def test_a_wrong_answer_is_mended_once(opened: Open, server: LlmServer):
    server.answer = ["nonsense", "right"]
    client = await opened(max_attempts=5)

    def check(text: str) -> str:
        return "" if text == "right" else "Say right."

    reply = await client.complete(QUESTION, deadline_s=5, check=check)
    assert reply.text == "right"
    said = [part["content"] for part in server.asked[-1].body["messages"]]
    assert said == ["hello", "nonsense", "Say right."]
    server.answer = "nonsense"
    with pytest.raises(LlmError) as caught:
        await client.complete(QUESTION, deadline_s=5, check=check)
    assert caught.value.why == "invalid"
    assert caught.value.reply is not None
    assert caught.value.reply.text == "nonsense"
    assert len(server.asked) == 4


async def test_the_budget_keeps_calls_away(opened: Open, server: LlmServer, notices: Notices):
    client = await opened(monthly_budget_usd=1, monthly_budget_tokens=200)
    await client.complete(QUESTION, deadline_s=5)
    await client.complete(QUESTION, deadline_s=5)
    assert (await failure(client)).why == "budget"
    assert len(server.asked) == 2
    assert [state.state for state in client.states()] == ["budget"]
    assert notices.ids == ["notice.llm-budget"]


async def test_a_megabyte_is_cut(opened: Open, server: LlmServer):
    server.answer = "x" * 1_000_000
    client = await opened()
    assert len((await client.complete(QUESTION, deadline_s=5)).text) == TEXT_MOST


async def test_no_secret_leaves_in_a_question(opened: Open, server: LlmServer):
    client = await opened()
    question = (LlmMessage(role="user", content=f"my key is {KEY}, is it good?"),)
    await client.complete(question, deadline_s=5)
    assert server.asked[-1].user == "my key is [redacted], is it good?"


async def test_no_key_is_in_the_log(
    opened: Open, server: LlmServer, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.DEBUG)
    for answer in (Answer(status=401, text=f"no {KEY}"), Answer(status=500, text=KEY)):
        server.answer = answer
        await failure(await opened())
    assert "openai/test" in caplog.text
    assert KEY not in caplog.text
