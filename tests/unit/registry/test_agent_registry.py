"""Agents are registered whole or not at all, ordered totally, and indexed for routing."""

import random
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobclaw.errors import PluginError
from jobclaw.registry import AgentRegistry, CommandSpec, CommandTable
from jobclaw.spi import Agent, AgentIntro, AgentRequest, Command, Markdown
from jobclaw.texts import Catalogue, core_folder


class Plain(Agent):
    intro = AgentIntro(id="plain", name="Plain", description="Answers plainly")

    async def handle(self, request: AgentRequest) -> AsyncIterator[Markdown]:
        yield Markdown(request.text)


def make(agent_id: str = "plain", **declared: object) -> Agent:
    agent = Plain()
    agent.intro = AgentIntro(id=agent_id, name=agent_id, description="Answers")
    for name, value in declared.items():
        setattr(agent, name, value)
    return agent


def ids(registry: AgentRegistry) -> list[str]:
    return [entry.id for entry in registry.all()]


def test_agents_are_ordered_by_priority_then_id():
    registry = AgentRegistry()
    registry.register("one", [make("b", priority=50), make("a", priority=50), make("z")])
    registry.register("two", [make("y", priority=-1000), make("c", priority=70)])
    assert ids(registry) == ["c", "a", "b", "z", "y"]


@given(
    st.lists(st.tuples(st.text("abc", min_size=1), st.integers(-3, 3)), max_size=8),
    st.randoms(),
)
def test_the_order_does_not_depend_on_loading(
    declared: list[tuple[str, int]], rng: random.Random
):
    agents = [make(name, priority=priority) for name, priority in dict(declared).items()]
    shuffled = agents.copy()
    rng.shuffle(shuffled)
    left, right = AgentRegistry(), AgentRegistry()
    for order, registry in ((agents, left), (shuffled, right)):
        for agent in order:
            registry.register(f"plugin-{agent.intro.id}", [agent])
    assert ids(left) == ids(right)


def test_reads_by_intent_kind_and_id():
    registry = AgentRegistry()
    registry.register(
        "jobs",
        [
            make("search", intents=("SEARCH",), priority=1, keywords={"SEARCH": {"找": 0.8}}),
            make("plan", intents=["SEARCH", "PLAN"], priority=5, accepts=("file",)),
        ],
    )
    registry.register("more", [make("x", intents=("SEARCH",), keywords={"SEARCH": {"找": 1}})])
    assert [entry.id for entry in registry.serving("SEARCH")] == ["plan", "search", "x"]
    assert registry.serving("NONE") == ()
    assert [entry.id for entry in registry.accepting("file")] == ["plan"]
    assert registry.keywords() == {"SEARCH": {"找": 1.0}}
    assert registry.priorities() == {"SEARCH": 5, "PLAN": 5}
    entry = registry.get("plan")
    assert entry is not None
    assert (entry.source, entry.role, entry.intents) == ("jobs", "free", ("SEARCH", "PLAN"))
    assert registry.get("nobody") is None


def test_a_disabled_agent_is_known_but_serves_nothing():
    registry = AgentRegistry(disabled=["late"])
    registry.register("a", [make("late", intents=("X",), keywords={"X": {"x": 1}})])
    entry = registry.get("late")
    assert entry is not None
    assert entry.disabled
    assert (registry.serving("X"), registry.keywords(), registry.priorities()) == ((), {}, {})
    registry.enable("late")
    assert [entry.id for entry in registry.serving("X")] == ["late"]
    registry.disable("late")
    assert registry.serving("X") == ()
    registry.replace("a", [make("late", intents=("X",))])
    assert registry.serving("X") == ()


BAD: list[tuple[str, Callable[[], Agent], str]] = [
    ("id empty", lambda: make(""), "bad-id"),
    ("id upper", lambda: make("Hello"), "bad-id"),
    ("id dash", lambda: make("-x"), "bad-id"),
    ("id path", lambda: make("../x"), "bad-id"),
    ("id long", lambda: make("x" * 64), "bad-id"),
    ("id newline", lambda: make("x\n"), "bad-id"),
    ("no intro", lambda: make("x", intro=None), "bad-intro"),
    ("intro text", lambda: make("x", intro="x"), "bad-intro"),
    ("no name", lambda: make("x", intro=AgentIntro("x", "", "d")), "bad-intro"),
    ("priority text", lambda: make("x", priority="50"), "bad-priority"),
    ("priority nan", lambda: make("x", priority=float("nan")), "bad-priority"),
    ("priority float", lambda: make("x", priority=5.0), "bad-priority"),
    ("priority bool", lambda: make("x", priority=True), "bad-priority"),
    ("priority none", lambda: make("x", priority=None), "bad-priority"),
    ("role", lambda: make("x", role="root"), "bad-role"),
    ("role none", lambda: make("x", role=None), "bad-role"),
    ("role list", lambda: make("x", role=["free"]), "bad-role"),
    ("intents text", lambda: make("x", intents="HELLO"), "intents-shape"),
    ("intents none", lambda: make("x", intents=None), "intents-shape"),
    ("intent lower", lambda: make("x", intents=("hello",)), "bad-intent"),
    ("intent number", lambda: make("x", intents=(1,)), "bad-intent"),
    ("intent reserved", lambda: make("x", intents=("UNKNOWN",)), "bad-intent"),
    ("accepts text", lambda: make("x", accepts="file"), "bad-accepts"),
    ("accepts other", lambda: make("x", accepts=("pdf",)), "bad-accepts"),
    ("keywords text", lambda: make("x", keywords="job"), "keywords-shape"),
    ("keywords list", lambda: make("x", keywords=["job"]), "keywords-shape"),
    (
        "keywords of text",
        lambda: make("x", intents=("J",), keywords={"J": "job"}),
        "keywords-shape",
    ),
    (
        "keywords of list",
        lambda: make("x", intents=("J",), keywords={"J": ["job"]}),
        "keywords-shape",
    ),
    (
        "keyword empty",
        lambda: make("x", intents=("J",), keywords={"J": {" ": 1}}),
        "empty-keyword",
    ),
    (
        "keyword number",
        lambda: make("x", intents=("J",), keywords={"J": {5: 1}}),
        "empty-keyword",
    ),
    (
        "weight text",
        lambda: make("x", intents=("J",), keywords={"J": {"j": "1"}}),
        "bad-weight",
    ),
    (
        "weight bool",
        lambda: make("x", intents=("J",), keywords={"J": {"j": True}}),
        "bad-weight",
    ),
    (
        "weight nan",
        lambda: make("x", intents=("J",), keywords={"J": {"j": float("nan")}}),
        "bad-weight",
    ),
    (
        "weight high",
        lambda: make("x", intents=("J",), keywords={"J": {"j": 1.1}}),
        "bad-weight",
    ),
    (
        "weight low",
        lambda: make("x", intents=("J",), keywords={"J": {"j": -0.1}}),
        "bad-weight",
    ),
    ("foreign", lambda: make("x", intents=("J",), keywords={"K": {"j": 1}}), "foreign-intent"),
    ("commands text", lambda: make("x", commands="go"), "commands-shape"),
    ("command name", lambda: make("x", intents=("J",), commands={"Go!": "J"}), "bad-command"),
    (
        "command intent",
        lambda: make("x", intents=("J",), commands={"go": "K"}),
        "foreign-intent",
    ),
    ("locales", lambda: make("x", locales="locales"), "bad-locales"),
    ("no folder", lambda: make("x", locales=Path("/nowhere/at/all")), "bad-locales"),
]


@pytest.mark.parametrize(
    ("agent", "text_id"), [row[1:] for row in BAD], ids=[row[0] for row in BAD]
)
def test_a_wrong_declaration_is_refused_whole(agent: Callable[[], Agent], text_id: str):
    registry = AgentRegistry()
    with pytest.raises(PluginError) as caught:
        registry.register("mine", [make("fine", intents=("FINE",)), agent()])
    assert caught.value.text_id == f"plugins.{text_id}"
    assert caught.value.values["plugin"] == "mine"
    sentence = Catalogue([core_folder()]).say("zh", caught.value.text_id, **caught.value.values)
    assert "mine" in sentence
    assert "{" not in sentence.replace('{"', "")
    assert (registry.all(), registry.serving("FINE"), registry.table.all()) == ((), (), ())


class NoHandle(Agent):
    intro = AgentIntro(id="none", name="n", description="d")


class Returns(Agent):
    intro = AgentIntro(id="returns", name="n", description="d")

    async def handle(self, request: AgentRequest) -> list[Markdown]:  # pyright: ignore[reportIncompatibleMethodOverride]
        return [Markdown(request.text)]


@pytest.mark.parametrize("agent", [NoHandle(), Returns()])
def test_an_agent_must_yield(agent: Agent):
    with pytest.raises(PluginError, match=r"plugins\.bad-handle"):
        AgentRegistry().register("mine", [agent])


def test_a_duplicate_id_names_the_other_plugin():
    registry = AgentRegistry()
    registry.register("first", [make("hello")])
    with pytest.raises(PluginError) as caught:
        registry.register("second", [make("other"), make("hello")])
    assert caught.value.values == {"plugin": "second", "agent": "hello", "owner": "first"}
    assert ids(registry) == ["hello"]
    with pytest.raises(PluginError, match=r"plugins\.duplicate-agent"):
        registry.register("third", [make("twin"), make("twin")])
    with pytest.raises(PluginError, match=r"plugins\.duplicate-plugin"):
        registry.register("first", [make("again")])


def test_a_bad_replacement_keeps_what_was_there():
    registry = AgentRegistry()
    old = make("hello", intents=("HI",), commands={"hi": "HI"})
    registry.register("mine", [old])
    registry.register("other", [make("taken", intents=("T",), commands={"t": "T"})])
    before = registry.revision
    for agents in ([make("hello", priority="x")], [make("new"), make("taken")]):
        with pytest.raises(PluginError):
            registry.replace("mine", agents)
    with pytest.raises(PluginError, match=r"plugins\.command-taken"):
        registry.replace("mine", [make("new", intents=("HI",), commands={"t": "HI"})])
    entry = registry.get("hello")
    assert entry is not None
    assert entry.agent is old
    assert registry.get("new") is None
    assert [spec.name for spec in registry.commands()] == ["hi", "t"]
    assert registry.revision == before


def test_replacing_and_unregistering():
    registry = AgentRegistry()
    registry.register("mine", [make("hello", intents=("HI",), commands={"hi": "HI"})])
    registry.replace("mine", [make("bye", intents=("BYE",), commands={"bye": "BYE"})])
    assert ids(registry) == ["bye"]
    assert (registry.serving("HI"), registry.table.get("hi")) == ((), None)
    revision = registry.revision
    registry.unregister("mine")
    registry.unregister("unknown")
    assert (registry.all(), registry.commands()) == ((), ())
    assert registry.revision == revision + 1


def test_commands_of_agents_and_plugins_join_the_table():
    table = CommandTable([CommandSpec(name="help", kind="system", summary_id="command.help")])
    registry = AgentRegistry(table)
    registry.register(
        "jobs",
        [make("search", role="vip", intents=("SEARCH",), commands={"/find_job": "SEARCH"})],
        [Command(name="ask", summary={"en": "Asks"}, agent="search")],
    )
    assert [
        (spec.name, spec.kind, spec.intent, spec.agent) for spec in registry.commands()
    ] == [
        ("ask", "agent", "", "search"),
        ("find-job", "intent", "SEARCH", ""),
    ]
    assert [spec.name for spec in table.all("free")] == ["help", "ask"]
    with pytest.raises(PluginError, match=r"plugins\.id-is-command"):
        registry.register("bad", [make("help")])


@pytest.mark.parametrize(
    ("command", "text_id"),
    [
        (Command(name="Go", summary={}, intent="X"), "bad-command"),
        (Command(name="go", summary={}), "command-target"),
        (Command(name="go", summary={}, intent="X", agent="x"), "command-target"),
        (Command(name="go", summary={}, intent="x y"), "bad-intent"),
        (Command(name="go", summary={}, intent="X", role="root"), "bad-role"),  # pyright: ignore[reportArgumentType]
        (Command(name="go", summary="Goes", intent="X"), "command-summary"),  # pyright: ignore[reportArgumentType]
    ],
)
def test_a_wrong_command_is_refused(command: Command, text_id: str):
    registry = AgentRegistry()
    with pytest.raises(PluginError, match=rf"plugins\.{text_id}"):
        registry.register("mine", [make("fine")], [command])
    assert registry.all() == ()


def test_an_agents_own_sentences_come_before_the_core(tmp_path: Path):
    for locale, sentence in (("zh", "找工作"), ("en", "Finds jobs")):
        (tmp_path / f"{locale}.po").write_text(
            'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\n'
            f'msgid "command.find.summary"\nmsgstr "{sentence}"\n',
            "utf-8",
        )
    core = Catalogue([core_folder()])
    registry = AgentRegistry(texts=core)
    registry.register(
        "jobs",
        [
            make("find", intents=("F",), commands={"find": "F"}, locales=tmp_path),
            make("other", intents=("O",), commands={"other": "O"}),
        ],
    )
    said: Mapping[str, tuple[str, str]] = {
        spec.name: (spec.describe("zh", core), spec.describe("en", core))
        for spec in registry.commands()
    }
    assert said == {"find": ("找工作", "Finds jobs"), "other": ("Answers", "Answers")}
    entry = registry.get("find")
    assert entry is not None
    assert entry.texts is not None
    assert entry.texts.say("en", "file.unreadable", file="x", reason="y").startswith(
        "The file x"
    )


def test_the_deployments_sentences_replace_an_agents(tmp_path: Path):
    for folder, sentence in (("shared", "A"), ("own", "B"), ("operator", "C")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "zh.po").write_text(
            'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\n'
            f'msgid "who"\nmsgstr "{sentence}"\n\nmsgid "{folder}"\nmsgstr "{sentence}"\n',
            "utf-8",
        )
    own = (tmp_path / "shared", tmp_path / "own")
    for overrides, said in (((), "B"), ((tmp_path / "operator",), "C")):
        registry = AgentRegistry(overrides=overrides)
        registry.register("jobs", [make("x", locales=own)])
        entry = registry.get("x")
        assert entry is not None
        assert entry.texts is not None
        assert entry.texts.say("zh", "who") == said
        assert entry.texts.say("zh", "shared") == "A"
