"""Who one is: linked accounts, codes, a person instead of the bot, the language."""

import re

import pytest
from counting_agents import COUNTER
from driver import Chat, Deployment, Speaker, decisions, replies


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Deployment:
    """The deployment of the chat that tests share."""
    deployment = Deployment(tmp_path_factory.mktemp("accounts"))
    deployment.drop_in("numbers", COUNTER)
    return deployment


@pytest.fixture
def other(shared_chat: Chat, request: pytest.FixtureRequest) -> Speaker:
    """Another one."""
    return Speaker(shared_chat, f"{request.node.nodeid} other")


def number(chat: Speaker) -> str:
    """The user's id as /whoami shows it."""
    found = re.search(r"`(u\w+)`", chat.say("/whoami")["text"])
    assert found is not None
    return found[1]


def link_code(chat: Speaker) -> str:
    found = re.search(r"/link (\w+)", chat.say("/link")["text"])
    assert found is not None
    return found[1]


def test_two_accounts_become_one_user_and_two_again(chat: Speaker, other: Speaker):
    code = link_code(chat)
    assert number(chat) != number(other)
    assert other.say("数一数")["text"] == "1"
    assert "已关联" in other.say(f"/link {code.lower()} ")["text"]
    assert number(chat) == number(other)
    assert other.user in chat.say("/whoami")["text"]
    assert other.say("数一数")["text"] == "2"
    assert chat.say("数一数")["text"] == "1"
    assert "已解除" in other.say("/unlink")["text"]
    assert number(chat) != number(other)
    assert other.user not in chat.say("/whoami")["text"]
    assert "没有关联" in chat.say("/unlink")["text"]


def test_a_link_code_works_once_and_only_for_others(chat: Speaker, other: Speaker):
    code = link_code(chat)
    assert "已经是同一个" in chat.say(f"/link {code}")["text"]
    other.say(f"/link {link_code(chat)}")
    mine = number(chat)
    third = Speaker(chat.chat, f"{chat.user} third")
    for wrong in (code, "XXXXXXXX", "", "a b", "../x", "1" * 300):
        third.say(f"/link {wrong}")
        assert number(third) != mine


def test_a_role_comes_with_the_link_and_goes_with_it(
    home: Deployment, chat: Speaker, other: Speaker
):
    [code] = home.json("users", "codes", "create", "--role", "vip", "--days", "31")
    chat.say(f"/redeem {code}")
    assert other.decide("付费")["outcome"] == "refused"
    other.say(f"/link {link_code(chat)}")
    assert other.decide("付费")["agent"] == "paid"
    other.say("/unlink")
    lines = other.tell("随便说说")
    assert decisions(lines)[0]["role"] == "free"
    assert "现在不能用了" in replies(lines)[0]["text"]


@pytest.mark.parametrize("text", ["/link", "/link ABCD2345"])
def test_linking_is_for_direct_chats(chat: Speaker, text: str):
    assert "私聊" in chat.say(text, conversation="g", kind="group")["text"]


def test_a_code_is_used_once(home: Deployment, chat: Speaker, other: Speaker):
    [code] = home.json("users", "codes", "create", "--role", "vip", "--days", "31")
    assert "兑换码" in chat.say("/redeem")["text"]
    for wrong in ("ABCD2345", f"{code}X", code[:-1], "' OR 1=1 --", "x" * 500):
        assert "无效" in chat.say(f"/redeem {wrong}")["text"]
    assert "VIP" in chat.say(f"/redeem  {code.lower()} ")["text"]
    assert chat.decide("付费")["agent"] == "paid"
    assert "无效" in chat.say(f"/redeem {code}")["text"]
    assert "无效" in other.say(f"/redeem {code}")["text"]
    assert other.decide("付费")["outcome"] == "refused"


def test_a_second_code_adds_its_days_and_never_lowers(home: Deployment, chat: Speaker):
    codes = home.json(
        "users", "codes", "create", "--role", "vip", "--days", "31", "--count", "2"
    )
    terms = [
        re.findall(r"\d{4}-\d\d-\d\d", chat.say(f"/redeem {code}")["text"]) for code in codes
    ]
    assert terms[0] < terms[1]
    home.run("users", "role", chat.user, "admin")
    [vip] = home.json("users", "codes", "create", "--role", "vip", "--days", "1")
    assert "管理员" in chat.say(f"/redeem {vip}")["text"]
    assert "管理员" in chat.say("/whoami")["text"]


def test_a_code_sent_by_many_at_once_serves_one(home: Deployment, shared_chat: Chat):
    [code] = home.json("users", "codes", "create", "--role", "vip", "--days", "31")
    for who in range(20):
        shared_chat.put(user=f"rush{who}", text=f"/redeem {code}")
    texts = [reply["text"] for reply in replies(shared_chat.wait())]
    assert len([text for text in texts if "VIP" in text]) == 1
    assert len(texts) == 20


@pytest.mark.parametrize("start", ["/human", "转人工", "转人工！", " 转人工 "])
@pytest.mark.parametrize(
    "text", ["你好", "数一数", "/counter 一", "@counter 一", "/recommend", "1"]
)
def test_a_conversation_with_a_person_is_left_alone(chat: Speaker, start: str, text: str):
    assert "转人工" in chat.say(start)["text"]
    lines = chat.tell(text)
    assert replies(lines) == []
    assert (decisions(lines)[0]["outcome"], decisions(lines)[0]["detail"]) == (
        "dropped",
        "takeover",
    )
    assert chat.tell(text, conversation="elsewhere")[-1]["type"] == "reply"
    assert chat.say("/help")["text"]
    assert replies(chat.tell("在吗")) == []
    assert "回来了" in chat.say("/bot")["text"]
    assert chat.say("数一数")["text"] == "1"
    assert "一直在" in chat.say("/bot")["text"]


@pytest.mark.parametrize(
    "text", ["帮我转人工智能岗位", "转人工智能", "不要转人工服务", "什么是转人工"]
)
def test_the_word_inside_a_sentence_calls_nobody(chat: Speaker, text: str):
    assert chat.decide(text)["detail"] != "/human"
    assert replies(chat.tell("你好"))


def test_a_takeover_survives_a_restart(deployment: Deployment):
    with deployment.chat() as chat:
        chat.say("/human")
        chat.end()
    with deployment.chat() as chat:
        assert replies(chat.tell("你好")) == []
        assert replies(chat.tell("你好", user="u2"))


@pytest.mark.parametrize(
    ("text", "language"), [("zh", "zh"), ("EN", "en"), (" 中文", "zh"), ("English", "en")]
)
def test_the_language_is_the_one_that_was_chosen(chat: Speaker, text: str, language: str):
    chat.say(f"/lang {text}")
    for said in ("你好", "hello my dear friend, how are you", "👍"):
        chat.say(said)
        assert chat.say("/current")["text"].isascii() == (language == "en")


@pytest.mark.parametrize("text", ["fr", "zh en", "", "zh-CN", "1"])
def test_a_language_that_is_none_is_asked_for_again(chat: Speaker, text: str):
    assert "/lang zh" in chat.say(f"/lang {text}")["text"]


@pytest.mark.parametrize(
    "text", ["/redeem ABCD2345", "/why", "/reset --forget", "/link ABCD2345"]
)
def test_codes_and_options_choose_no_language(chat: Speaker, text: str):
    assert not chat.say(text)["text"].isascii()
