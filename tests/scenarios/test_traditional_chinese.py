"""Who writes 繁體 is served as who writes 简体 (public fault KEY-07): router, gate, agents."""

from collections.abc import Iterator

import pytest
from driver import Chat, Deployment, JsonLine, Speaker, replies

CONVERSATIONS = [
    (
        "推薦上海的 Java 職位|薪資多少|第二個|有鏈接嗎",
        "推荐上海的 Java 职位|薪资多少|第二个|有链接吗",
    ),
    ("推薦崗位|換一批|還有嗎", "推荐岗位|换一批|还有吗"),
    ("廣州有什麼崗位", "广州有什么岗位"),
    ("幫我找遠程的實習", "帮我找远程的实习"),
    ("查詢投遞進度|我投了什麼？", "查询投递进度|我投了什么？"),
    ("學歷改成 MIT 2026|看看我的資料", "学历改成 MIT 2026|看看我的资料"),
    ("謝謝", "谢谢"),
    ("再見", "再见"),
    ("你叫什麼", "你叫什么"),
    ("有客服嗎", "有客服吗"),
    ("轉人工", "转人工"),
    ("取消訂閱", "取消订阅"),
    ("不要推薦崗位了", "不要推荐岗位了"),
]


@pytest.fixture(scope="module")
def open_chat(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chat]:
    with Deployment(tmp_path_factory.mktemp("open")).chat() as running:
        yield running


@pytest.fixture(scope="module")
def gated_chat(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chat]:
    with Deployment(tmp_path_factory.mktemp("gated"), "").chat() as running:
        yield running


def answers(speaker: Speaker, texts: str) -> list[list[tuple[str, str]]]:
    """Who said what to each text."""
    return [[spoken(line) for line in replies(speaker.tell(text))] for text in texts.split("|")]


def spoken(reply: JsonLine) -> tuple[str, str]:
    return reply["agent"], reply["text"]


@pytest.mark.parametrize(("traditional", "simplified"), CONVERSATIONS)
def test_key07_traditional_characters_get_the_same_answers(
    open_chat: Chat, traditional: str, simplified: str
) -> None:
    expected = answers(Speaker(open_chat, simplified), simplified)
    assert answers(Speaker(open_chat, traditional), traditional) == expected


@pytest.mark.parametrize(
    ("traditional", "simplified"),
    [
        ("推薦 Java 崗位|跳過", "推荐 Java 岗位|跳过"),
        ("推薦 Java 崗位|稍後。", "推荐 Java 岗位|稍后。"),
        ("推薦 Java 崗位|不填，謝謝", "推荐 Java 岗位|不填，谢谢"),
    ],
)
def test_key07_the_questions_are_put_off_in_either_writing(
    gated_chat: Chat, traditional: str, simplified: str
) -> None:
    expected = answers(Speaker(gated_chat, simplified), simplified)
    assert answers(Speaker(gated_chat, traditional), traditional) == expected
