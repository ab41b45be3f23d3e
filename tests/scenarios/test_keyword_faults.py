"""Keyword faults that people met elsewhere (public faults, keyword-intent), in a real chat."""

from collections.abc import Iterator

import pytest
import yaml
from driver import Chat, Deployment, Speaker

WORDS = """
    from jobclaw.spi import Agent, AgentIntro, Markdown, hookimpl

    class Words(Agent):
        intro = AgentIntro(id="words", name="Words", description="has Latin keywords")
        intents = ("WORDS",)
        keywords = {"WORDS": {"ai": 1.0, "review": 0.95, "part time": 0.95, "/plan": 0.95,
                              "c++": 0.95, "リモート": 1.0}}

        async def handle(self, request):
            yield Markdown("words")

    @hookimpl
    def jobclaw_agents():
        return [Words()]
"""


@pytest.fixture(scope="module")
def shared_chat(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chat]:
    deployment = Deployment(tmp_path_factory.mktemp("keywords"))
    deployment.drop_in("words", WORDS)
    with deployment.chat() as running:
        yield running


@pytest.mark.parametrize(
    "text",
    [
        "my email is a@b.co",
        "preview the page",
        "the main aim",
        "she said it again",
        "reviewer needed",
        "part timer",
        "ai2 的论文",
        "the planet",
    ],
)
def test_key01_a_latin_keyword_is_a_whole_word(chat: Speaker, text: str):
    decision = chat.decide(text)
    assert decision["intent"] != "WORDS"
    assert decision["agent"] != "words"


@pytest.mark.parametrize(
    "text",
    [
        "need an ai job",
        "AI岗位",
        "想做AI，远程",
        "(ai)",
        "ai",
        "please review my cv",
        "a part time role",
        "a part  time role",
        "看看 /plan 吧",
        "会 C++ 的",
        "C++工程师",
    ],
)
def test_key01_borders_are_not_letters_or_digits(chat: Speaker, text: str):
    assert chat.decide(text)["intent"] == "WORDS"


@pytest.mark.parametrize(
    ("table", "key"),
    [
        ("{RECOMMEND: job}", "RECOMMEND"),
        ("{RECOMMEND: [job]}", "RECOMMEND"),
        ("{RECOMMEND: {'': 1.0}}", "RECOMMEND"),
        ("{RECOMMEND: {' ': 1.0}}", "RECOMMEND"),
        ("{RECOMMEND: {job: high}}", "job"),
        ("{RECOMMEND: {job: .nan}}", "job"),
        ("{RECOMMEND: {job: 95}}", "job"),
        ("{RECOMMEND: {job: true}}", "job"),
        ("{recommend jobs: {job: 1.0}}", "recommend jobs"),
        ("[RECOMMEND]", "intents"),
        ("job", "intents"),
    ],
)
def test_key02_a_table_of_another_shape_is_refused_with_its_place(
    deployment: Deployment, table: str, key: str
):
    file = deployment.folder / "config" / "keywords.yaml"
    file.write_text(f"intents: {table}\n", "utf-8")
    done = deployment.run("chat", "--once", "hello bob")
    assert done.returncode == 78
    assert "keywords.yaml" in done.stderr
    assert key in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "declared",
    [
        'keywords = {"JOB": "job"}',
        'keywords = {"JOB": ["job"]}',
        'keywords = {"JOB": {"": 1.0}}',
        'keywords = {"JOB": {"job": "1.0"}}',
        'keywords = {"JOB": {"job": float("nan")}}',
        'keywords = {"JOB": {5: 1.0}}',
        'keywords = "job"',
        'intents = "JOB"',
    ],
)
def test_key02_an_agent_with_keywords_of_another_shape_is_left_out_by_name(
    deployment: Deployment, declared: str
):
    source = WORDS.replace("WORDS", "JOB")
    source = source.replace("async def handle", f"{declared}\n\n        async def handle")
    deployment.drop_in("words", source)
    with deployment.chat() as chat:
        assert chat.decide("hello bob")["agent"] == "chat"
        assert "words" in chat.say("/agents", role="admin")["text"]
        assert "words" not in chat.say("/agents")["text"]


@pytest.mark.parametrize(
    "text",
    [
        "不要推荐岗位了",
        "先不查进度",
        "取消订阅，不是订阅",
        "别给我推荐岗位",
        "我不想要岗位推荐",
        "不用帮我推荐工作",
        "暂时不需要推荐职位",
        "don't recommend jobs",
        "do not recommend any jobs please",
        "stop recommending jobs",
        "no job recommendations please",
        "没让你推荐岗位",
        "不要再推荐岗位了，谢谢",
        "别再推荐岗位了",
        "请不要再给我推荐岗位了",
        "晚上别推荐岗位",
        "推荐岗位？不用了",
        "推荐岗位，还是算了",
    ],
)
def test_key04_what_is_denied_is_not_wanted(chat: Speaker, text: str):
    decision = chat.decide(text)
    assert decision["agent"] not in ("job-recommend", "progress")
    assert all(
        not hit["counted"] or hit["intent"] != "RECOMMEND" for hit in decision["keywords"]
    )
    assert "job-recommend" not in chat.say("/current")["text"]


@pytest.mark.parametrize(
    "text",
    [
        "不仅要推荐还要内推",
        "不只推荐岗位，也看看薪资",
        "not only recommend jobs but also explain them",
        "不好意思，推荐几个岗位",
        "不错，再推荐几个岗位",
        "没关系，推荐几个岗位吧",
        "要不推荐几个岗位",
        "差不多了，推荐岗位吧",
        "除了别的，推荐岗位",
    ],
)
def test_key04_what_only_looks_like_a_denial_is_none(chat: Speaker, text: str):
    decision = chat.decide(text)
    assert (decision["intent"], decision["agent"]) == ("RECOMMEND", "job-recommend")


NONSENSE = [
    "嗯哼",
    "？？？",
    "👍",
    "……",
    "asdfgh",
    "123456789",
    "哈哈哈",
    "ok",
    ".",
    "👨‍👩‍👧‍👦",
    "ﷺ",
]


@pytest.mark.parametrize("text", NONSENSE)
def test_key05_nonsense_goes_to_the_default_agent_and_binds_nothing(chat: Speaker, text: str):
    decision = chat.decide(text)
    assert decision["agent"] == "chat"
    assert decision["tier"] == "fallback" or decision["intent"] == "CHAT"
    assert "/agents" in chat.say("/current")["text"]


def test_key05_nonsense_does_not_move_a_bound_session(deployment: Deployment):
    with deployment.chat() as chat:
        chat.say("推荐几个Java岗位")
        for text in NONSENSE:
            decision = chat.decide(text)
            assert (decision["step"], decision["agent"]) == ("binding", "job-recommend"), text
            assert decision["tiers"] == [], text
        chat.end()
    [file] = deployment.session_files()
    assert yaml.safe_load(file.read_text("utf-8"))["boundAgentId"] == "job-recommend"


@pytest.mark.parametrize(
    ("plain", "variants"),
    [
        (
            "java 岗位",
            ["ＪＡＶＡ 岗位", "JAVA 岗位", "Java　岗位", " java 岗位 ", "ｊａｖａ 岗位"],
        ),
        ("推荐岗位", ["推荐岗位。", "  推荐岗位\n", "推\u200b荐岗\u2060位", "\ufeff推荐岗位"]),
        ("リモート", ["ﾘﾓｰﾄ", "リモート！"]),
        (
            "recommend jobs",
            ["RECOMMEND JOBS", "Ｒecommend jobs", "Recommend  Jobs"],
        ),
        (
            "application status",
            ["Application Status", "APPLICATION　STATUS", "application\tstatus"],
        ),
    ],
)
def test_key06_width_case_and_spaces_do_not_matter(
    chat: Speaker, plain: str, variants: list[str]
):
    first = chat.decide(plain)
    assert first["intent"] != "UNKNOWN"
    for variant in variants:
        chat.say("/reset")
        found = chat.decide(variant)
        assert (found["intent"], found["confidence"]) == (first["intent"], first["confidence"])


@pytest.mark.parametrize(
    ("traditional", "simplified"),
    [
        ("推薦職位", "推荐职位"),
        ("訂閱", "订阅"),
        ("推薦崗位", "推荐岗位"),
        ("查詢投遞進度", "查询投递进度"),
        ("取消訂閱", "取消订阅"),
        ("修改個人資料", "修改个人资料"),
        ("實習", "实习"),
        ("投簡歷", "投简历"),
        ("適合我的工作", "适合我的工作"),
        ("遠程工作", "远程工作"),
        ("薪資待遇", "薪资待遇"),
        ("不要推薦職位", "不要推荐职位"),
    ],
)
def test_key07_traditional_characters_mean_the_same(
    chat: Speaker, traditional: str, simplified: str
):
    first = chat.decide(simplified)
    chat.say("/reset")
    second = chat.decide(traditional)
    for name in ("intent", "confidence", "agent", "tier"):
        assert first[name] == second[name], name


@pytest.mark.parametrize(
    "text",
    [
        "打开文件 job-recommend-2024.pdf",
        "运行用例 003-查询进度",
        "https://example.com/jobs/推荐岗位.html",
        "见 推荐岗位.docx",
        "「推荐岗位」这四个字怎么写",
        "“查询进度”是什么意思",
        "`推荐岗位`",
        "```\n推荐岗位\n```",
        "https://example.com/推荐岗位",
        "https://example.com/a/推荐/岗位?page=2",
        "example.com/search?q=推荐岗位",
        "https://example.com/recommend-jobs?q=recommend+jobs",
        "join recommend_jobs_v2 table",
        "mail recommend.jobs@example.com",
    ],
)
def test_key08_words_in_names_and_quotations_do_not_route(chat: Speaker, text: str):
    decision = chat.decide(text)
    assert decision["confidence"] < 0.9
    counted = [hit["intent"] for hit in decision["keywords"] if hit["counted"]]
    assert "RECOMMEND" not in counted
    assert "QUERY" not in counted
