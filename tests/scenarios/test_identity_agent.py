"""What the identity agent takes for an answer, and how a profile is shown and changed."""

from pathlib import Path

import pytest
from driver import Chat, Deployment, Speaker


@pytest.fixture(scope="module")
def shared_chat(tmp_path_factory: pytest.TempPathFactory):
    with Deployment(tmp_path_factory.mktemp("identity"), "").chat() as running:
        yield running


@pytest.fixture
def newcomer(shared_chat: Chat, request: pytest.FixtureRequest) -> Speaker:
    """Somebody who has just been asked for skills."""
    speaker = Speaker(shared_chat, request.node.nodeid)
    speaker.say("推荐几个岗位")
    return speaker


@pytest.mark.parametrize(
    "text", ["你好", "hello!", "为什么要问这个？", "需要填这个吗", "不想说", "?", "好的", "👍"]
)
def test_what_is_no_answer_is_not_kept(newcomer: Speaker, text: str):
    again = newcomer.say(text)
    assert again["agent"] == "identity"
    assert "跳过" in again["text"] or "skip" in again["text"]
    assert again["buttons"]
    assert newcomer.decide("跳过")["agent"] == "job-recommend"


@pytest.mark.parametrize(
    "text",
    ["Java", "会计，Excel", "Python and SQL", "C++、嵌入式", "英语六级", "no-code tools"],
)
def test_what_is_an_answer_is_kept(newcomer: Speaker, text: str):
    assert "毕业年份" in newcomer.say(text)["text"]
    assert text in newcomer.chat.tell("浙大 计算机 2026届", user=newcomer.user)[1]["text"]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("把技能改成 Go, Rust", "Go, Rust"),
        ("把我的技能改为 Go", "Go"),
        ("change my skills to Go and Rust", "Go and Rust"),
    ],
)
def test_a_profile_is_shown_and_changed_by_text(newcomer: Speaker, text: str, kept: str):
    newcomer.say("Java")
    newcomer.tell("浙大 计算机 2026届")
    assert "Java" in newcomer.say("/profile")["text"]
    assert kept in newcomer.say(f"/profile {text}")["text"]
    assert kept in newcomer.say("/profile")["text"]


def test_profile_does_not_hold_the_session_afterwards(tmp_path: Path):
    with Deployment(tmp_path, "").chat() as chat:
        chat.say("推荐几个 Java 岗位")
        chat.say("Java")
        chat.tell("浙大 计算机 2026届")
        chat.say("/profile")
        assert chat.decide("查询投递进度")["agent"] == "progress"
