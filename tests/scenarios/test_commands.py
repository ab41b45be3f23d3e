"""Commands in every form that people and phones produce (public faults, area commands)."""

import pytest
from driver import Chat, Deployment, Speaker, decisions, replies

HELP_WORD = "/agents"


@pytest.fixture(scope="module")
def shared_chat(tmp_path_factory: pytest.TempPathFactory):
    with Deployment(tmp_path_factory.mktemp("commands")).chat() as running:
        yield running


@pytest.fixture
def chat(shared_chat: Chat, request: pytest.FixtureRequest) -> Speaker:
    """A user of its own, bound to job-recommend."""
    speaker = Speaker(shared_chat, request.node.nodeid)
    speaker.say("推荐几个Java岗位")
    return speaker


def is_bound(chat: Speaker) -> bool:
    return "job-recommend" in chat.say("/current")["text"]


@pytest.mark.parametrize(
    "text",
    [
        "/help",
        "/help@JobClawBot",
        "/HELP@jobclawbot",
        "／help",
        "／ｈｅｌｐ",
        "　/help",
        "  /help",
        "\n\n/help",
        "\u2060/help\u2060",
        "\ufeff/help",
        "/he\u200blp",
        "/help\u00a0",
        "/help\r\n",
        "/Help",
        "/HELP",
        "/help 什么",
    ],
)
def test_every_form_of_a_command_is_the_command(chat: Speaker, text: str):
    lines = chat.tell(text)
    [decision] = decisions(lines)
    assert (decision["step"], decision["outcome"], decision["detail"]) == (
        "command",
        "command",
        "/help",
    )
    assert HELP_WORD in replies(lines)[0]["text"]


@pytest.mark.parametrize(
    ("text", "args"),
    [
        ("/job-recommend\n上海\nGo", "上海\nGo"),
        ("/Job-Recommend Go", "Go"),
        ("/job_recommend　北京", "北京"),
        ("/job-recommend@JobClawBot 上海", "上海"),
        ("@job-recommend 上海 Go", "上海 Go"),
        ("/agent job-recommend 上海 Go", "上海 Go"),
        ("/agent JOB-Recommend\u00a0Go", "Go"),
    ],
)
def test_an_explicit_switch_hands_on_the_rest_as_written(
    deployment: Deployment, text: str, args: str
):
    deployment.drop_in("echo", ECHO)
    deployment.configure(NO_SHIPPED_RECOMMEND)
    with deployment.chat() as chat:
        lines = chat.tell(text)
        assert decisions(lines)[0]["step"] == "switch"
        assert replies(lines)[0]["text"] == f"args {args!r} text {args!r}"


NO_SHIPPED_RECOMMEND = """
    router: {identity_gate: "off"}
    plugins: {disabled: [agent-job-recommend]}
"""
ECHO = """
    from jobclaw.spi import Agent, AgentIntro, Markdown, hookimpl

    class Echo(Agent):
        intro = AgentIntro(id="job-recommend", name="Echo", description="says what it got")

        async def handle(self, request):
            yield Markdown(f"args {request.args!r} text {request.text!r}")

    @hookimpl
    def jobclaw_agents():
        return [Echo()]
"""


@pytest.mark.parametrize("text", ["/job-recommend", "@job-recommend", "/agent job-recommend"])
def test_a_switch_without_text_is_confirmed_and_binds(chat: Speaker, text: str):
    chat.say("/reset")
    reply = chat.say(text)
    assert reply["agent"] == ""
    assert "岗位推荐" in reply["text"]
    assert is_bound(chat)


@pytest.mark.parametrize(
    "text",
    [
        "/home/me/resume/v2.pdf 帮我改一下",
        "/* 注释 */ 这段代码什么意思",
        "// 注释",
        "/5 的概率有多大",
        "请问 /reset 是做什么的",
        "/job-recommend-vip",
        "/job-recommender",
        "/tmp",
        "@somebody 你好",
        "1/2 的人",
        "👨‍💻 岗位",
    ],
)
def test_what_only_looks_like_a_command_is_text(chat: Speaker, text: str):
    decision = chat.decide(text)
    assert decision["step"] in ("binding", "classify")
    assert decision["text"] == text
    assert is_bound(chat) or decision["escaped_from"]


@pytest.mark.parametrize("text", ["/", "/ reset", "／ help", "/  "])
def test_a_lone_slash_gets_one_short_hint_and_runs_nothing(chat: Speaker, text: str):
    reply = chat.say(text)
    assert "/help" in reply["text"]
    assert len(reply["text"]) < 200
    assert is_bound(chat)


@pytest.mark.parametrize(
    ("text", "hint"),
    [("/rest", "/reset"), ("/ehlp", "/help"), ("/curent", "/current"), ("/whomai", "/whoami")],
)
def test_a_slip_of_the_finger_gets_a_hint(chat: Speaker, text: str, hint: str):
    lines = chat.tell(text)
    assert decisions(lines)[0]["outcome"] == "hint"
    assert hint in replies(lines)[0]["text"]
    assert is_bound(chat)


def test_a_command_for_another_bot_is_met_with_silence(chat: Speaker):
    lines = chat.tell("/reset@SomeOtherBot", conversation="g", kind="group")
    assert replies(lines) == []
    assert decisions(lines)[0]["outcome"] == "dropped"
    assert is_bound(chat)


def test_an_unknown_agent_is_named_not_guessed(chat: Speaker):
    assert "nobody" in chat.say("/agent nobody 你好")["text"]
    assert is_bound(chat)


def test_commands_act_on_the_own_session_only(chat: Speaker):
    chat.say("/reset", user="stranger", conversation=chat.user)
    assert is_bound(chat)


@pytest.mark.parametrize("tongue", ["tr_TR.UTF-8", "C"])
def test_case_folding_does_not_depend_on_the_locale(deployment: Deployment, tongue: str):
    with deployment.chat(LC_ALL=tongue) as chat:
        assert chat.decide("/WHOAMI")["detail"] == "/whoami"


def test_every_system_command_answers(chat: Speaker):
    names = (
        "start help agents agent reset current why wrong back human bot stop tasks task "
        "whoami link unlink redeem lang status"
    ).split()
    for name in names:
        lines = chat.tell(f"/{name}")
        assert len(replies(lines)) == 1, name
        assert decisions(lines)[0]["detail"] == f"/{name}", name
        assert replies(lines)[0]["text"].strip(), name
        assert "." not in replies(lines)[0]["text"].split()[0], name
