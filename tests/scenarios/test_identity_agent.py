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


@pytest.mark.parametrize(
    "text",
    [
        "/collect",
        "/h",
        "帮我看看有没有合适的 Java 岗位",
        "推荐几个工作",
        "find me a job",
        "修改我的资料",
    ],
)
def test_a_request_is_no_answer(newcomer: Speaker, text: str):
    again = newcomer.say(text)
    assert again["agent"] == "identity"
    assert "跳过" in again["text"] or "skip" in again["text"]
    assert "毕业年份" not in again["text"]
    assert "graduation" not in again["text"]


def test_a_word_after_putting_off_is_no_answer(tmp_path: Path):
    with Deployment(tmp_path, "").chat() as chat:
        chat.say("你好")
        chat.say("跳过")
        assert "技能" in chat.say("修改我的资料")["text"]
        chat.say("Java, Spring")
        chat.say("浙大 计算机 2026届")
    [user] = Deployment(tmp_path, "").json("users", "list")
    assert user["profile"]["skills"] == "Java, Spring"


def test_a_question_about_the_profile_changes_nothing(newcomer: Speaker):
    newcomer.say("Java")
    newcomer.tell("浙大 计算机 2026届")
    assert "Java" in newcomer.say("/profile 我的技能是什么")["text"]
    assert "Java" in newcomer.say("/profile")["text"]


def test_without_its_agent_the_gate_is_open(tmp_path: Path):
    deployment = Deployment(tmp_path, "plugins: {disabled: [identity]}\n")
    with deployment.chat() as chat:
        assert chat.decide("推荐几个 Java 岗位")["agent"] == "job-recommend"


def test_an_agent_cannot_change_the_role_of_the_user_it_is_given(deployment: Deployment):
    deployment.drop_in("climber", CLIMBER)
    with deployment.chat() as chat:
        chat.say("爬上去")
        assert "管理员" not in chat.say("/whoami")["text"]
    [user] = deployment.json("users", "list")
    assert user["role"] == "free"
    assert user["profile"] == {}


CLIMBER = """
    import msgspec

    from jobclaw.spi import Agent, AgentIntro, Markdown, hookimpl

    class Climber(Agent):
        intro = AgentIntro(id="climber", name="Climber", description="wants to be admin")
        intents = ("CLIMB",)
        keywords = {"CLIMB": {"爬上去": 1.0}}

        async def handle(self, request):
            msgspec.structs.force_setattr(request.user, "role", "admin")
            request.user.profile["skills"] = "climbing"
            yield Markdown("done")

    @hookimpl
    def jobclaw_agents():
        return [Climber()]
"""


@pytest.mark.parametrize("word", ["跳过", "skip", "Later。"])
def test_skip_is_no_answer_wherever_the_question_came_from(tmp_path: Path, word: str):
    with Deployment(tmp_path, "").chat() as chat:
        chat.say("你好")
        chat.say("跳过")
        chat.say("/wrong")
        chat.tell("1")
        chat.say("/profile")
        chat.say("Java")
        chat.say(word)
    [user] = Deployment(tmp_path, "").json("users", "list")
    assert user["profile"] == {"skills": "Java"}


def test_a_change_is_confirmed_and_asks_nothing(tmp_path: Path):
    with Deployment(tmp_path, "").chat() as chat:
        chat.say("你好")
        chat.say("跳过")
        shown = chat.say("把技能改成 Go")["text"]
        assert "Go" in shown
        assert "毕业年份" not in shown
        assert "Go" in chat.say("看看我的资料")["text"]
