"""Commands are found in every spelling, typos are guessed within bounds, owners keep names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobclaw.errors import PluginError
from jobclaw.registry import CommandSpec, CommandTable
from jobclaw.texts import Catalogue, core_folder

NAMES = [
    "agent",
    "agents",
    "back",
    "bot",
    "current",
    "help",
    "human",
    "lang",
    "link",
    "plan",
    "profile",
    "redeem",
    "reset",
    "start",
    "status",
    "stop",
    "task",
    "tasks",
    "unlink",
    "whoami",
    "why",
    "wrong",
]


def table() -> CommandTable:
    specs = [CommandSpec(name=name, kind="system") for name in NAMES]
    return CommandTable([*specs, CommandSpec(name="deadletters", kind="system", role="admin")])


def route(name: str, intent: str, source: str = "x") -> CommandSpec:
    return CommandSpec(name=name, kind="intent", intent=intent, source=source)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("hlep", "help"),
        ("hepl", "help"),
        ("agnets", "agents"),
        ("agetn", "agent"),
        ("rest", "reset"),
        ("whaomi", "whoami"),
        ("statsu", "status"),
        ("curent", "current"),
        ("currnet", "current"),
        ("profil", "profile"),
        ("prfoile", "profile"),
        ("HLEP", "help"),
        ("tak", "task"),
        ("tmp", None),
        ("planet", None),
        ("usr", None),
        ("xyz", None),
        ("", None),
        ("h", None),
        ("hhheeelllppp", None),
    ],
)
def test_a_typo_names_what_was_meant(typed: str, meant: str | None):
    assert table().near(typed) == meant


def test_ties_go_to_the_first_by_letter_and_roles_count():
    commands = CommandTable()
    commands.replace("x", [route("cat", "C"), route("bat", "B"), route("hat", "H")])
    assert commands.near("rat") == "bat"
    assert table().near("deadleters") == "deadletters"
    assert table().near("deadleters", "free") is None


@given(st.sampled_from(NAMES), st.data())
def test_every_swap_of_neighbours_is_understood(name: str, data: st.DataObject):
    at = data.draw(st.integers(0, len(name) - 2))
    swapped = name[:at] + name[at + 1] + name[at] + name[at + 2 :]
    found = table().near(swapped)
    assert found == swapped if swapped in NAMES else found is not None


@given(st.text(max_size=40))
def test_any_word_may_be_asked(word: str):
    found = table().near(word)
    assert found is None or table().get(found) is not None


@pytest.mark.parametrize("name", ["job-find", "job_find", "Job-Find", "JOB_FIND"])
def test_dash_is_underscore_and_case_is_nothing(name: str):
    commands = CommandTable()
    commands.replace("x", [route("job-find", "FIND")])
    found = commands.get(name)
    assert found is not None
    assert found.intent == "FIND"
    assert commands.get("job find") is None


def test_all_lists_what_a_role_may_use():
    commands = table()
    commands.replace("jobs", [route("search", "S"), route("find", "F")])
    names = [spec.name for spec in commands.all("free")]
    assert names == [*NAMES, "find", "search"]
    assert [spec.name for spec in commands.all()][len(NAMES)] == "deadletters"


def test_the_system_then_the_operator_then_the_first_plugin():
    commands = table()
    commands.replace("one", [route("go", "GO", "one")])
    commands.replace("two", [route("go", "GO", "two")])  # the same meaning is no conflict
    with pytest.raises(PluginError) as caught:
        commands.replace("three", [route("go", "STOP", "three")])
    assert caught.value.values == {"plugin": "three", "command": "go", "owner": "one"}
    with pytest.raises(PluginError, match=r"plugins\.command-taken"):
        commands.replace("keywords.yaml", [route("help", "HELP")], operator=True)
    commands.replace("keywords.yaml", [route("go", "OPERATOR", "keywords.yaml")], operator=True)
    found = commands.get("go")
    assert found is not None
    assert found.intent == "OPERATOR"
    commands.unregister("keywords.yaml")
    commands.unregister("one")
    found = commands.get("go")
    assert found is not None
    assert (found.intent, found.source) == ("GO", "two")


@pytest.mark.parametrize("name", ["", "Go", "a b", "/go", "go!", "-go", "x" * 33, "推荐"])
def test_a_malformed_name_is_refused(name: str):
    commands = table()
    before = commands.revision
    with pytest.raises(PluginError, match=r"plugins\.bad-command"):
        commands.replace("x", [route(name, "X")])
    assert commands.revision == before


def test_a_name_twice_in_one_source_is_refused():
    with pytest.raises(PluginError, match=r"plugins\.command-taken"):
        CommandTable([route("go", "A"), route("go", "B")])


def test_a_summary_in_either_language():
    core = Catalogue([core_folder()])
    spec = CommandSpec(name="go", kind="system", summary={"zh": "走"})
    assert (spec.describe("zh", core), spec.describe("en", core)) == ("走", "走")
    assert CommandSpec(name="go", kind="system").describe("en", core) == ""
    named = CommandSpec(name="go", kind="system", summary_id="plugins.duplicate-plugin")
    assert named.describe("zh", core).startswith("插件")
