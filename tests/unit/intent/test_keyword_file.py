"""Reading keyword tables: what is merged, what is refused, and that errors name the place."""

from pathlib import Path

import pytest

from jobclaw.errors import ConfigError
from jobclaw.intent.cascade import Cascade
from jobclaw.intent.keyword_table import KeywordTable
from jobclaw.settings.keywords import load_keywords, read_weights

GOOD = "intents: {A: {推荐: 1.0, Java: 0.8}, B: {查询: 1}}\ncommands: {/go: A}\n"


def write(folder: Path, text: str, name: str = "keywords.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_table_is_read_as_it_is(tmp_path: Path):
    table = load_keywords(write(tmp_path, GOOD))
    assert table.intents == {"A": {"推荐": 1.0, "Java": 0.8}, "B": {"查询": 1.0}}
    assert table.commands == {"/go": "A"}
    assert len(table.revision) == 12


@pytest.mark.parametrize("text", ["", "{}", "intents:\n", "intents: {A: }\n"])
def test_an_empty_table_is_a_table(tmp_path: Path, text: str):
    assert not any(load_keywords(write(tmp_path, text)).intents.values())


@pytest.mark.parametrize(
    ("overlay", "intents", "commands"),
    [
        ("intents: {A: {推荐: 0.5}}", {"A": {"推荐": 0.5, "Java": 0.8}}, {"/go": "A"}),
        ("intents: {A: {推荐: 0}}", {"A": {"Java": 0.8}}, {"/go": "A"}),
        ("intents: {A: {推荐: null}}", {"A": {"Java": 0.8}}, {"/go": "A"}),
        ("intents: {A: {ＪＡＶＡ: null}}", {"A": {"推荐": 1.0}}, {"/go": "A"}),
        ("intents: {A: {java: 0.3}}", {"A": {"推荐": 1.0, "java": 0.3}}, {"/go": "A"}),
        (
            "intents: {C: {新: 1.0}}",
            {"A": {"推荐": 1.0, "Java": 0.8}, "C": {"新": 1.0}},
            {"/go": "A"},
        ),
        (
            "commands: {/go: B, /x: A}",
            {"A": {"推荐": 1.0, "Java": 0.8}},
            {"/go": "B", "/x": "A"},
        ),
        ("commands: {/go: null}", {"A": {"推荐": 1.0, "Java": 0.8}}, {}),
        ("", {"A": {"推荐": 1.0, "Java": 0.8}}, {"/go": "A"}),
    ],
)
def test_an_overlay_changes_keyword_by_keyword(
    tmp_path: Path,
    overlay: str,
    intents: dict[str, dict[str, float]],
    commands: dict[str, str],
):
    merged = load_keywords(write(tmp_path, GOOD), write(tmp_path, overlay, "local.yaml"))
    assert merged.intents == {"B": {"查询": 1.0}} | intents
    assert merged.commands == commands


def test_an_overlay_that_does_not_exist_changes_nothing(tmp_path: Path):
    path = write(tmp_path, GOOD)
    assert load_keywords(path, tmp_path / "none.yaml") == load_keywords(path)


def test_revision_follows_the_content_and_not_the_order(tmp_path: Path):
    one = load_keywords(write(tmp_path, "intents: {A: {推荐: 1.0, 查: 0.5}, B: {x: 1}}"))
    same = load_keywords(write(tmp_path, "intents: {B: {x: 1.0}, A: {查: 0.5, 推荐: 1}}"))
    other = load_keywords(write(tmp_path, "intents: {A: {推荐: 1.0, 查: 0.6}, B: {x: 1}}"))
    assert one.revision == same.revision != other.revision


@pytest.mark.parametrize(
    ("text", "text_id", "key"),
    [
        ("intents: {A: job}", "keywords.not-a-map", "intents.A"),
        ("intents: {A: [job]}", "keywords.not-a-map", "intents.A"),
        ("intents: job", "keywords.not-a-map", "intents"),
        ("[]", "keywords.not-a-map", "-"),
        ("intents: {A: {'': 1.0}}", "keywords.empty", "intents.A"),
        ("intents: {A: {' ': 1.0}}", "keywords.empty", "intents.A"),
        ('intents: {A: {"\\u200b": 1.0}}', "keywords.empty", "intents.A"),
        ("intents: {A: {985: 1.0}}", "keywords.not-text", "intents.A"),
        ("intents: {A: {no: 1.0}}", "keywords.not-text", "intents.A"),
        ("intents: {A: {推荐: high}}", "keywords.bad-weight", "intents.A.推荐"),
        ("intents: {A: {推荐: .nan}}", "keywords.bad-weight", "intents.A.推荐"),
        ("intents: {A: {推荐: .inf}}", "keywords.bad-weight", "intents.A.推荐"),
        ("intents: {A: {推荐: true}}", "keywords.bad-weight", "intents.A.推荐"),
        ("intents: {A: {推荐: 1.01}}", "keywords.bad-weight", "intents.A.推荐"),
        ("intents: {A: {推荐: -0.1}}", "keywords.bad-weight", "intents.A.推荐"),
        ("intents: {A: {推荐: '1.0'}}", "keywords.bad-weight", "intents.A.推荐"),
        ("intents: {A: {推荐: null}}", "keywords.bad-weight", "intents.A.推荐"),
        ("intents: {recommend: {推荐: 1}}", "keywords.bad-intent", "intents.'recommend'"),
        ("intents: {UNKNOWN: {推荐: 1}}", "keywords.bad-intent", "intents.'UNKNOWN'"),
        ("intents: {1: {推荐: 1}}", "keywords.bad-intent", "intents.1"),
        ("commands: {go: A}", "keywords.bad-command", "commands.'go'"),
        ("commands: {/Go: A}", "keywords.bad-command", "commands.'/Go'"),
        ("commands: {/go: a}", "keywords.bad-target", "commands.'/go'"),
        ("commands: {/go: null}", "keywords.bad-target", "commands.'/go'"),
        ("intent: {A: {推荐: 1}}", "keywords.unknown-section", "'intent'"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, text_id: str, key: str):
    path = write(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        load_keywords(path)
    assert caught.value.text_id == text_id
    assert (caught.value.values["file"], caught.value.values["key"]) == (str(path), key)


def test_a_mistake_in_the_overlay_names_the_overlay(tmp_path: Path):
    overlay = write(tmp_path, "intents: {A: job}", "local.yaml")
    with pytest.raises(ConfigError) as caught:
        load_keywords(write(tmp_path, GOOD), overlay)
    assert caught.value.values["file"] == str(overlay)


def test_keywords_of_an_agent_are_checked_the_same_way():
    assert read_weights({"HELLO": {"hi": 1}}, "agent hello") == {"HELLO": {"hi": 1.0}}
    with pytest.raises(ConfigError) as caught:
        read_weights({"HELLO": "job"}, "agent hello")
    assert caught.value.values == {
        "file": "agent hello",
        "key": "intents.HELLO",
        "value": "'job'",
    }


def test_one_keyword_is_not_taken_letter_by_letter():
    cascade = Cascade(KeywordTable.build(read_weights({"HELLO": {"job": 1}}, "x"), {}))
    assert cascade.classify("hello bob").intent == "UNKNOWN"
