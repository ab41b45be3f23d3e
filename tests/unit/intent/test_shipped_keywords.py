"""The shipped table: what the specification promises of it, and how well it routes (Q4)."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from jobclaw.intent.cascade import Cascade
from jobclaw.intent.keyword_table import KeywordTable
from jobclaw.settings.keywords import KeywordFile, load_keywords

ROOT = Path(__file__).resolve().parents[3]
LABELS = {
    "job_recommend": "RECOMMEND",
    "job_search": "SEARCH",
    "progress_query": "QUERY",
    "profile_update": "PROFILE",
    "subscription": "SUBSCRIBE",
    "membership_plan": "PLAN",
}
JOB_INTENTS = frozenset(LABELS.values()) | {"COLLECT", "UNSUBSCRIBE"}


@pytest.fixture(scope="module")
def table() -> KeywordFile:
    return load_keywords(ROOT / "config" / "keywords.yaml")


@pytest.fixture(scope="module")
def cascade(table: KeywordFile) -> Cascade:
    return Cascade(KeywordTable.build(table.intents, {"CHAT": -1000}))


def test_commands(table: KeywordFile):
    assert set(table.commands) == {
        "/recommend",
        "/search",
        "/progress",
        "/profile",
        "/subscribe",
        "/plan",
        "/collect",
    }
    assert set(table.commands.values()) <= set(table.intents)


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("帮我看看有没有合适的 Java 岗位", "RECOMMEND"),
        ("推荐几个Java岗位", "RECOMMEND"),
        ("推薦職位", "RECOMMEND"),
        ("求推荐", "RECOMMEND"),
        ("投简历", "SEARCH"),
        ("实习", "SEARCH"),
        ("岗位信息", "SEARCH"),
        ("投递进度", "QUERY"),
        ("更新简历", "PROFILE"),
        ("岗位提醒", "SUBSCRIBE"),
        ("取消订阅", "UNSUBSCRIBE"),
        ("取消订阅，不是订阅", "UNSUBSCRIBE"),
        ("会员多少钱", "PLAN"),
        ("导入岗位", "COLLECT"),
        ("recommend me a java job", "RECOMMEND"),
        ("不仅要推荐还要内推", "RECOMMEND"),
    ],
)
def test_certain(cascade: Cascade, text: str, intent: str):
    result = cascade.classify(text)
    assert (result.intent, result.certain) == (intent, True)


@pytest.mark.parametrize(
    "text",
    [
        "薪资多少",
        "不要推荐岗位了",
        "先不查进度",
        "嗯哼",
        "？？？",
        "👍",
        "第二个呢",
        "北京",
        "20k",
        "打开文件 job-recommend-2024.pdf",
        "运行用例 003-查询进度",
        "推荐一部电影",
        "my email is a@b.co",
    ],
)
def test_never_a_job_agent(cascade: Cascade, text: str):
    result = cascade.classify(text)
    assert not (result.certain and result.intent in JOB_INTENTS)


def rows(shared: Path) -> Iterator[dict[str, str]]:
    with (shared / "data" / "job_messages.jsonl").open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def test_most_messages_in_scope_are_right_without_a_model(cascade: Cascade, shared: Path):
    inside = [row for row in rows(shared) if row["kind"] == "in"]
    results = [(row, cascade.classify(row["text"])) for row in inside]
    right = [row for row, got in results if got.certain and got.intent == LABELS[row["intent"]]]
    assert len(right) >= 0.7 * len(inside)


def test_few_messages_out_of_scope_reach_a_job_agent(cascade: Cascade, shared: Path):
    outside = [row["text"] for row in rows(shared) if row["kind"] != "in"]
    results = [cascade.classify(text) for text in outside]
    reached = [got for got in results if got.certain and got.intent in JOB_INTENTS]
    assert len(reached) <= 0.1 * len(outside)
