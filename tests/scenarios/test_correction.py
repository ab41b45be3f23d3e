"""The 不对 button and 回复 0: the wrong agent answered, and one press says so."""

from pathlib import Path

import pytest
from driver import Chat, Deployment, JsonLine, Speaker, decisions, replies

TALKERS = """
    from jobclaw.spi import Agent, AgentIntro, Button, Buttons, Markdown, hookimpl

    def talker(name, intent, words, **more):
        class Talker(Agent):
            intro = AgentIntro(id=name, name=name.title(), description="talks")
            intents = (intent,)
            keywords = {intent: words}

            async def handle(self, request):
                yield Markdown(f"{name}:{request.text}")
                if "选" in request.text:
                    yield Buttons((Button("a", "甲"), Button("b", "乙")))

        for field, value in more.items():
            setattr(Talker, field, value)
        return Talker()

    @hookimpl
    def jobclaw_agents():
        return [
            talker("red", "RED", {"红": 1.0}),
            talker("blue", "BLUE", {"蓝": 0.8}),
            talker("form", "FORM", {"表格": 1.0}, holds=True),
        ]
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Deployment:
    """The deployment of the chat that tests share."""
    deployment = Deployment(tmp_path_factory.mktemp("correction"))
    deployment.drop_in("talkers", TALKERS)
    return deployment


def wrong_button(reply: JsonLine) -> str:
    """The id of the 不对 button under a reply."""
    [found] = [b["id"] for b in reply["buttons"] if b["id"].startswith("/wrong:")]
    return found


def test_the_button_offers_others_and_the_chosen_one_gets_the_original_and_the_binding(
    chat: Speaker,
) -> None:
    answer = chat.say("红色的岗位")
    [button] = answer["buttons"]
    assert button["label"] == "不对"
    lines = chat.press(button["id"])
    assert decisions(lines)[0]["detail"] == "/wrong"
    [question] = replies(lines)
    assert "红色的岗位" in question["text"]
    assert "pick:red" not in [b["id"] for b in question["buttons"]]
    [picked] = replies(chat.press("pick:blue"))
    assert picked["text"].startswith("blue:红色的岗位")
    assert chat.decide("还有吗")["agent"] == "blue"


def test_zero_is_the_button_only_where_one_is_shown(chat: Speaker) -> None:
    assert chat.decide("0")["detail"] != "/wrong"
    wrong_button(chat.say("红"))
    assert chat.decide("０")["detail"] == "/wrong"
    chat.say("红一下")
    assert chat.decide("0")["agent"] == "red"


def test_numbers_still_name_the_agents_own_choices(chat: Speaker) -> None:
    reply = chat.say("红，选")
    assert [b["label"] for b in reply["buttons"]] == ["甲", "乙", "不对"]
    assert chat.say("2")["text"] == "red:乙"
    chat.say("红，再选")
    assert chat.say("3")["text"] == "red:3"


def test_an_old_button_corrects_its_own_message_not_the_last_one(chat: Speaker) -> None:
    first = wrong_button(chat.say("红色的第一句"))
    chat.say("蓝色的第二句")
    [question] = replies(chat.press(first))
    assert "红色的第一句" in question["text"]
    assert "pick:red" not in [b["id"] for b in question["buttons"]]


def test_nobody_corrects_a_message_of_somebody_else(chat: Speaker, shared_chat: Chat) -> None:
    mine = wrong_button(chat.say("红色的秘密"))
    other = Speaker(shared_chat, f"{chat.user}-other")
    [reply] = replies(other.press(mine))
    assert "秘密" not in reply["text"]
    assert reply["buttons"] == []


@pytest.mark.parametrize("text", ["/red 你好", "@blue 你好", "表格", "你好"])
def test_what_was_chosen_asked_or_small_talk_has_no_button(chat: Speaker, text: str) -> None:
    reply = chat.say(text)
    assert not [b for b in reply["buttons"] if b["id"].startswith("/wrong:")]


def test_a_bound_answer_has_none_and_an_escape_has_one(chat: Speaker) -> None:
    chat.say("蓝")
    assert chat.say("继续")["buttons"] == []
    moved = chat.say("红色")
    assert moved["agent"] == "red"
    wrong_button(moved)


def test_where_there_are_no_buttons_the_line_says_zero(tmp_path: Path) -> None:
    home = Deployment(tmp_path)
    home.drop_in("talkers", TALKERS)
    done = home.run("chat", "--user", "plain", "--once", "红色")
    assert done.stdout.rstrip().endswith("0. 不对")
    asked = home.run("chat", "--user", "plain", "--once", "0")
    assert "红色" in asked.stdout
    assert "1. " in asked.stdout
