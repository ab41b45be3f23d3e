"""Buttons, numbers and questions with choices: pressed, typed, stale, twice, learned."""

import contextlib
import sqlite3

import pytest
from driver import Deployment, JsonLine, Speaker, decisions, replies

COLOURS = """
    from jobclaw.spi import Agent, AgentIntro, Button, Buttons, Markdown, hookimpl

    CHOICES = (("a", "甲"), ("b", "乙", "第二"), ("c", "Reset"))

    def colour(name, intent, words, **more):
        class Colour(Agent):
            intro = AgentIntro(id=name, name=name.title(), description="a colour")
            intents = (intent,)
            keywords = {intent: words}

            async def handle(self, request):
                yield Markdown(f"{name}:{request.text}")
                if "选" in request.text:
                    yield Buttons(tuple(Button(*choice) for choice in CHOICES))

        for field, value in more.items():
            setattr(Colour, field, value)
        return Colour()

    @hookimpl
    def jobclaw_agents():
        return [
            colour("red", "RED", {"红": 0.8, "颜色": 0.75}),
            colour("blue", "BLUE", {"蓝": 0.8, "颜色": 0.75}),
            colour("green", "GREEN", {"绿": 0.8, "颜色": 0.75}),
            colour("gold", "GOLD", {"金": 0.8, "颜色": 0.75}, role="vip"),
        ]
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Deployment:
    """The deployment of the chat that tests share."""
    deployment = Deployment(tmp_path_factory.mktemp("offers"))
    deployment.drop_in("colours", COLOURS)
    return deployment


def offered(chat: Speaker, text: str = "红和蓝", **more: str) -> list[str]:
    """Say something that is answered with a question; the ids of its choices."""
    lines = chat.tell(text, **more)
    assert decisions(lines)[0]["outcome"] == "clarify"
    return [button["id"] for button in replies(lines)[0]["buttons"]]


def labels(home: Deployment) -> list[tuple[str, str, str, str]]:
    """What the learned tier would be taught."""
    with contextlib.closing(sqlite3.connect(home.workspace / "journal.db")) as db:
        return db.execute(
            "SELECT text, intent, agent, source FROM label ORDER BY seq"
        ).fetchall()


@pytest.mark.parametrize(
    "answer", ["1", " 1 ", "１", "1.", "1。", "(1)", "①", "Blue", "blue", " BLUE！"]
)
def test_a_question_is_answered_by_number_or_name(home: Deployment, chat: Speaker, answer: str):
    assert offered(chat) == ["pick:blue", "pick:red"]
    before = labels(home)
    lines = chat.tell(answer)
    assert replies(lines)[0]["text"] == "blue:红和蓝"
    assert decisions(lines)[0]["text"] == "红和蓝"
    assert labels(home)[len(before) :] == [("红和蓝", "BLUE", "blue", "clarify")]
    assert chat.decide("然后呢")["agent"] == "blue"
    assert chat.say("1")["text"] == "blue:1"


@pytest.mark.parametrize(
    "answer", ["0", "3", "-1", "+1", "1.5", "1个", "100", "9" * 30, "一", "Bluee"]
)
def test_what_names_no_choice_is_an_ordinary_message(chat: Speaker, answer: str):
    offered(chat)
    lines = chat.tell(answer)
    assert decisions(lines)[0]["text"] == answer
    assert not decisions(lines)[0]["replayed"]
    assert decisions(chat.tell("1"))[0]["text"] == "1"


def test_a_choice_is_pressed_once(chat: Speaker):
    [blue, red] = offered(chat)
    assert replies(chat.press(red))[0]["text"] == "red:红和蓝"
    for button in (red, blue, "pick:gold", "pick:nobody", "", "x" * 500, "../x"):
        assert decisions(chat.press(button))[0]["outcome"] == "hint"
    assert "red" in chat.say("/current")["text"]


def test_a_question_is_asked_once_in_a_row(chat: Speaker):
    offered(chat)
    second = chat.decide("红和蓝")
    assert (second["outcome"], second["tier"]) == ("answered", "fallback")
    chat.say("/reset")
    offered(chat)


@pytest.mark.parametrize("text", ["/why", "推荐几个Java岗位", "/green", "@red 你好", "/reset"])
def test_choices_end_with_the_next_message(chat: Speaker, text: str):
    [blue, _] = offered(chat)
    chat.say(text)
    assert decisions(chat.press(blue))[0]["outcome"] == "hint"
    assert decisions(chat.tell("1"))[0]["text"] == "1"


def test_choices_belong_to_their_conversation_and_sender(chat: Speaker):
    group = {"conversation": "g", "kind": "group"}
    [blue, _] = offered(chat, **group)
    assert decisions(chat.tell("1"))[0]["text"] == "1"
    assert decisions(chat.press(blue))[0]["outcome"] == "hint"
    stranger = chat.chat.tell("1", user="stranger", **group)
    assert decisions(stranger)[0]["text"] == "1"
    assert replies(chat.tell("1", **group))[0]["text"] == "blue:红和蓝"


def test_choices_are_those_that_the_role_may_use(chat: Speaker):
    assert offered(chat, "颜色") == ["pick:blue", "pick:green", "pick:red"]
    chat.say("/reset")
    assert offered(chat, "金和红和蓝", role="vip") == ["pick:blue", "pick:gold", "pick:red"]
    refused = chat.tell("2", role="free")
    assert decisions(refused)[0]["outcome"] == "refused"


def test_choices_survive_a_restart(deployment: Deployment):
    deployment.drop_in("colours", COLOURS)
    with deployment.chat() as chat:
        chat.say("红和蓝")
        chat.end()
    with deployment.chat() as chat:
        assert chat.say("2")["text"] == "red:红和蓝"


@pytest.mark.parametrize(
    ("button", "typed", "said"),
    [
        ("a", "1", "甲"),
        ("b", "2", "第二"),
        ("a", "甲", "甲"),
        ("b", "乙", "第二"),
        ("c", "Reset", "Reset"),
    ],
)
def test_a_button_says_its_words(chat: Speaker, button: str, typed: str, said: str):
    chat.say("/red 选")
    pressed = chat.press(button)
    assert replies(pressed)[0]["text"] == f"red:{said}"
    assert decisions(pressed)[0]["text"] == said
    chat.say("/red 选")
    assert chat.say(typed)["text"] == f"red:{said}"


def test_a_typed_command_is_never_a_button(chat: Speaker):
    chat.say("/red 选")
    assert chat.decide("/reset")["detail"] == "/reset"
    assert "/agents" in chat.say("/current")["text"]


def wrong(chat: Speaker) -> JsonLine:
    lines = chat.tell("/wrong")
    assert decisions(lines)[0]["detail"] == "/wrong"
    return replies(lines)[0]


def test_wrong_sends_the_original_message_to_the_chosen_agent(home: Deployment, chat: Speaker):
    chat.say("红色的岗位")
    before = labels(home)
    question = wrong(chat)
    assert "红色的岗位" in question["text"]
    ids = [button["id"] for button in question["buttons"]]
    assert len(ids) == 3
    assert "pick:gold" not in ids
    chosen = next(one for one in ids if one != "pick:identity").removeprefix("pick:")
    lines = chat.tell(str(ids.index(f"pick:{chosen}") + 1))
    assert decisions(lines)[0]["agent"] == chosen
    assert decisions(lines)[0]["text"] == "红色的岗位"
    assert [
        (text, agent, source) for text, _, agent, source in labels(home)[len(before) :]
    ] == [("红色的岗位", chosen, "wrong")]
    assert "更正" in chat.say("/why")["text"]


def test_a_correction_leaves_the_keyword_table_as_it_is(home: Deployment, chat: Speaker):
    files = sorted((home.folder / "config").rglob("*"))
    before = [file.read_bytes() for file in files]
    first = chat.decide("红色的岗位")
    ids = [button["id"] for button in wrong(chat)["buttons"]]
    assert decisions(chat.press(ids[0]))[0]["agent"] != first["agent"]
    chat.say("/reset")
    again = chat.decide("红色的岗位")
    for name in ("agent", "intent", "confidence", "tier", "revision", "keywords"):
        assert again[name] == first[name], name
    assert sorted((home.folder / "config").rglob("*")) == files
    assert [file.read_bytes() for file in files] == before


def test_wrong_again_and_without_a_message(chat: Speaker):
    assert "还没有" in wrong(chat)["text"]
    chat.say("/help")
    assert "还没有" in wrong(chat)["text"]
    chat.say("红")
    wrong(chat)
    assert chat.say("算了")["text"] == "red:算了"
    assert "算了" in wrong(chat)["text"]
    wrong(chat)
    lines = chat.tell("1")
    assert decisions(lines)[0]["text"] == "算了"


def test_wrong_after_a_button(chat: Speaker):
    chat.say("/red 选")
    chat.press("b")
    assert "第二" in wrong(chat)["text"]
