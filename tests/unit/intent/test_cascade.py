"""Weights, ties and what the cascade reports; properties that hold for any text and table."""

import json
import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobclaw.intent.cascade import Cascade
from jobclaw.intent.keyword_table import KeywordTable
from jobclaw.intent.normalise import LIMIT, normalise
from jobclaw.model import to_json
from jobclaw.model.decision import Classification, RunnerUp

Intents = dict[str, dict[str, float]]


def classify(intents: Intents, text: str, **priorities: int) -> Classification:
    return Cascade(KeywordTable.build(intents, priorities)).classify(text)


@pytest.mark.parametrize(
    ("weight", "confidence", "certain", "outcome"),
    [
        (1.0, 1.0, True, "hit"),
        (0.9, 1.0, True, "hit"),
        (0.89, 0.89, True, "hit"),
        (0.7, 0.7, True, "hit"),
        (0.69, 0.69, False, "low"),
        (0.01, 0.01, False, "low"),
    ],
)
def test_weight_decides_how_sure_it_is(
    weight: float, confidence: float, *, certain: bool, outcome: str
):
    result = classify({"A": {"推荐": weight}}, "推荐")
    assert (result.intent, result.confidence, result.certain) == ("A", confidence, certain)
    assert (result.tier, result.tiers[0].tier, result.tiers[0].outcome) == (
        "keyword",
        "keyword",
        outcome,
    )


def test_limits_are_settings():
    table = KeywordTable.build({"A": {"推荐": 0.8}}, {})
    assert Cascade(table, high=0.8).classify("推荐").confidence == 1.0
    assert not Cascade(table, medium=0.85).classify("推荐").certain


@pytest.mark.parametrize(
    ("intents", "text", "winner"),
    [
        ({"A": {"推荐": 0.9}, "B": {"查": 0.95}}, "推荐查", "B"),
        ({"A": {"推荐": 1.0}, "B": {"推荐岗": 1.0}}, "推荐，推荐岗", "B"),
        ({"B": {"推荐": 1.0, "位": 0.1}, "A": {"查询": 1.0}}, "推荐查询位", "B"),
        ({"B": {"推荐": 1.0}, "A": {"查询": 1.0}}, "推荐查询", "A"),
        ({"B": {"推荐": 1.0}, "A": {"推荐": 1.0}}, "推荐", "A"),
    ],
    ids=["weight", "longest match", "distinct keywords", "name", "one keyword of two intents"],
)
def test_order_of_intents(intents: Intents, text: str, winner: str):
    result = classify(intents, text)
    assert (result.intent, result.certain) == (winner, True)


def test_priority_comes_before_the_name_and_after_the_number_of_keywords():
    intents: Intents = {"A": {"推荐": 1.0}, "B": {"查询": 1.0}}
    assert classify(intents, "推荐查询", B=1).intent == "B"
    assert classify(intents | {"A": {"推荐": 1.0, "位": 0.1}}, "推荐查询位", B=1).intent == "A"


def test_repeating_a_keyword_does_not_make_it_two():
    intents: Intents = {"A": {"推荐": 1.0}, "B": {"查询": 1.0}}
    assert classify(intents, "查询查询查询推荐").intent == "A"


@pytest.mark.parametrize(
    ("weight", "certain", "outcome"),
    [(0.9, True, "hit"), (0.89, False, "tie"), (0.5, False, "low")],
)
def test_a_tie_below_high_is_not_certain(weight: float, *, certain: bool, outcome: str):
    result = classify({"A": {"推荐": weight}, "B": {"查询": weight}}, "推荐查询")
    assert (result.intent, result.certain, result.tiers[0].outcome) == ("A", certain, outcome)
    assert result.margin == 0.0


def test_candidates_runner_up_and_margin():
    result = classify(
        {"A": {"推荐": 0.6}, "B": {"查询": 0.5, "查": 0.2}, "C": {"x": 1.0}}, "推荐查询"
    )
    assert result.candidates == (
        RunnerUp(intent="A", confidence=0.6),
        RunnerUp(intent="B", confidence=0.5),
    )
    assert (result.runner_up, result.margin) == (result.candidates[1], 0.1)


@pytest.mark.parametrize(
    ("other", "close"), [(0.5, True), (0.45, True), (0.44, False), (0.0, False)]
)
def test_close_candidates_call_for_a_question(other: float, *, close: bool):
    cascade = Cascade(KeywordTable.build({"A": {"推荐": 0.6}, "B": {"查询": other}}, {}))
    assert cascade.is_close(cascade.classify("推荐查询")) is close


def test_certain_is_never_close():
    cascade = Cascade(KeywordTable.build({"A": {"推荐": 1.0}, "B": {"查询": 1.0}}, {}))
    assert not cascade.is_close(cascade.classify("推荐查询"))


def test_an_empty_table_knows_nothing():
    assert classify({}, "推荐").intent == "UNKNOWN"
    assert len(KeywordTable.build({"A": {}}, {})) == 0


def test_spellings_of_one_keyword_keep_the_highest_weight_and_weight_zero_is_out():
    table = KeywordTable.build(
        {"A": {"Java": 0.5, "ＪＡＶＡ": 0.8, "java ": 0.6, "go": 0.0, " ": 1.0}}, {}
    )
    assert len(table) == 1
    assert Cascade(table).classify("java").confidence == 0.8


def test_revision_changes_with_the_content():
    def revision(intents: Intents, **priorities: int) -> str:
        return KeywordTable.build(intents, priorities).revision

    plain = revision({"A": {"推荐": 1.0}})
    assert plain == revision({"A": {"推荐": 1.0}})
    others = {
        revision({"A": {"推荐": 0.9}}),
        revision({"B": {"推荐": 1.0}}),
        revision({"A": {"推荐": 1.0, "查": 1.0}}),
        revision({"A": {"推荐": 1.0}}, A=1),
    }
    assert len(others | {plain}) == 5


WORDS = (
    "推荐",
    "推荐岗位",
    "岗位",
    "查",
    "查询",
    "java",
    "java 岗位",
    "ai",
    "é",
    "リモ",
    "fi",
    "株",
)
TABLES = st.dictionaries(
    st.sampled_from("ABCD"),
    st.dictionaries(st.sampled_from(WORDS), st.sampled_from((0.3, 0.6, 0.8, 0.9, 1.0))),
)
SPELLINGS = (
    *WORDS,
    *("推薦", "ＪＡＶＡ", "ﬁ", "e\u0301", "ﾘﾓ", "㈱", "㍿", "ß", "가", "ㄱㅏ", "がﾞ", "\ud800"),
    *("不要", "，", " ", "  ", "“", "”", "'", "…", "_", "-", ".pdf", "\n", "\u200b", "\ufeff"),
)
TEXTS = st.one_of(
    st.text(max_size=60),
    st.lists(st.one_of(st.sampled_from(SPELLINGS), st.characters()), max_size=20).map("".join),
)


@given(TABLES, TEXTS, st.randoms(use_true_random=False))
def test_the_order_in_a_table_changes_nothing(
    intents: Intents, text: str, shuffle: random.Random
):
    def shuffled(items: dict[str, float]) -> dict[str, float]:
        pairs = list(items.items())
        shuffle.shuffle(pairs)
        return dict(pairs)

    names = list(intents)
    shuffle.shuffle(names)
    other = {name: shuffled(intents[name]) for name in names}
    assert timeless(classify(intents, text)) == timeless(classify(other, text))


def timeless(result: Classification) -> dict[str, object]:
    fields = json.loads(to_json(result))
    for trace in fields["tiers"]:
        trace.pop("ms")
    return fields


EVERYTHING = Cascade(KeywordTable.build({"A": dict.fromkeys(WORDS, 1.0)}, {}))


@given(TEXTS)
def test_any_text_gives_the_same_result_each_time_and_can_be_stored(text: str):
    first = EVERYTHING.classify(text)
    assert timeless(first) == timeless(EVERYTHING.classify(text))
    assert first.tiers[0].ms >= 0


@given(TEXTS)
def test_start_is_where_the_keyword_begins_in_the_original_text(text: str):
    for hit in EVERYTHING.classify(text).keywords:
        rest = normalise(text[hit.start :]).text
        assert rest.startswith(hit.keyword), (text, hit, rest)


@given(st.text(alphabet=string.printable + "推荐不要“”'\"`-_/.", max_size=300))
def test_every_hit_says_why_it_does_not_count(text: str):
    for hit in EVERYTHING.classify(text).keywords:
        assert hit.counted is (hit.why == "")


@pytest.mark.parametrize(
    "unit",
    [
        "“",
        '"',
        "'a ",
        "`",
        "```",
        "不",
        "不要推荐",
        "推荐不",
        "a-",
        "推_",
        "http://",
        "a.",
        "a@",
        "推",
        "not ",
        "/a",
    ],
)
def test_hostile_repetition_stays_cheap(unit: str):
    text = unit * (LIMIT // len(unit))
    assert EVERYTHING.classify(text).tiers[0].ms < 300
