"""Conversations side by side (public faults, isolation and delivery), in a real chat."""

import re
import signal
from collections import defaultdict
from collections.abc import Iterator

import pytest
import yaml
from counting_agents import COUNTER
from driver import PLAIN_CONFIG, Chat, Deployment, JsonLine, decisions, replies
from waiting_agents import SOURCE

GROUP = {"conversation": "g", "kind": "group"}
COMMANDS = ["/stop", "/reset", "／STOP", "/reset --forget", " /Reset "]
WORD = {"async": "等", "plain": "堵", "swallowing": "赖"}


@pytest.fixture
def waiting(deployment: Deployment) -> Deployment:
    """With agents that wait for each other."""
    deployment.drop_in("waiting", SOURCE)
    deployment.drop_in("numbers", COUNTER)
    return deployment


@pytest.fixture
def chat(waiting: Deployment) -> Iterator[Chat]:
    with waiting.chat() as running:
        yield running


def until(chat: Chat, **wanted: object) -> list[JsonLine]:
    """Read until a line with these values; all lines up to it."""
    seen: list[JsonLine] = []
    for line in chat.read():
        seen.append(line)
        if all(line.get(name) == value for name, value in wanted.items()):
            return seen
    raise AssertionError(f"the chat ended: {chat.errors()}")


def begin(chat: Chat, text: str, **more: object) -> None:
    """Say something to an agent that waits, and return once it has begun."""
    chat.put(text=text, **more)
    chat.put(text="等开始", user="warden", id="begun?")
    until(chat, type="reply", in_reply_to="begun?")


def free(chat: Chat) -> list[JsonLine]:
    """Let the waiting ones go on, and read what comes."""
    chat.put(text="放行", user="warden")
    return chat.wait()


FLOW = (
    "张三",
    "1",
    "三年经验",
    "Java, SQL",
    "浙大 计算机 2026届",
    "推荐几个Java岗位",
    "薪资多少",
    "/current",
)


def told(lines: list[JsonLine]) -> dict[str, list[tuple[str, str]]]:
    """What each conversation was told, by whom, in order; moments left out."""
    found: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for reply in replies(lines):
        text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "then", reply["text"])
        found[reply["conversation"]].append((reply["agent"], text))
    return dict(found)


def bindings(deployment: Deployment) -> set[str]:
    """What the binding files say, moments and names left out."""
    found: set[str] = set()
    for file in deployment.session_files():
        shown = yaml.safe_load(file.read_text("utf-8"))
        history = [{**entry, "at": None} for entry in shown["intentHistory"]]
        found.add(str((shown.get("boundAgentId"), history)))
    return found


def test_iso01_a_burst_is_handled_as_if_it_were_said_slowly(
    tmp_path_factory: pytest.TempPathFactory,
):
    slow = Deployment(tmp_path_factory.mktemp("slow"), "")
    with slow.chat() as chat:
        said = [line for text in FLOW for line in chat.tell(text)]
        chat.end()
    [expected] = told(said).values()
    burst = Deployment(tmp_path_factory.mktemp("burst"), "")
    users = [f"u{number}" for number in range(100)]
    with burst.chat() as chat:
        for text in FLOW:
            for user in users:
                chat.put(user=user, text=text)
        seen = told(chat.wait())
        chat.end()
    assert seen == dict.fromkeys(users, expected)
    assert len(burst.session_files()) == 100
    assert bindings(burst) == bindings(slow)


@pytest.mark.parametrize("kind", ["direct", "group"])
def test_iso01_thirty_messages_at_once_keep_their_order(chat: Chat, kind: str):
    texts = [f"数一数 {number}" for number in range(30)]
    for number, text in enumerate(texts):
        chat.put(id=f"m{number}", text=text, kind=kind, conversation="c")
    lines = chat.wait()
    assert [reply["text"] for reply in replies(lines)] == [str(n) for n in range(1, 31)]
    assert [one["message"] for one in decisions(lines)] == [f"m{n}" for n in range(30)]


def test_iso01_commands_in_a_burst_act_in_their_place(chat: Chat):
    texts = ["数一数", "/current", "/job-recommend", "/current", "/reset", "/current", "数一数"]
    for number, text in enumerate(texts):
        chat.put(id=f"m{number}", text=text)
    said = {reply["in_reply_to"]: reply["text"] for reply in replies(chat.wait())}
    assert list(said)[-3:] == ["m4", "m5", "m6"]
    assert "Counter" not in said["m5"]
    assert "job-recommend" not in said["m5"]


def test_iso03_every_message_over_a_full_lane_is_answered_or_refused(chat: Chat):
    begin(chat, "等 0", id="first")
    for number in range(80):
        chat.put(id=f"m{number}", text=f"/counter {number}")
    seen = replies(free(chat))
    assert [reply["in_reply_to"] for reply in seen if reply["conversation"] == "u1"] == [
        "first",
        *[f"m{number}" for number in range(80)],
    ]


@pytest.mark.parametrize(("kind", "word"), WORD.items())
def test_a_slow_agent_delays_nobody_else(chat: Chat, kind: str, word: str):
    begin(chat, f"{word} 一下", user="slow")
    for number in range(20):
        chat.put(id=f"m{number}", user=f"u{number}", text="数一数")
        seen = until(chat, type="reply", in_reply_to=f"m{number}")
        assert all(line.get("conversation") != "slow" for line in seen), kind
    chat.put(id="same user", user="slow", conversation="elsewhere", text="数一数")
    until(chat, type="reply", in_reply_to="same user")
    [reply] = [reply for reply in replies(free(chat)) if reply["conversation"] == "slow"]
    assert reply["text"] == f"begun ended {word} 一下;"


def test_many_slow_agents_leave_room(chat: Chat):
    for number in range(63):
        chat.put(user=f"slow{number}", text=f"{'等堵'[number % 2]} 一下")
    chat.put(id="quick", user="quick", text="数一数")
    until(chat, type="reply", in_reply_to="quick")
    done = [reply for reply in replies(free(chat)) if reply["conversation"].startswith("slow")]
    assert len(done) == 63


def test_iso05_a_group_knows_nothing_of_a_direct_chat(chat: Chat):
    chat.say("我的期望薪资是 45k")
    chat.say("数一数")
    group = chat.say("@bot 我刚才说了什么", conversation="g", kind="group")
    assert "45k" not in group["text"]
    assert "counter" not in chat.say("/current", conversation="g", kind="group")["text"]
    other = chat.say("我刚才说了什么", conversation="g2", kind="group")
    assert other["text"] == "memory 我刚才说了什么; history []"
    direct = chat.say("我刚才说了什么")
    assert "45k" in direct["text"]
    assert "@bot" not in direct["text"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            {"conversation": "g", "kind": "group"},
            {"conversation": "g", "kind": "group", "user": "u2"},
        ),
        ({"conversation": "g", "kind": "group"}, {"conversation": "G", "kind": "group"}),
        ({"conversation": "a:b"}, {"conversation": "a", "user": "b:u1"}),
        ({"conversation": "a%3Ab"}, {"conversation": "a:b"}),
        ({"user": "x", "conversation": "y"}, {"user": "y", "conversation": "x"}),
    ],
)
def test_iso05_conversations_and_members_share_nothing(
    chat: Chat, first: dict[str, str], second: dict[str, str]
):
    chat.say("说说 secret", **first)
    reply = chat.say("说说 open", **second)
    assert reply["text"] == "memory 说说 open; history []"
    assert "tell" in chat.say("/current", **second)["text"]
    chat.say("/reset", **second)
    assert "tell" in chat.say("/current", **first)["text"]


def test_iso07_each_answer_goes_where_its_question_came_from(chat: Chat):
    chat.put(id="link", user="a", text="/link")
    code = re.search(r"/link (\w+)", replies(chat.wait())[0]["text"])
    assert code is not None
    chat.say(f"/link {code[1]}", user="b")
    begin(chat, "等 Q1", user="a", id="q1")
    chat.put(user="b", id="q2", text="说说 Q2")
    [second] = replies(until(chat, type="reply", in_reply_to="q2"))
    assert second["conversation"] == "b"
    by_id = {reply["in_reply_to"]: reply for reply in replies(free(chat))}
    assert by_id["q1"]["conversation"] == "a"
    assert by_id["q1"]["text"] == "begun ended 等 Q1;"


@pytest.mark.parametrize(
    "command", ["/stop", "/reset", "／STOP", "/reset --forget", " /Reset "]
)
@pytest.mark.parametrize(("kind", "word"), WORD.items())
def test_iso09_what_was_running_never_speaks_again(
    chat: Chat, waiting: Deployment, kind: str, word: str, command: str
):
    begin(chat, f"{word} 一下", id="running")
    chat.put(id="queued", text="说说 queued")
    chat.put(id="command", text=command)
    chat.put(id="after", text="说说 after")
    lines = until(chat, type="reply", in_reply_to="after")
    outcomes = {line["message"]: line["outcome"] for line in decisions(lines)}
    assert outcomes == {
        "running": "superseded",
        "queued": "superseded",
        "command": "command",
        "after": "answered",
    }, kind
    assert [reply["in_reply_to"] for reply in replies(lines)] == ["command", "after"]
    late = free(chat)
    assert [reply for reply in replies(late) if reply["conversation"] == "u1"] == []
    assert chat.say(f"{word} 再来")["text"].endswith(f"begun ended {word} 再来;")
    chat.end()
    shown = waiting.json("decisions", "--limit", "50")
    assert [one["outcome"] for one in shown].count("superseded") == 2


def test_iso09_stop_and_reset_never_void_each_other(chat: Chat):
    chat.say("数一数")
    begin(chat, "等 一下", id="running")
    for number, text in enumerate(["/reset", "/stop", "/stop", "说说", "/reset"]):
        chat.put(id=f"m{number}", text=text)
    lines = chat.wait()
    outcomes = {line["message"]: line["outcome"] for line in decisions(lines)}
    assert outcomes["running"] == outcomes["m3"] == "superseded"
    assert [outcomes[f"m{number}"] for number in (0, 1, 2, 4)] == ["command"] * 4
    assert "/agents" in chat.say("/current")["text"]


def test_iso09_a_stop_that_comes_with_the_message_stops_it(chat: Chat):
    for number in range(20):
        chat.put(user=f"u{number}", id=f"m{number}", text="等 一下")
        chat.put(user=f"u{number}", id=f"s{number}", text="/stop")
    lines = chat.wait()
    outcomes = {line["message"]: line["outcome"] for line in decisions(lines)}
    assert {outcomes[f"m{number}"] for number in range(20)} == {"superseded"}
    assert len(replies(lines)) == 20


def test_iso09_another_sender_of_the_group_stops_nothing(chat: Chat):
    begin(chat, "等 一下", conversation="g", kind="group", id="running")
    chat.put(text="/stop", user="u2", conversation="g", kind="group", id="stop")
    chat.put(text="/stop", user="u1", conversation="elsewhere", id="stop too")
    until(chat, type="reply", in_reply_to="stop too")
    said = {reply["in_reply_to"]: reply["text"] for reply in replies(free(chat))}
    assert said["running"] == "begun ended 等 一下;"
    assert "没有正在处理" in said["stop"]


def test_dlv03_a_message_that_comes_again_is_answered_once(waiting: Deployment):
    answered = 0
    for _ in range(4):
        with waiting.chat() as chat:
            answered += len(replies(chat.tell("数一数", id="om_A")))
            answered += len(replies(chat.tell("数一数", id="om_A")))
            chat.end()
    assert answered == 1


def test_dlv05_only_the_same_id_of_the_same_sender_is_a_repetition(chat: Chat):
    for text in ("你好", "有哪些岗位", "取消"):
        assert len(replies(chat.tell(text, id=text))) == 1
        assert len(replies(chat.tell(text))) == 1
        assert len(replies(chat.tell(text))) == 1
        assert len(replies(chat.tell(text, id=text, user="u2"))) == 1
        assert len(replies(chat.tell(text, id=text, conversation="c2"))) == 1
        assert replies(chat.tell("other", id=text)) == []
    assert len(replies(chat.tell("数一数", id=""))) == 1
    assert len(replies(chat.tell("数一数", id=""))) == 1


def test_run01_sigterm_ends_what_runs_and_leaves_what_waits(waiting: Deployment):
    waiting.configure(f"{PLAIN_CONFIG}\n    agents: {{timeout_s: 1}}\n")
    with waiting.chat() as chat:
        lines = begun_and_queued(chat)
        chat.process.terminate()
        lines += list(chat.read())
        assert chat.process.wait(timeout=30) == 0
    assert [reply["in_reply_to"] for reply in replies(lines)] == ["seen", "running"]
    with waiting.chat() as chat:
        assert [reply["in_reply_to"] for reply in replies(chat.wait())] == ["queued"]


@pytest.mark.parametrize("signals", [["KILL"], ["TERM", "KILL"]])
def test_run01_a_kill_loses_nothing(waiting: Deployment, signals: list[str]):
    with waiting.chat() as chat:
        lines = begun_and_queued(chat)
        for name in signals:
            chat.process.send_signal(signal.Signals[f"SIG{name}"])
        lines += list(chat.read())
    with waiting.chat() as chat:
        lines += free(chat)
        chat.end()
    by_id = {reply["id"]: reply["in_reply_to"] for reply in replies(lines)}  # one may be resent
    answered = list(by_id.values())
    assert [answered.count(name) for name in ("seen", "running", "queued")] == [1, 1, 1]


def begun_and_queued(chat: Chat) -> list[JsonLine]:
    """Have one message running and one queued behind it, both accepted."""
    begin(chat, "等 一下", id="running")
    chat.put(id="queued", text="说说 queued")
    chat.put(id="seen", user="other", text="数一数")
    return until(chat, type="reply", in_reply_to="seen")
