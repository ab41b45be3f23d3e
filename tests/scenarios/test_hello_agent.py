"""The agent of the documents, as a newcomer drops it; what goes wrong with it; tables by hand.

The file is taken from agents/README.md, so that what is written there is what runs here.
"""

import re
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest
from driver import Chat, Deployment, JsonLine, decisions, replies

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 30.0
NUMBERS = count()


def hello_source() -> str:
    text = (ROOT / "agents" / "README.md").read_text("utf-8")
    found = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    assert found is not None
    return found[1]


HELLO = hello_source()
BROKEN = HELLO + "\ndef half_written(:\n"

FAILING = """
from jobclaw.spi import Agent, AgentIntro, Markdown, hookimpl


async def at_once(self, request):
    raise RuntimeError("secret-at-once")
    yield


async def half_way(self, request):
    yield Markdown("the first half")
    raise RuntimeError("secret-half-way")


def blocking(self, request):
    raise RuntimeError("secret-blocking")
    yield


async def leaving(self, request):
    raise SystemExit("secret-leaving")
    yield


async def silent(self, request):
    return
    yield


async def plain_text(self, request):
    yield "no part"


@hookimpl
def jobclaw_agents():
    kinds = (at_once, half_way, blocking, leaving, silent, plain_text)
    names = [kind.__name__.replace("_", "-") for kind in kinds]
    intros = [AgentIntro(id=f"fails-{name}", name=name, description=name) for name in names]
    parts = [{"handle": kind, "intro": intro} for kind, intro in zip(kinds, intros)]
    return [type("Failing", (Agent,), part)() for part in parts]
"""


@contextmanager
def bounded(chat: Chat) -> Generator[Chat]:
    """A chat that is killed when it takes too long, so that a test fails instead of hanging."""
    timer = threading.Timer(2 * PATIENCE_S, chat.process.kill)
    timer.start()
    try:
        with chat:
            yield chat
    finally:
        timer.cancel()


def until(
    chat: Chat, text: str, wanted: Callable[[JsonLine, str], bool], **more: object
) -> str:
    """Say it, each time as somebody new, until the decision and what is said are as wanted."""
    last: list[JsonLine] = []
    ends_at = time.monotonic() + PATIENCE_S
    while time.monotonic() < ends_at:
        last = chat.tell(text, user=f"somebody-{next(NUMBERS)}", **more)
        [decision], [reply] = decisions(last), replies(last)
        if wanted(decision, reply["text"]):
            return reply["text"]
    raise AssertionError(f"it did not come to that: {last}")


def by(agent: str) -> Callable[[JsonLine, str], bool]:
    return lambda decision, _: decision["agent"] == agent


def saying(part: str) -> Callable[[JsonLine, str], bool]:
    return lambda _, text: part in text


def test_the_file_is_the_one_of_the_design(shared: Path):
    assert f"```python\n{HELLO}```" in (shared / "design.md").read_text("utf-8")


def test_the_file_as_it_is(deployment: Deployment):
    deployment.drop_in("hello", HELLO)
    with bounded(deployment.chat()) as chat:
        first = chat.tell("打个招呼", id="m1")
        assert replies(first)[0]["text"] == "你好，u1！你说：打个招呼"
        assert (decisions(first)[0]["agent"], decisions(first)[0]["tier"]) == (
            "hello",
            "keyword",
        )
        assert decisions(chat.tell("再来一次"))[0]["step"] == "binding"
        assert chat.say("/hello 在吗", user="u2")["text"] == "你好，u2！你说：在吗"
        assert "打个招呼" in chat.say("/agents", user="u3")["text"]
        assert chat.say("/why")["text"].startswith("因为你正在和「打招呼」对话")
        assert chat.decide("先不打个招呼了", user="u4")["agent"] != "hello"
    [listed] = [agent for agent in deployment.json("agents") if agent["id"] == "hello"]
    assert (listed["intents"], listed["role"], listed["error"]) == (["HELLO"], "free", "")
    assert deployment.json("route", "hello")["agent"] == "hello"
    assert deployment.json("why", "m1")["keywords"][0]["keyword"] == "打个招呼"


def test_dropped_changed_broken_mended_and_removed_while_a_chat_runs(deployment: Deployment):
    with bounded(deployment.chat()) as chat:
        assert chat.decide("打个招呼")["agent"] != "hello"
        deployment.drop_in("hello", HELLO)
        until(chat, "打个招呼", by("hello"))

        deployment.drop_in("hello", HELLO.replace("你说：", "第二版："))
        until(chat, "打个招呼", saying("第二版："))

        path = deployment.drop_in("hello", BROKEN)
        listed = until(chat, "/agents", saying("插件 hello"), role="admin")
        assert "`hello`" in listed, "the version before stays"
        assert "第二版：" in chat.say("打个招呼", user="after")["text"]
        assert "插件 hello" not in chat.say("/agents", user="no-admin")["text"]
        checked = deployment.run("doctor")
        assert checked.returncode == 1
        assert f"hello.py, line {BROKEN.count(chr(10))}" in checked.stdout

        deployment.drop_in("hello", HELLO.replace("你说：", "第三版："))
        until(chat, "打个招呼", saying("第三版："))
        assert "插件 hello" not in chat.say("/agents", user="an-admin", role="admin")["text"]

        path.unlink()
        until(chat, "/hello 在吗", lambda decision, _: decision["agent"] != "hello")
        assert "`hello`" not in chat.say("/agents", user="later")["text"]
    assert deployment.run("doctor").returncode == 0


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chat]:
    deployment = Deployment(tmp_path_factory.mktemp("failing"))
    deployment.drop_in("failing", FAILING)
    with bounded(deployment.chat()) as chat:
        yield chat


@pytest.mark.parametrize("kind", ["at-once", "half-way", "blocking", "leaving"])
def test_an_agent_that_raises_is_an_error_id_to_users_and_a_place_to_its_author(
    failing: Chat, kind: str
):
    lines = failing.tell(f"/fails-{kind} x", id=kind, user=kind)
    [error] = [line for line in lines if line["type"] == "error"]
    [reply], [decision] = replies(lines), decisions(lines)
    assert error["error_id"] in reply["text"]
    assert not re.search(r"secret|Error\b|Traceback|\.py", reply["text"])
    assert ("the first half" in reply["text"]) == (kind == "half-way")
    assert (error["message"], error["agent"]) == (kind, f"fails-{kind}")
    assert f"secret-{kind}" in error["error"]
    place = rf'failing\.py", line \d+, in {kind.replace("-", "_")}'
    assert re.search(place, error["traceback"])
    assert decision["outcome"] == "failed"
    assert error["error_id"] in decision["detail"]


@pytest.mark.parametrize("kind", ["silent", "plain-text"])
def test_an_agent_that_answers_nothing_usable_fails_as_well(failing: Chat, kind: str):
    lines = failing.tell(f"/fails-{kind} x", user=kind)
    [error] = [line for line in lines if line["type"] == "error"]
    assert error["error_id"] in replies(lines)[0]["text"]
    assert failing.decide("查询投递进度", user=f"{kind}-2")["agent"] == "progress"


def test_at_a_prompt_the_traceback_is_beside_the_answer(deployment: Deployment):
    deployment.drop_in("failing", FAILING)
    done = deployment.run("chat", "--once", "/fails-at-once x")
    assert done.returncode == 0
    assert "错误编号" in done.stdout
    assert "secret" not in done.stdout
    assert 'failing.py", line' in done.stderr
    assert "secret-at-once" in done.stderr


def test_the_operators_keywords_count_without_a_restart(deployment: Deployment):
    overlay = deployment.folder / "config" / "keywords.local.yaml"
    with bounded(deployment.chat()) as chat:
        assert chat.decide("火星文", user="before")["agent"] == "chat"

        overlay.write_text("intents: {QUERY: {火星文: 1.0}}\n", "utf-8")
        until(chat, "火星文", by("progress"))

        overlay.write_text("intents: {QUERY: {火星文: 1.0}, SEARCH: {木星文: 2}}\n", "utf-8")
        checked = deployment.run("config", "check")
        assert checked.returncode == 78
        assert "keywords.local.yaml" in checked.stderr
        assert "木星文" in checked.stderr
        assert chat.decide("火星文", user="while-broken")["agent"] == "progress"

        overlay.write_text(
            "intents: {SEARCH: {木星文: 0.9}, QUERY: {投递进度: null}}\n", "utf-8"
        )
        until(chat, "木星文", by("job-search"))
        assert chat.decide("火星文", user="after")["agent"] == "chat"
        assert chat.decide("投递进度", user="taken-out")["confidence"] < 1.0

        overlay.unlink()
        until(chat, "木星文", by("chat"))
        assert chat.decide("投递进度", user="back")["agent"] == "progress"
