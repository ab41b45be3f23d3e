"""What a newcomer meets: two questions, skipped or answered, then the first message."""

from pathlib import Path

import pytest
from driver import Deployment, decisions, replies

FIRST = "帮我看看有没有合适的 Java 岗位"


@pytest.fixture
def gated(tmp_path: Path) -> Deployment:
    return Deployment(tmp_path, "")


def test_the_promised_conversation(gated: Deployment):
    with gated.chat() as chat:
        first = chat.tell(FIRST, id="m1")
        [asked] = replies(first)
        assert asked["agent"] == "identity"
        assert asked["in_reply_to"] == "m1"
        assert [button["label"] for button in asked["buttons"]] == ["跳过"]
        second = chat.tell("跳过", id="m2")
        [decision], [answer] = decisions(second), replies(second)
        assert (decision["agent"], decision["tier"]) == ("job-recommend", "keyword")
        assert decision["text"] == FIRST
        assert decision["replayed"]
        assert answer["agent"] == "job-recommend"
        assert "Java 后端开发工程师" in answer["text"]
        assert "为什么" not in answer["text"]
        why_first = chat.say("/why")["text"]
        assert (
            why_first.split("\n")[0]
            == "因为你说了「看看有没有合适的」，所以由「岗位推荐」回答。"
        )
        third = chat.tell("薪资多少", id="m3")
        assert decisions(third)[0]["step"] == "binding"
        assert decisions(third)[0]["tiers"] == []
        assert "20-35K" in replies(third)[0]["text"]
        why_third = chat.say("/why")["text"]
        assert why_third.split("\n")[0].startswith("因为你正在和「岗位推荐」对话")
    assert gated.json("why", "m2")["agent"] == "job-recommend"


@pytest.mark.parametrize("skip", ["跳过", "稍后", "skip", "Later", " 跳过。", "跳过！"])
def test_each_word_puts_the_questions_off(gated: Deployment, skip: str):
    with gated.chat() as chat:
        chat.say(FIRST)
        assert chat.decide(skip)["agent"] == "job-recommend"
        assert chat.decide("查询投递进度")["agent"] == "progress"


def test_the_button_puts_the_questions_off(gated: Deployment):
    with gated.chat() as chat:
        chat.say(FIRST)
        assert decisions(chat.press("skip"))[0]["agent"] == "job-recommend"


def test_answers_are_kept_and_the_first_message_is_answered(gated: Deployment):
    with gated.chat() as chat:
        assert "技能" in chat.say(FIRST)["text"]
        assert "毕业年份" in chat.say("Java, SQL")["text"]
        chat.end()
    with gated.chat() as chat:
        lines = chat.tell("浙大 计算机 2026届")
        thanks, answer = replies(lines)
        assert thanks["agent"] == "identity"
        assert "浙大 计算机 2026届" in thanks["text"]
        assert answer["agent"] == "job-recommend"
        assert decisions(lines)[0]["agent"] == "job-recommend"
        profile = chat.say("/profile")["text"]
        assert "Java, SQL" in profile
        assert chat.decide("薪资多少")["agent"] != "identity"
    [user] = gated.json("users", "list")
    assert user["profile"] == {"skills": "Java, SQL", "education": "浙大 计算机 2026届"}


def test_a_skip_word_is_never_an_answer(gated: Deployment):
    with gated.chat() as chat:
        chat.say(FIRST)
        chat.say("Java")
        chat.say("跳过")
    [user] = gated.json("users", "list")
    assert user["profile"] == {"skills": "Java"}
    assert user["gate"]["postponed"] == 1


def test_the_second_time_is_for_good_until_profile(gated: Deployment):
    with gated.chat() as chat:
        chat.say("/profile")
        chat.say("跳过")
        chat.say("/profile")
        assert "以后不再问" in chat.say("跳过")["text"]
        assert chat.decide(FIRST)["agent"] == "job-recommend"
        assert "技能" in chat.say("/profile")["text"]


def test_a_group_is_never_asked(gated: Deployment):
    with gated.chat() as chat:
        decision = chat.decide(FIRST, kind="group", conversation="g1")
        assert decision["agent"] == "job-recommend"


def test_commands_and_switches_pass_the_gate(gated: Deployment):
    with gated.chat() as chat:
        assert chat.decide("/agents")["outcome"] == "command"
        assert chat.decide("/job-search 杭州 Python")["agent"] == "job-search"
        assert chat.decide("/recommend Java")["agent"] == "job-recommend"
        assert chat.decide("查询投递进度")["agent"] == "identity"


def test_when_needed_asks_only_before_an_agent_that_needs_it(tmp_path: Path):
    deployment = Deployment(tmp_path, "router: {identity_gate: when_needed}\n")
    with deployment.chat() as chat:
        assert chat.decide("查询投递进度")["agent"] == "progress"
        assert chat.decide("/reset")["outcome"] == "command"
        assert chat.decide(FIRST)["agent"] == "identity"
        lines = chat.tell("跳过")
        assert decisions(lines)[0]["agent"] == "job-recommend"


def test_english_from_the_first_word(gated: Deployment):
    with gated.chat() as chat:
        asked = chat.say("recommend some Java jobs for me")
        assert "skills" in asked["text"]
        assert asked["buttons"][0]["label"] == "Skip"
        answer = chat.say("skip")
        assert answer["agent"] == "job-recommend"
        assert "Because you said" in chat.say("/why")["text"].split("\n")[0]
        assert "salaries" in chat.say("what about the salary")["text"]
        assert "中文" in chat.say("/lang zh")["text"]
        assert "因为" in chat.say("/why")["text"]


def test_start_greets_with_examples_to_tap(gated: Deployment):
    with gated.chat() as chat:
        greeting = chat.say("/start")
        assert len(greeting["buttons"]) == 3
        label = greeting["buttons"][1]["label"]
        pressed = decisions(chat.press(greeting["buttons"][1]["id"]))[0]
        assert pressed["agent"] == "identity"
        assert decisions(chat.tell("跳过"))[0]["text"] == label
