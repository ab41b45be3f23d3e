"""What a newcomer says in the first ten minutes, and the bot's own suggestions above all."""

import pytest
from driver import Chat, Deployment, Speaker

EXAMPLES = {
    "job-recommend": ("推荐几个 Java 岗位", "有什么适合我的工作", "recommend some Java jobs"),
    "job-search": ("搜一下杭州的 Python 岗位", "find Python jobs in Toronto"),
    "progress": ("查询投递进度", "我投了云帆科技", "how are my applications going"),
    "identity": ("看看我的资料", "show my profile"),
    "chat": ("你能做什么", "what can you do"),
}
CASES = [
    (bound, agent, text)
    for bound in EXAMPLES
    for agent, texts in EXAMPLES.items()
    for text in texts
    if bound != agent
]


@pytest.fixture(scope="module")
def shared_chat(tmp_path_factory: pytest.TempPathFactory):
    with Deployment(tmp_path_factory.mktemp("minutes")).chat() as running:
        yield running


@pytest.fixture
def speaker(shared_chat: Chat, request: pytest.FixtureRequest) -> Speaker:
    return Speaker(shared_chat, request.node.nodeid)


@pytest.mark.parametrize(("bound", "agent", "text"), CASES)
def test_every_example_is_heard_from_every_binding(
    speaker: Speaker, bound: str, agent: str, text: str
):
    speaker.say(f"/{bound}")
    assert speaker.decide(text)["agent"] == agent


def test_the_examples_are_those_that_agents_show(shared_chat: Chat):
    shown = shared_chat.say("/agents", user="zh")["text"]
    assert all(texts[0] in shown for texts in EXAMPLES.values())


def test_progress_does_not_keep_the_session(speaker: Speaker):
    assert speaker.decide("查询投递进度")["agent"] == "progress"
    assert speaker.decide("推荐几个 Go 岗位")["agent"] == "job-recommend"
    assert speaker.decide("薪资多少")["step"] == "binding"


def test_an_answer_of_nothing_does_not_keep_the_session(speaker: Speaker):
    assert speaker.decide("搜一下月球的岗位")["agent"] == "job-search"
    assert speaker.decide("谢谢")["agent"] == "chat"


@pytest.mark.parametrize(
    ("text", "agent", "says"),
    [
        ("在吗？", "chat", "您好"),
        ("再见", "chat", "再见"),
        ("bye", "chat", "Goodbye"),
        ("help", "chat", "what I can do"),
        ("你能干什么", "chat", "能做这些"),
        ("你是谁", "chat", "求职助手"),
        ("talk to a human", "chat", "/human"),
        ("有人工客服吗", "chat", "/human"),
        ("我是应届生，想找一份实习", "job-search", "实习"),
        ("请问有没有不需要经验的工作", "job-search", ""),
        ("成都java", "job-search", "没有找到"),
        ("杭州 20k 以上 python", "job-search", "启明数据"),
        ("怎么准备面试", "chat", "还没有开通"),
        ("how do I prepare for an interview", "chat", "not offered yet"),
        ("unsubscribe", "chat", "not offered yet"),
        ("stop sending me jobs", "chat", "not offered yet"),
        ("别再给我推送了", "chat", "还没有开通"),
        ("谢谢", "chat", "不客气"),
    ],
)
def test_the_first_sentences_find_an_answer_that_does_not_mislead(
    speaker: Speaker, text: str, agent: str, says: str
):
    reply = speaker.say(text)
    assert reply["agent"] == agent
    assert says in reply["text"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("我想找工作", "您没有说城市"),
        ("推荐几个岗位", "您没有说城市"),
        ("给我推荐几份工作", "您没有说城市"),
        ("推荐几个会飞的岗位", "没有找到"),
        ("help me find a job", "You named no city"),
        ("just show me jobs", "You named no city"),
    ],
)
def test_who_names_nothing_sees_some_and_is_asked_for_more(
    speaker: Speaker, text: str, says: str
):
    assert says in speaker.say(text)["text"]


@pytest.mark.parametrize("text", ["show me jobs in Shanghai", "find jobs in Xi'an"])
def test_english_names_of_cities_are_understood(speaker: Speaker, text: str):
    found = speaker.say(text)
    assert found["agent"] == "job-search"
    assert "1. " in found["text"]
    where = speaker.say("where")["text"]
    assert "Developer" not in where
    assert ": " in where
    assert "、" not in where


@pytest.mark.parametrize(
    "text", ["how is my application going", "I applied to Northwind Systems"]
)
def test_applications_are_heard_from_a_list(speaker: Speaker, text: str):
    speaker.say("find Python jobs in Toronto")
    assert speaker.decide(text)["agent"] == "progress"
