"""What a model's answer is worth: tolerant reading, strict judgement (LLM-01 to LLM-04)."""

import json
import math
import string
from random import Random

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from jobclaw.intent.model_judgement import Labels, judge, judge_runner_up, read_confidence
from jobclaw.intent.model_prompt import prompt
from jobclaw.intent.model_reading import READ_MOST, legible, read_answer
from jobclaw.model import UNKNOWN
from jobclaw.spi.llm import IntentChoice, IntentQuestion

CHOICES = ("JOB_SEARCH", "CHAT", "HELP")
LABELS = Labels(CHOICES)
GOOD = '{"intent":"JOB_SEARCH","confidence":0.91,"reasoning":"x"}'


def judged(text: str) -> tuple[str, float | None]:
    found = read_answer(text)
    return (UNKNOWN, None) if found is None else judge(found, LABELS)


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"```\n{GOOD}\n```",
        f"好的：{GOOD} 希望有帮助",
        f'<think>用户说 {{不完整 … "intent": "CHAT"}}</think>\n{GOOD}',
        f'<think>maybe {{"intent":"CHAT","confidence":1}}</think>{GOOD}',
        f'so {{"intent":"CHAT","confidence":1}}</think>{GOOD}',
        f'First I thought {{"intent":"CHAT","confidence":0.8}}, but: {GOOD}',
        f"{GOOD}\n<think>done",
        f"[{GOOD}]",
        f"{{}} {{ {GOOD}",
        f'{GOOD} {{"note": "no intent here"}}',
    ],
)
def test_llm01_whatever_stands_around_the_object(text: str):
    assert judged(text) == ("JOB_SEARCH", 0.91)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "JOB_SEARCH",
        "我不知道",
        GOOD[:-1],
        GOOD.replace("}", ",}"),
        GOOD.replace('"', "'"),
        '{"confidence":1}',
        f"<think>{GOOD}",
        "{" * 60_000,
        '{"a":' * 20_000,
        "x" * READ_MOST + GOOD,
        '{"intent":"CHAT","confidence":NaN}',
        '{"intent":"CHAT","confidence":-Infinity}',
        '{"intent":"CHAT","confidence":' + "9" * 5000 + "}",
    ],
)
def test_what_is_no_answer(text: str):
    assert read_answer(text) is None


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("0.83", 0.83),
        ('"0.83"', 0.83),
        ('" 0.83 "', 0.83),
        ("0", 0.0),
        ("1", 1.0),
        ("1.0", 1.0),
        ("95", 0.95),
        ("95.0", 0.95),
        ('"95"', 0.95),
        ("2", 0.02),
        ("100", 1.0),
        ("101", 0.0),
        ("95.5", 0.0),
        ("1.01", 0.0),
        ("-0.2", 0.0),
        ("-5", 0.0),
        ("1" + "0" * 400, 0.0),
        ("1e999", None),
        ("-1e999", None),
        ("true", None),
        ("false", None),
        ("null", None),
        ("[0.9]", None),
        ('{"value": 0.9}', None),
        ('"high"', None),
        ('"95%"', None),
        ('"nan"', None),
        ('"inf"', None),
        ('"1e999"', None),
        ('"٠.٩"', None),
        ('"1_0"', None),
        ('""', None),
    ],
)
def test_llm02_and_03_how_confidence_is_read(written: str, read: float | None):
    assert read_confidence(json.loads(written)) == read


@pytest.mark.parametrize(
    ("label", "intent"),
    [
        ("JOB_SEARCH", "JOB_SEARCH"),
        ("job_search", "JOB_SEARCH"),
        ("Job Search", "JOB_SEARCH"),
        ("job-search", "JOB_SEARCH"),
        ("jobSearch", "JOB_SEARCH"),
        (" chat ", "CHAT"),
        ("unkwnown", UNKNOWN),
        ("UNKNOWN", UNKNOWN),
        ("/reset", UNKNOWN),
        ("/chat", UNKNOWN),
        ("reset", UNKNOWN),
        ("PAID_PLAN", UNKNOWN),
        ("CHAT|HELP", UNKNOWN),
        ("CHAT" * 1000, UNKNOWN),
        ("", UNKNOWN),
        (None, UNKNOWN),
        (["CHAT"], UNKNOWN),
        (True, UNKNOWN),
        (1, UNKNOWN),
    ],
)
def test_llm04_labels_are_folded_and_all_else_is_unknown(label: object, intent: str):
    assert LABELS.find(label) == intent
    assert judge({"intent": label, "confidence": 0.9}, LABELS)[0] == intent


def test_a_label_that_could_be_two_intents_is_neither_unless_it_is_exact():
    labels = Labels(["JOB_SEARCH", "JOBSEARCH", "CHAT"])
    assert labels.find("JOBSEARCH") == "JOBSEARCH"
    assert labels.find("JOB_SEARCH") == "JOB_SEARCH"
    assert labels.find("job search") == UNKNOWN
    assert labels.find("chat") == "CHAT"


def test_no_number_means_unknown_and_out_of_range_means_zero():
    assert judge({"intent": "CHAT", "confidence": True}, LABELS) == (UNKNOWN, None)
    assert judge({"intent": "CHAT", "confidence": "high"}, LABELS) == (UNKNOWN, None)
    assert judge({"intent": "CHAT"}, LABELS) == (UNKNOWN, None)
    assert judge({"intent": "CHAT", "confidence": 1.01}, LABELS) == ("CHAT", 0.0)


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        ({"intent": "help", "confidence": "60"}, ("HELP", 0.6)),
        ({"intent": "CHAT", "confidence": 0.5}, None),
        ({"intent": "PAID_PLAN", "confidence": 0.5}, None),
        ({"intent": "HELP", "confidence": True}, None),
        ({"intent": "HELP", "confidence": 7.5}, None),
        ({"intent": "HELP"}, None),
        ("HELP", None),
        (None, None),
        ([], None),
    ],
)
def test_the_runner_up_is_judged_likewise(second: object, expected: tuple[str, float] | None):
    found = judge_runner_up({"runner_up": second}, LABELS, "CHAT")
    assert (found and (found.intent, found.confidence)) == expected


def test_the_sentinel_of_the_prompt_is_the_one_that_is_read():
    choice = IntentChoice(intent="CHAT", agent="chat", description="small talk")
    system, user = prompt(IntentQuestion(text='a "quoted" 你好\ud800', choices=(choice,)))
    assert f'"{UNKNOWN}"' in system.content
    assert json.loads(user.content) == {"turns": [], "text": 'a "quoted" 你好?'}
    assert Labels(["CHAT"]).find(UNKNOWN) == UNKNOWN


def test_what_is_kept_of_a_model_can_be_shown():
    kept = legible("a\x1b[31mb\x00c\nd\u202ee\ud800f" + "x" * 5000, 100)
    assert kept.startswith("a[31mbc def")
    assert len(kept) == 100
    kept.encode()


NAMES = (*CHOICES, "job search", "/reset", "PAID_PLAN", UNKNOWN, "Chat", "{", "", "\ud800")
NUMBERS = (
    "NaN",
    "-Infinity",
    "1e999",
    "true",
    "null",
    "[]",
    '"high"',
    "95",
    "0.9",
    "-0.2",
    "9" * 400,
)
AROUND = (
    "",
    "```json\n",
    "<think>",
    "</think>",
    "{",
    "}",
    "[",
    '"',
    "好的：",
    "null",
    "\x00",
    "\\",
)
CHARS = string.printable + '{}[]":,意图'


def hostile(random: Random) -> str:
    """Pieces of answers, whole and cut off, among what models put around them."""

    def answer() -> str:
        name, second = random.choice(NAMES), random.choice(NAMES)
        text = (
            f'{{"intent":{json.dumps(name)},"confidence":{random.choice(NUMBERS)},"runner_up":'
            f'{{"intent":{json.dumps(second)},"confidence":{random.choice(NUMBERS)}}}}}'
        )
        return text if random.random() < 0.7 else text[: random.randrange(len(text))]

    def noise() -> str:
        return "".join(random.choices(CHARS, k=random.randrange(20)))

    makers = (answer, noise, lambda: random.choice(AROUND))
    return "".join(random.choice(makers)() for _ in range(random.randrange(8)))


def check_whatever(text: str) -> None:
    found = read_answer(text)
    if found is None:
        return
    intent, confidence = judge(found, LABELS)
    assert intent in (*CHOICES, UNKNOWN)
    if confidence is None:
        assert intent == UNKNOWN
    else:
        assert math.isfinite(confidence)
        assert 0 <= confidence <= 1
    second = judge_runner_up(found, LABELS, intent)
    assert second is None or (second.intent in CHOICES and 0 < second.confidence <= 1)


@settings(max_examples=10_000, deadline=None, database=None, phases=[Phase.generate])
@given(st.integers(0, 2**63))
def test_whatever_comes_it_is_a_permitted_intent_or_unknown(seed: int):
    check_whatever(hostile(Random(seed)))


@settings(max_examples=500, deadline=None, database=None)
@given(
    st.dictionaries(
        st.sampled_from(["intent", "confidence", "runner_up", "x"]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(NAMES),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(st.sampled_from(["intent", "confidence"]), inner)
            ),
            max_leaves=6,
        ),
    )
)
def test_whatever_shape_an_object_has(answer: dict[str, object]):
    check_whatever(json.dumps(answer))
