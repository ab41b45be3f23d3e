"""Public faults in the web chat, over HTTP, against a real daemon.

Delivery (DLV), isolation (ISO), outbound (OUT), runtime (RUN), security (SEC), session store
(SES) and reply window (WIN), as far as this channel can show them.
"""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from counting_agents import COUNTER
from driver import Daemon, Deployment, replies
from test_daemon import SLOW
from waiting_agents import SOURCE as WAITING
from web_visitor import visitor, words

WAIT_S = 20.0
SPEAKING = r"""
    from jobclaw.spi import Agent, AgentIntro, Markdown, hookimpl

    SAID = {
        "空": ("", "  \n"),
        "代码": ("```python\n" + "print('一行代码')\n" * 600 + "```\n\n完",),
        "公告": ("<!channel> 急招 <https://evil.example|官网> a < b && c > d",),
        "链接": ("[甲](javascript:alert(1)) [乙](https://ok.example/?a=1&b=2)",),
    }

    class Speaker(Agent):
        intro = AgentIntro(id="speaker", name="Speaker", description="says what it was told")
        intents = ("SPEAK",)
        keywords = {"SPEAK": dict.fromkeys(SAID, 1.0)}

        async def handle(self, request):
            for part in SAID[request.text]:
                yield Markdown(part)

    @hookimpl
    def jobclaw_agents():
        return [Speaker()]
"""


def prepared(folder: Path) -> Deployment:
    deployment = Deployment(folder)
    for name, source in (("counter", COUNTER), ("waiting", WAITING), ("speaking", SPEAKING)):
        deployment.drop_in(name, source)
    return deployment


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Deployment:
    return prepared(tmp_path_factory.mktemp("faults"))


async def until(is_true: Callable[[], bool]) -> None:
    """Wait for what another process does."""
    give_up = time.monotonic() + WAIT_S
    while not is_true():
        assert time.monotonic() < give_up
        await asyncio.sleep(0.01)


async def test_dlv01_a_message_that_is_slow_is_acknowledged_first_and_answered_once(
    daemon: Daemon,
) -> None:
    async with visitor(daemon) as ann, visitor(daemon) as warden:
        started = time.monotonic()
        first = await ann.send("slow", "等 一下")
        assert time.monotonic() - started < 3
        await warden.say("等开始")
        again = [await ann.send("slow", "等 一下") for _ in range(3)]
        assert [one["duplicate"] for one in (first, *again)] == [False, True, True, True]
        assert {one["id"] for one in again} == {first["id"]}
        await warden.say("放行")
        assert "ended 等 一下;" in words(await ann.reply())
        assert '"1"' in words((await ann.say("数一数"))["blocks"])


async def test_dlv03_a_message_that_comes_again_after_kill_9_is_answered_once(
    tmp_path: Path,
) -> None:
    home = prepared(tmp_path)
    cookies: dict[str, str] = {}
    for number in range(3):
        with home.daemon() as daemon:
            async with visitor(daemon, cookies=cookies) as ann:
                sent = await ann.send("om_A", "数一数")
                assert sent["duplicate"] is (number > 0)
                assert (await ann.reply())["re"] == "om_A"
                for _ in range(number):
                    await ann.reply()
                assert f'"{number + 2}"' in words(await ann.say("数一数"))
                cookies = ann.cookies()
            daemon.kill()


async def test_dlv05_equal_words_under_other_ids_are_messages_of_their_own(
    daemon: Daemon,
) -> None:
    async with visitor(daemon) as ann:
        counted = [words((await ann.say("数一数"))["blocks"]) for _ in range(3)]
        assert [text.count('"c": ["') for text in counted] == [1, 1, 1]
        for number, text in enumerate(counted, start=1):
            assert f'"{number}"' in text


async def test_iso01_a_burst_keeps_its_order(daemon: Daemon) -> None:
    async with visitor(daemon) as ann:
        for number in range(30):
            await ann.send(f"b{number}", "数一数")
        shown = [await ann.reply() for _ in range(30)]
        assert [reply["re"] for reply in shown] == [f"b{number}" for number in range(30)]
        for number, reply in enumerate(shown, start=1):
            assert f'"{number}"' in words(reply["blocks"])


async def test_iso07_each_answer_goes_to_the_channel_of_its_question(
    tmp_path: Path,
) -> None:
    home = prepared(tmp_path)
    with home.daemon() as daemon, home.chat() as chat:
        async with visitor(daemon) as ann:
            code = words(await ann.say("/link")).partition("/link ")[2].split('"')[0].split()[0]
            assert await asyncio.to_thread(chat.say, f"/link {code}", user="ann")
            assert (await asyncio.to_thread(chat.decide, "/whoami", user="ann"))["user"]
            assert "console:default:ann" in words(await ann.say("/whoami"))
            await ann.send("q1", "等 Q1")
            await asyncio.to_thread(chat.say, "等开始", user="warden")
            lines = await asyncio.to_thread(chat.tell, "说说 Q2", user="ann")
            [second] = replies(lines)
            assert second["text"] == "memory 说说 Q2; history []"
            freed = await asyncio.to_thread(chat.tell, "放行", user="warden")
            assert [reply["text"] for reply in replies(freed)] == ["done"]
            first = await ann.reply()
            assert first["re"] == "q1"
            assert "ended 等 Q1;" in words(first)
            assert "Q2" not in words(first)


@pytest.mark.parametrize("command", ["/reset", "／stop"])
async def test_iso09_what_was_running_says_nothing_afterwards(
    tmp_path: Path, command: str
) -> None:
    home = prepared(tmp_path)
    with home.daemon() as daemon:
        async with visitor(daemon) as ann, visitor(daemon) as warden:
            await ann.send("slow", "等 一下")
            await warden.say("等开始")
            await ann.send("behind", "数一数")
            await ann.send("stop", command)
            assert (await ann.reply())["re"] == "stop"
            await warden.say("放行")
            await ann.send("after", "/counter 一")
            assert '"1"' in words(await ann.reply())
            assert [reply["re"] for reply in ann.seen] == ["stop", "after"]


@pytest.mark.parametrize(
    ("text", "there", "not_there"),
    [
        ("空", ["没有处理成功"], []),
        ("代码", ['"完"', '"t": "pre"'], ["```"]),
        ("公告", ["<!channel> 急招", "a < b && c > d"], []),
        ("链接", ['"href": "https://ok.example/?a=1&b=2"'], ['"href": "javascript']),
    ],
)
async def test_out_every_answer_arrives_whole_and_as_text(
    daemon: Daemon, text: str, there: list[str], not_there: list[str]
) -> None:
    async with visitor(daemon) as ann:
        shown = words((await ann.say(text))["blocks"])
        for part in there:
            assert part in shown
        for part in not_there:
            assert part not in shown
        assert shown.count("print('一行代码')") == (600 if text == "代码" else 0)


async def test_run01_sigterm_loses_no_answer_and_none_comes_twice(tmp_path: Path) -> None:
    home = prepared(tmp_path)
    home.drop_in("slow", SLOW)
    with home.daemon() as daemon:
        async with visitor(daemon) as ann:
            await ann.send("slow", "慢慢来")
            await until((tmp_path / "began").exists)
            await ann.send("behind", "数一数")
            cookies = ann.cookies()
            daemon.process.terminate()
        (tmp_path / "go").touch()
        assert await asyncio.to_thread(daemon.process.wait, 30) == 0
    with home.daemon() as daemon:
        async with visitor(daemon, cookies=cookies) as ann:
            assert [(await ann.reply())["re"] for _ in range(2)] == ["slow", "behind"]
            assert '"2"' in words((await ann.say("数一数"))["blocks"])
        assert daemon.end() == 0


async def test_sec04_a_command_acts_on_the_sender_alone(daemon: Daemon) -> None:
    async with visitor(daemon) as ann, visitor(daemon) as bob:
        await ann.say("数一数")
        await bob.say("/reset --forget")
        assert "Counter" in words(await ann.say("/current"))
        assert '"2"' in words((await ann.say("数一数"))["blocks"])
        mine = words(await bob.say("/agents"))
        assert '"counter"' in mine
        assert '"paid"' not in mine
        refused = await bob.say("/paid 一下")
        assert refused["agent"] == ""
        assert "VIP" in words(refused)


@pytest.mark.parametrize(
    "cookie", ["../../etc/cron.d/x", "..", "%2e%2e%2f", "-rf", "w" * 3000, "wabc/../x", "~"]
)
async def test_ses02_a_cookie_is_never_a_path(
    daemon: Daemon, home: Deployment, cookie: str
) -> None:
    before = {path.name for path in home.folder.iterdir()}
    cookies = {"jobclaw_chat": cookie}
    async with visitor(daemon, cookies=cookies) as mallory:
        assert '"1"' in words((await mallory.say("数一数"))["blocks"])
    assert {path.name for path in home.folder.iterdir()} == before
    for file in home.session_files():
        assert file.resolve().is_relative_to(home.workspace.resolve() / "sessions")


async def test_win03_a_push_is_told_as_sent_when_it_has_left_also_after_kill_9(
    tmp_path: Path,
) -> None:
    home = prepared(tmp_path)
    order = {"channel": "web", "id": "order-1", "text": "面试改到明天 10 点"}
    with home.daemon() as daemon:
        async with visitor(daemon) as ann:
            me = (await ann.send("m", "数一数"))["me"]
            await ann.reply()
            cookies, seen = ann.cookies(), ann.seen
        order["conversation"] = me
        for _ in range(2):
            assert daemon.json("POST", "/api/v1/messages", order)["id"] == "order-1"
        await until(lambda: status(daemon, "order-1") == "sent")
        daemon.kill()
    with home.daemon() as daemon:
        assert status(daemon, "order-1") == "sent"
        assert daemon.json("POST", "/api/v1/messages", order)["status"] == "sent"
        assert daemon.ask("GET", "/api/v1/messages/order-2")[0] == 404
        async with visitor(daemon, cookies=cookies) as ann:
            ann.seen = seen
            assert order["text"] in words(await ann.reply())
            assert '"2"' in words((await ann.say("数一数"))["blocks"])


def status(daemon: Daemon, push: str) -> str:
    """What became of a push."""
    return daemon.json("GET", f"/api/v1/messages/{push}")["status"]
