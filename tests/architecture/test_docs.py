"""What the documents say is so: names exist, commands run, transcripts come out as written."""

import ast
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from driver import PLAIN_CONFIG, Deployment
from typer.core import TyperGroup

from jobclaw import errors
from jobclaw.cli.root import build
from jobclaw.cli.terminal import Terminal
from jobclaw.errors import JobclawError
from jobclaw.llm.scripted import ScriptedLlm
from jobclaw.router.system_commands import SYSTEM_COMMANDS
from jobclaw.settings import Settings
from jobclaw.spi import Agent, AgentRequest, hooks

ROOT = Path(__file__).resolve().parents[2]
READMES = ("README.md", "README.zh-CN.md")
DOCUMENTS = (
    *READMES,
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "agents/README.md",
    "bench/README.md",
)
TABLES = ("config/jobclaw.yaml", "config/keywords.yaml", "config/roles.yaml")
LEFT_OUT = "…"
INVARIANTS_LEAST, ARCHITECTURE_LINES = 12, 200


def read(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def section(name: str, title: str) -> str:
    """The part of a document under one heading."""
    return read(name).partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def blocks(name: str, kind: str, before: str = "") -> list[str]:
    """The code blocks of a kind, those with a text right before them if one is given."""
    found = re.findall(rf"{re.escape(before)}```{kind}\n(.*?)```", read(name), re.DOTALL)
    return [str(one) for one in found]


def project() -> dict[str, Any]:
    return tomllib.loads(read("pyproject.toml"))


def command_lines(group: TyperGroup, path: str = "jobclaw") -> Iterator[str]:
    """Every command that can be run, as it is typed."""
    for name, command in group.commands.items():
        if isinstance(command, TyperGroup):
            yield from command_lines(command, f"{path} {name}")
        else:
            yield f"{path} {name}"


COMMANDS = sorted(command_lines(build(Terminal())))
SECTIONS = sorted(Settings.model_fields)
HOOKS = sorted(name for name in vars(hooks) if name.startswith("jobclaw_"))
ERRORS = sorted(
    name
    for name, one in vars(errors).items()
    if isinstance(one, type) and issubclass(one, JobclawError)
)


@pytest.mark.parametrize("readme", READMES)
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_in_the_readmes(readme: str, command: str):
    assert re.search(rf"`{command}[` ]", read(readme))


def typed_commands(text: str) -> list[list[str]]:
    """The words after `jobclaw` wherever a document shows a command."""
    fences = "\n".join(re.findall(r"```(?:sh|console)\n(.*?)```", text, re.DOTALL))
    shown = re.findall(r"`jobclaw ([^`]+)`", text)
    shown += re.findall(r"^(?:\$ |.*\| )?jobclaw (.+)$", fences, re.MULTILINE)
    return [str(line).split() for line in shown]


@pytest.mark.parametrize("document", [*DOCUMENTS, *TABLES])
def test_every_command_that_is_named_exists(document: str):
    for words in typed_commands(read(document)):
        command = build(Terminal())
        for word in words:
            if not isinstance(command, TyperGroup) or not re.fullmatch("[a-z]+", word):
                break
            assert word in command.commands, f"jobclaw {' '.join(words)}"
            command = command.commands[word]


@pytest.mark.parametrize("readme", READMES)
@pytest.mark.parametrize("command", SYSTEM_COMMANDS)
def test_every_system_command_is_in_the_readmes(readme: str, command: str):
    assert re.search(rf"`/{command}[` ]", read(readme))


@pytest.mark.parametrize("readme", READMES)
@pytest.mark.parametrize("name", SECTIONS)
def test_every_section_of_the_settings_is_in_the_readmes(readme: str, name: str):
    assert re.search(rf"^\|.*`{name}`.*\|.*\|$", read(readme), re.MULTILINE)


@pytest.mark.parametrize("readme", READMES)
def test_every_agent_that_is_installed_is_in_the_readmes(readme: str):
    plugins = project()["project"]["entry-points"]["jobclaw"]
    for name in plugins:
        if name.startswith("agent-"):
            assert f"`{name.removeprefix('agent-')}`" in read(readme)


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_is_in_the_page_on_agents(hook: str):
    assert f"`{hook}`" in read("agents/README.md")


def test_every_field_of_an_agent_and_its_request_is_in_the_page_on_agents():
    page = read("agents/README.md")
    declared = {*Agent.__annotations__, "is_available"} - {"intro"}
    fields = {*AgentRequest.__struct_fields__} - {"at", "intent"}
    for name in declared | fields:
        assert re.search(rf"`[^`\n]*\b{name}\b[^`\n]*`", page), name


@pytest.mark.parametrize("name", ERRORS)
def test_every_error_is_in_the_architecture(name: str):
    assert f"`{name}`" in section("ARCHITECTURE.md", "What can go wrong")


def test_every_benchmark_is_in_its_page():
    for script in (ROOT / "bench").glob("*.py"):
        if "__main__" in script.read_text("utf-8"):
            assert f"`python bench/{script.name}`" in read("bench/README.md")


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_target_of_make_that_is_named_exists(document: str):
    targets = set(re.findall(r"^([a-z]+):", read("Makefile"), re.MULTILINE))
    assert set(re.findall(r"(?:`|^|\$ )make ([a-z]+)", read(document), re.MULTILINE)) <= targets


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_link_to_a_file_leads_to_it(document: str):
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", read(document))
    for link in links:
        if "://" not in link:
            assert (ROOT / document).parent.joinpath(link).exists(), link


def functions(file: Path) -> frozenset[str]:
    """The tests of a file, those inside classes included."""
    tree = ast.walk(ast.parse(file.read_bytes()))
    return frozenset(
        node.name for node in tree if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )


def named_tests(text: str) -> list[tuple[str, str]]:
    return re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", text)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_test_that_is_named_exists(document: str):
    for file, name in named_tests(read(document)):
        assert name in functions(ROOT / file), f"{file}::{name}"


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_path_that_is_named_exists(document: str):
    paths = re.findall(
        r"`((?:jobclaw|channels|agents|tests|config|bench)/[\w./-]+)`", read(document)
    )
    made_by_users = {"agents/hello.py", "agents/hello/__init__.py"}
    for path in {*paths} - made_by_users:
        if "NAME" not in path and ".local" not in path and path != "config/local.yaml":
            assert (ROOT / path).exists(), path


def test_every_invariant_is_kept_by_a_test_or_a_contract():
    text = section("ARCHITECTURE.md", "Invariants")
    invariants = re.split(r"^\d+\. ", text, flags=re.MULTILINE)[1:]
    contracts = {one["name"] for one in project()["tool"]["importlinter"]["contracts"]}
    assert len(invariants) >= INVARIANTS_LEAST
    for invariant in invariants:
        line = " ".join(invariant.split())
        named = set(re.findall(r'[Cc]ontract "([^"]+)"', line))
        assert named <= contracts, line
        assert named or named_tests(line), line
    said = {
        name for line in invariants for name in re.findall(r'"([^"]+)"', " ".join(line.split()))
    }
    assert said == contracts, "each contract is an invariant"


def test_the_picture_of_the_layers_is_the_contract():
    [picture] = blocks("ARCHITECTURE.md", "layers")
    contracts = project()["tool"]["importlinter"]["contracts"]
    [layers] = [one["layers"] for one in contracts if one["type"] == "layers"]
    assert picture.split("\n")[:-1] == layers


def test_the_architecture_is_short_and_its_modules_exist():
    page = read("ARCHITECTURE.md")
    assert page.count("\n") <= ARCHITECTURE_LINES
    way = section("ARCHITECTURE.md", "The way of one message")
    for path in re.findall(r"^ *([a-z_]+/[\w/]+\.py)", way, re.MULTILINE):
        assert (ROOT / "jobclaw" / path).exists(), path
    for package in re.findall(r"`([a-z_]+)/`(?: –|,)", section("ARCHITECTURE.md", "Code map")):
        assert (ROOT / "jobclaw" / package).is_dir() or (ROOT / package).is_dir(), package


def shape(readme: str) -> list[str]:
    """What a README is made of, language apart: headings, tables, blocks, list items."""
    kinds = {"#": "heading", "|": "row", "```": "fence", "<!--": "comment"}
    found: list[str] = []
    in_block = False
    for line in read(readme).splitlines():
        kind = next((kind for mark, kind in kinds.items() if line.startswith(mark)), "")
        if kind == "fence":
            in_block = not in_block
            found.append(line)
        elif not in_block and (kind or re.match(r"\d+\. ", line)):
            found.append(kind or "item")
    return found


def test_both_readmes_say_the_same():
    english, chinese = READMES
    assert shape(english) == shape(chinese)
    assert sorted(named_tests(read(english))) == sorted(named_tests(read(chinese)))
    assert blocks(english, "console") == blocks(chinese, "console")
    figures = re.compile(r"\d+(?:[.,]\d+)*")
    assert sorted(figures.findall(read(english))) == sorted(figures.findall(read(chinese)))


@pytest.fixture
def newcomer(tmp_path: Path) -> Deployment:
    return Deployment(tmp_path, "")


def matches(said: str, written: str) -> bool:
    """Whether a text is as written, any lines where lines are left out."""
    parts = [
        r"(?:.*\n)*?" if line == LEFT_OUT else re.escape(line) + r"\n"
        for line in written.rstrip("\n").split("\n")
    ]
    return re.fullmatch("".join(parts), said) is not None


@pytest.mark.parametrize("at", range(2))
@pytest.mark.parametrize("readme", READMES)
def test_a_conversation_comes_out_as_written(newcomer: Deployment, readme: str, at: int):
    command, _, conversation = blocks(readme, "console")[at].partition("\n")
    called = re.fullmatch(r'\$ make chat(?: ARGS="(.*)")?', command)
    assert called
    lines = conversation.splitlines(keepends=True)
    typed = [line.removeprefix("› ") for line in lines if line.startswith("› ")]
    written = "".join(line for line in lines if not line.startswith("› "))
    done = subprocess.run(
        [sys.executable, "-m", "jobclaw", "chat", *(called[1] or "").split()],
        cwd=newcomer.folder,
        env=newcomer.environment(),
        input="".join(typed),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert matches(done.stdout, written), done.stdout


@pytest.mark.parametrize("at", range(4))
@pytest.mark.parametrize("readme", READMES)
def test_a_block_that_runs_does(newcomer: Deployment, readme: str, at: int):
    found = blocks(readme, "sh", "<!-- runs -->\n")
    assert len(found) == 4
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    done = subprocess.run(
        ["/bin/sh", "-eu", "-c", found[at]],
        cwd=newcomer.folder,
        env=newcomer.environment(PATH=path),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) >= found[at].count("jobclaw ")


def test_the_keywords_of_the_readme_count(newcomer: Deployment):
    [block] = [one for one in blocks("README.md", "sh", "<!-- runs -->\n") if "keywords" in one]
    table = block.partition("<<'END'\n")[2].partition("END\n")[0]
    (newcomer.folder / "config" / "keywords.local.yaml").write_text(table, "utf-8")
    assert newcomer.json("route", "面试排期")["agent"] == "progress"
    assert newcomer.json("route", "/offers")["agent"] == "progress"


def test_the_page_on_agents_comes_out_as_written(tmp_path: Path):
    deployment = Deployment(tmp_path, PLAIN_CONFIG)
    [source], [console] = (
        blocks("agents/README.md", "python"),
        blocks("agents/README.md", "console"),
    )
    deployment.drop_in("hello", source)
    for part in console.split("$ jobclaw ")[1:]:
        command, _, written = part.partition("\n")
        done = deployment.run(*shlex.split(command))
        assert done.returncode == 0, done.stderr
        assert matches(done.stdout, written), done.stdout


async def test_the_page_on_agents_tests_a_model_as_written():
    written = "\n".join(blocks("agents/README.md", "py"))
    names: dict[str, Any] = {}
    exec(compile(written, "agents/README.md", "exec"), names)  # noqa: S102 - our own page
    [test] = [one for name, one in names.items() if name.startswith("test_")]
    await test()
    names["ScriptedLlm"] = partial(_another, names["ScriptedLlm"])
    with pytest.raises(AssertionError):
        await test()


def _another(kind: type[ScriptedLlm], _script: object) -> ScriptedLlm:
    return kind("A cat.")
