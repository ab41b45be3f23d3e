"""Plugins and agents that do wrong (public faults, plugins, OUT-07, DLV-09), in a real chat."""

import time
from collections.abc import Iterator

import pytest
from counting_agents import COUNTER
from driver import PLAIN_CONFIG, Chat, Deployment, Speaker, decisions, replies
from troubled_agents import CONFIG, SOURCE, names

GOOD = [name for name in names() if name.startswith("good-")]
BAD = [name for name in names() if name not in GOOD]


@pytest.fixture(scope="module")
def shared_chat(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chat]:
    deployment = Deployment(tmp_path_factory.mktemp("trouble"), CONFIG)
    deployment.drop_in("troubled", SOURCE)
    deployment.drop_in("numbers", COUNTER)
    with deployment.chat() as running:
        yield running


@pytest.mark.parametrize("name", BAD)
def test_out07_a_failing_agent_gives_one_neutral_sentence(chat: Speaker, name: str):
    lines = chat.tell(f"/{name} 你好")
    [decision], [reply] = decisions(lines), replies(lines)
    [error] = [line for line in lines if line["type"] == "error"]
    assert (decision["outcome"], decision["agent"]) == ("failed", name)
    assert "没有处理成功" in reply["text"]
    assert error["error_id"] in reply["text"]
    assert error["error_id"] in decision["detail"]
    assert "secret" not in reply["text"]
    assert chat.say("/counter 一")["text"] == "1"
    assert chat.say("/why")["text"]


def test_out07_what_was_said_before_the_failure_stays(chat: Speaker):
    text = chat.say("/raises-late 你好")["text"]
    assert text.startswith("half an answer\n\n抱歉")


def test_out07_the_operator_sees_the_line_of_the_agent(chat: Speaker):
    for name, line in (
        ("raises", 'raise ValueError("secret detail")'),
        ("swallows-cancellation", "await asyncio.sleep(3600)"),
        ("keeps-list", 'request.session.memory.set("n", [1])'),
    ):
        lines = chat.tell(f"/{name} 你好")
        [error] = [line for line in lines if line["type"] == "error"]
        assert line in error["traceback"]
        assert "troubled.py" in error["traceback"]


@pytest.mark.parametrize("name", GOOD)
def test_an_unusual_agent_is_served(chat: Speaker, name: str):
    lines = chat.tell(f"/{name} 你好")
    assert decisions(lines)[0]["outcome"] == "answered"
    [reply] = replies(lines)
    expected = {
        "good-ten-thousand-parts": "x" * 10_000,
        "good-ten-thousand-parts-in-thread": "x" * 10_000,
        "good-one-megabyte": "字" * 350_000,
        "good-surrogates": "a\ufffdb 😀",
        "good-controls": "a\0b\u202ec",
        "good-numbers-kept": "1",
        "good-returned-generator": "said on the loop",
        "good-last-word": "as far as I got",
        "good-thought": "Hello",
    }
    assert reply["text"] == expected[name]
    again = chat.tell("好")
    assert decisions(again)[0]["step"] == "binding"
    if name == "good-numbers-kept":
        assert replies(again)[0]["text"] == "2"


def test_all_kinds_of_trouble_at_once_trouble_nobody_else(shared_chat: Chat):
    for name in names():
        shared_chat.put(id=f"all-{name}", user=f"all-{name}", text=f"/{name} 你好")
        shared_chat.put(id=f"quick-{name}", user=f"quick-{name}", text="数一数")
    seen = replies(shared_chat.wait())
    answered = [reply["in_reply_to"] for reply in seen]
    assert sorted(answered) == sorted(
        f"{who}-{name}" for name in names() for who in ("all", "quick")
    )


def test_dlv09_a_poisonous_message_is_tried_a_bounded_number_of_times(deployment: Deployment):
    deployment.drop_in("poison", POISON)
    with deployment.chat() as chat:
        chat.put(id="301", text="boom")
        chat.put(id="302", text="/help")
        chat.put(id="303", text="boom")
        lines = chat.wait()
        chat.end()
    assert {reply["in_reply_to"] for reply in replies(lines)} == {"301", "302", "303"}
    assert len((deployment.folder / "runs").read_text("utf-8").split()) <= 2 * 5
    with deployment.chat() as chat:
        assert replies(chat.wait()) == []


POISON = """
    from pathlib import Path

    from jobclaw.spi import Agent, AgentIntro, Markdown, hookimpl

    class Poison(Agent):
        intro = AgentIntro(id="poison", name="Poison", description="raises")
        intents = ("BOOM",)
        keywords = {"BOOM": {"boom": 1.0}}

        async def handle(self, request):
            with Path("runs").open("a") as runs:
                runs.write("run\\n")
            raise ValueError("boom")
            yield Markdown("")

    @hookimpl
    def jobclaw_agents():
        return [Poison()]
"""


def plugin(agents: str, before: str = "", agent: str = "", after: str = "") -> str:
    """The source of a plugin with one agent, spoilt in one place."""
    return f"""
from jobclaw.spi import Agent, AgentIntro, Command, Markdown, hookimpl
{before}
class Mine(Agent):
    intro = AgentIntro(id="mine", name="Mine", description="is spoilt")
    intents = ("MINE",)
    keywords = {{"MINE": {{"我的暗号": 1.0}}}}
    {agent}

    async def handle(self, request):
        yield Markdown("mine")

@hookimpl
def jobclaw_agents():
    {agents}
{after}
"""


OK = "return [Mine()]"
SPOILT = {
    "missing_package": plugin(OK, before="import no_such_package"),
    "raising_body": plugin(OK, before="1 / 0"),
    "endless_body": plugin(OK, before="while True: pass"),
    "exiting_body": plugin(OK, before="import sys; sys.exit(1)"),
    "interrupting_body": plugin(OK, before="raise KeyboardInterrupt"),
    "syntax": "def broken(:\n",
    "binary": "\0\0",
    "bad_indent": "  x = 1\n y = 2\n",
    "recursion": plugin(OK, before="def f(): f()\nf()"),
    "raising_hook": plugin("raise ValueError('x')"),
    "exiting_hook": plugin("raise SystemExit"),
    "endless_hook": plugin("while True: pass"),
    "raising_second_hook": plugin(
        OK, after="@hookimpl\ndef jobclaw_commands():\n    raise ValueError('x')\n"
    ),
    "misspelt_hook": plugin(OK, after="@hookimpl\ndef jobclaw_agent():\n    return []\n"),
    "hook_argument": plugin(OK).replace("jobclaw_agents()", "jobclaw_agents(registry)"),
    "hook_none": plugin("return None"),
    "hook_one": plugin("return Mine()"),
    "hook_class": plugin("return [Mine]"),
    "hook_text": plugin("return ['mine']"),
    "hook_number": plugin("return 5"),
    "raising_generator": plugin("yield Mine()\n    raise ValueError('x')"),
    "no_intro": plugin(OK, agent="intro = None"),
    "raising_init": plugin(OK, agent="def __init__(self): raise ValueError('x')"),
    "text_priority": plugin(OK, agent='priority = "50"'),
    "nan_priority": plugin(OK, agent='priority = float("nan")'),
    "none_priority": plugin(OK, agent="priority = None"),
    "true_priority": plugin(OK, agent="priority = True"),
    "bad_role": plugin(OK, agent='role = "root"'),
    "none_role": plugin(OK, agent="role = None"),
    "foreign_intent": plugin(OK, agent='keywords = {"RECOMMEND": {"岗位": 1.0}}'),
    "lower_intent": plugin(OK, agent='intents = ("mine",)'),
    "unknown_intent": plugin(OK, agent='intents = ("UNKNOWN",)'),
    "path_id": plugin(OK).replace('id="mine"', 'id="../mine"'),
    "upper_id": plugin(OK).replace('id="mine"', 'id="Mine"'),
    "command_id": plugin(OK).replace('id="mine"', 'id="reset"'),
    "taken_id": plugin(OK).replace('id="mine"', 'id="chat"'),
    "twice": plugin("return [Mine(), Mine()]"),
    "no_handle": plugin(OK).replace("async def handle", "async def answer"),
    "coroutine_handle": plugin(OK).replace('yield Markdown("mine")', "return None"),
    "system_command": plugin(
        OK,
        after="@hookimpl\ndef jobclaw_commands():\n"
        '    return [Command(name="reset", summary={}, intent="MINE")]\n',
    ),
    "two_targets": plugin(
        OK,
        after="@hookimpl\ndef jobclaw_commands():\n"
        '    return [Command(name="c", summary={}, intent="MINE", agent="mine")]\n',
    ),
}


@pytest.fixture(scope="module")
def spoilt_home(tmp_path_factory: pytest.TempPathFactory) -> Deployment:
    """Every spoilt plugin at once, and a good one that comes last."""
    deployment = Deployment(tmp_path_factory.mktemp("spoilt"))
    for name, source in SPOILT.items():
        deployment.drop_in(name, source)
    deployment.drop_in("zz_numbers", COUNTER)
    return deployment


@pytest.fixture(scope="module")
def spoilt_chat(spoilt_home: Deployment) -> Iterator[Chat]:
    begin = time.monotonic()
    with spoilt_home.chat() as running:
        assert "/agents" in running.say("/help")["text"]
        assert time.monotonic() - begin < 60
        yield running


def test_plg01_the_good_plugins_work_beside_all_broken_ones(spoilt_chat: Chat):
    assert spoilt_chat.decide("数一数")["agent"] == "counter"
    assert spoilt_chat.decide("你好", user="u2")["agent"] == "chat"
    assert spoilt_chat.decide("推荐岗位", user="u3")["agent"] == "job-recommend"
    assert spoilt_chat.decide("/reset")["detail"] == "/reset"


@pytest.mark.parametrize("name", SPOILT)
def test_plg01_a_broken_plugin_is_named_to_admins_only(spoilt_chat: Chat, name: str):
    assert name in spoilt_chat.say("/agents", role="admin", user="boss")["text"]
    assert name not in spoilt_chat.say("/agents", user="guest")["text"]


def test_plg02_nothing_of_a_broken_plugin_is_there(spoilt_chat: Chat):
    assert spoilt_chat.decide("我的暗号", user="u4")["agent"] == "chat"
    assert spoilt_chat.decide("/mine 你好", user="u4")["step"] not in ("switch", "command")
    assert spoilt_chat.decide("/c 你好", user="u4")["step"] not in ("switch", "command")
    assert "没有叫「mine」" in spoilt_chat.say("/agent mine 你好", user="u4")["text"]
    assert "`mine`" not in spoilt_chat.say("/agents", role="admin", user="boss")["text"]


def test_plg01_the_doctor_and_the_list_say_why(spoilt_home: Deployment):
    listed = {one["source"]: one["error"] for one in spoilt_home.json("agents") if one["error"]}
    assert set(SPOILT) <= set(listed)
    assert "no_such_package" in listed["missing_package"]
    assert "jobclaw_agent" in listed["misspelt_hook"]
    assert "50" in listed["text_priority"]
    done = spoilt_home.run("doctor")
    assert done.returncode != 0
    assert all(name in done.stdout + done.stderr for name in SPOILT)


@pytest.mark.parametrize("name", ["endless_body", "missing_package", "exiting_body"])
def test_plg01_help_is_there_in_time(deployment: Deployment, name: str):
    deployment.drop_in(name, SPOILT[name])
    begin = time.monotonic()
    with deployment.chat() as chat:
        assert "/agents" in chat.say("/help")["text"]
    assert time.monotonic() - begin < 10


def rival(agent_id: str, priority: str) -> str:
    return f"""
from jobclaw.spi import Agent, AgentIntro, Markdown, hookimpl

class Rival(Agent):
    intro = AgentIntro(id="{agent_id}", name="{agent_id}", description="rival")
    intents = ("FIGHT",)
    keywords = {{"FIGHT": {{"比一比": 1.0}}}}
    {priority}

    async def handle(self, request):
        yield Markdown("{agent_id}")

@hookimpl
def jobclaw_agents():
    return [Rival()]
"""


@pytest.mark.parametrize("order", ["abcd", "dcba", "bdac", "cadb"])
def test_plg06_equal_priorities_have_one_order(deployment: Deployment, order: str):
    declared = {
        "alpha": "priority = 50",
        "beta": "priority = 50",
        "gamma": "priority = '99'",
        "delta": "priority = 49",
    }
    for letter, (agent_id, priority) in zip(order, declared.items(), strict=True):
        deployment.drop_in(f"{letter}_{agent_id}", rival(agent_id, priority))
    with deployment.chat() as chat:
        assert chat.decide("比一比")["agent"] == "alpha"
        assert "gamma" in chat.say("/agents", role="admin")["text"]
        chat.end()
    deployment.configure(f"{PLAIN_CONFIG}\n    plugins: {{disabled: [alpha]}}\n")
    with deployment.chat() as chat:
        assert chat.decide("比一比", user="u2")["agent"] == "beta"
