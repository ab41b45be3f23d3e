"""One plugin's fault is reported by name and reason, and stays its own."""

import importlib
import logging
import os
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from plugin_sources import agent, agents_of, host_of, write

from jobclaw.texts import Catalogue, core_folder

CORE = Catalogue([core_folder()])
SPI = "from jobclaw.spi import *\nfrom jobclaw.spi import hookimpl\n"
MAYBE = agent("maybe", hook=False)

BROKEN: list[tuple[str, str, str, str]] = [
    ("missing package", "import no_such_package_at_all", "import-failed", "no_such_package"),
    ("missing name", "from jobclaw.spi import Agnt", "import-failed", "Agnt"),
    (
        "body raises",
        "x = 1\nraise ValueError('on purpose')",
        "import-failed",
        "bad.py:2: Value",
    ),
    ("exits", "raise SystemExit(3)", "import-failed", "SystemExit"),
    ("calls exit", "import sys\nsys.exit('bye')", "import-failed", "SystemExit: bye"),
    ("interrupt", "raise KeyboardInterrupt", "import-failed", "KeyboardInterrupt"),
    ("base exception", "class B(BaseException): pass\nraise B", "import-failed", "B"),
    ("syntax", "def (", "import-failed", "SyntaxError"),
    ("encoding", "# -*- coding: nonsense -*-", "import-failed", "nonsense"),
    ("NUL", "\0", "import-failed", "null"),
    ("no hook", MAYBE, "no-hook", "@hookimpl"),
    ("empty", "", "no-hook", "@hookimpl"),
    (
        "misspelt",
        MAYBE + "@hookimpl\ndef jobclaw_agnets(): return []",
        "unknown-hook",
        "_agents",
    ),
    (
        "other hook",
        MAYBE + "@hookimpl\ndef jobclaw_x(): return []",
        "unknown-hook",
        "jobclaw_x",
    ),
    ("any name", MAYBE + "@hookimpl\ndef agents(): return []", "unknown-hook", "agents"),
    (
        "misspelt and unmarked",
        agent("maybe") + "def jobclaw_comands(): return []",
        "unknown-hook",
        "jobclaw_commands",
    ),
    (
        "unmarked",
        MAYBE + "def jobclaw_agents(): return [Maybe()]",
        "unmarked-hook",
        "@hookimpl",
    ),
    ("argument", MAYBE + "@hookimpl\ndef jobclaw_agents(x): return []", "bad-signature", "x"),
    (
        "raises",
        MAYBE + "@hookimpl\ndef jobclaw_agents(): return [1 / 0]",
        "hook-raised",
        "ZeroDivisionError",
    ),
    ("none", MAYBE + "@hookimpl\ndef jobclaw_agents(): Maybe()", "wrong-return", "None"),
    ("one", MAYBE + "@hookimpl\ndef jobclaw_agents(): return Maybe()", "wrong-return", "list"),
    (
        "class",
        MAYBE + "@hookimpl\ndef jobclaw_agents(): return [Maybe]",
        "wrong-return",
        "Agent",
    ),
    (
        "dict",
        MAYBE + "@hookimpl\ndef jobclaw_agents(): return {'a': Maybe()}",
        "wrong-return",
        "{",
    ),
    (
        "yield",
        MAYBE + "@hookimpl\ndef jobclaw_agents(): yield Maybe()",
        "wrong-return",
        "gener",
    ),
    (
        "text",
        MAYBE + "@hookimpl\ndef jobclaw_agents(): return 'maybe'",
        "wrong-return",
        "maybe",
    ),
    (
        "command",
        agent("maybe") + "@hookimpl\ndef jobclaw_commands(): return [1]",
        "wrong-return",
        "1",
    ),
    (
        "channel",
        agent("maybe") + "@hookimpl\ndef jobclaw_channels(): return [1]",
        "wrong-return",
        "1",
    ),
    (
        "gate",
        agent("maybe") + "@hookimpl\ndef jobclaw_identity_gate(): return 'x'",
        "wrong-return",
        "IdentityGate",
    ),
    (
        "commands raise after agents",
        agent("maybe") + "@hookimpl\ndef jobclaw_commands(): raise OSError('late')",
        "hook-raised",
        "OSError: late",
    ),
    (
        "command is the system's",
        agent("maybe") + "@hookimpl\ndef jobclaw_commands():\n"
        "    return [Command(name='help', summary={}, intent='MAYBE')]",
        "command-taken",
        "/help",
    ),
    (
        "agent twice",
        MAYBE + "@hookimpl\ndef jobclaw_agents(): return [Maybe(), Maybe()]",
        "duplicate-agent",
        "maybe",
    ),
    ("another's agent", agent("fine"), "duplicate-agent", "fine"),
    ("priority", agent("maybe") + "Maybe.priority = '50'", "bad-priority", "'50'"),
    (
        "attribute raises",
        agent("maybe") + "Maybe.priority = property(lambda self: 1 / 0)",
        "unusable",
        "ZeroDivisionError",
    ),
]


@pytest.mark.parametrize(
    ("source", "text_id", "shown"), [row[1:] for row in BROKEN], ids=[row[0] for row in BROKEN]
)
def test_a_broken_plugin_is_reported_and_everything_else_works(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    source: str,
    text_id: str,
    shown: str,
):
    write(tmp_path / "a_fine.py", agent("fine"))
    write(tmp_path / "bad.py", source)
    write(tmp_path / "z_fine.py", agent("last"))
    host = host_of(tmp_path)
    with caplog.at_level(logging.ERROR):
        host.load()
    assert agents_of(host, tmp_path) == ["fine", "last"]
    assert host.broken() == ("bad",)
    (failure,) = host.failures
    assert (failure.plugin, failure.text_id, failure.kept) == (
        "bad",
        f"plugins.{text_id}",
        False,
    )
    for locale in ("zh", "en"):
        sentence = CORE.say(locale, failure.text_id, **failure.values)
        assert "bad" in sentence
    assert shown in CORE.say("en", failure.text_id, **failure.values)
    assert "plugin='bad'" in caplog.text
    assert host.registry.table.get("maybe") is None
    assert "MAYBE" not in host.registry.keywords()
    assert host.registry.serving("MAYBE") == ()
    leftovers = [name for name in sys.modules if name.startswith("_jobclaw_dropin_bad")]
    assert not leftovers


def test_the_traceback_begins_in_the_plugin(tmp_path: Path):
    path = write(tmp_path / "bad.py", "def helper():\n    return 1 / 0\n\nhelper()\n")
    host = host_of(tmp_path)
    host.load()
    (failure,) = host.failures
    lines = failure.traceback.splitlines()
    assert lines[1] == f'  File "{path}", line 4, in <module>'
    assert "return 1 / 0" in failure.traceback
    assert lines[-1].startswith("ZeroDivisionError")


SLOW = {
    "loop at import": "while True: pass",
    "stubborn loop": "while True:\n    try:\n        x = 1\n    except ValueError: pass",
    "sleep at import": "import time\ntime.sleep(30)",
    "loop in a hook": MAYBE + "@hookimpl\ndef jobclaw_agents():\n    while True: pass",
}


@pytest.mark.parametrize("source", SLOW.values(), ids=SLOW.keys())
def test_a_slow_plugin_is_given_up(tmp_path: Path, source: str):
    write(tmp_path / "a_slow.py", source)
    write(tmp_path / "b_slow.py", source)
    write(tmp_path / "fine.py", agent("fine"))
    host = host_of(tmp_path, limit_s=2.0)
    began = time.monotonic()
    host.load()
    assert time.monotonic() - began < 6.0
    assert agents_of(host, tmp_path) == ["fine"]
    assert {failure.text_id for failure in host.failures} == {"plugins.too-slow"}
    assert host.broken() == ("a_slow", "b_slow")


def test_which_files_are_plugins(tmp_path: Path):
    write(tmp_path / "hello.py", agent("hello"))
    write(tmp_path / "with-dash.py", agent("with-dash"))
    write(tmp_path / "package" / "__init__.py", agent("package"))
    for name in ("_helper.py", ".hidden.py", "jobclaw_x.py", "notes.txt", "plain/module.py"):
        write(tmp_path / name, "raise RuntimeError('must not be imported')")
    for name in ("jobclaw_jobs", "_private", "__pycache__", ".git"):
        write(tmp_path / name / "__init__.py", "raise RuntimeError('must not be imported')")
    host = host_of(tmp_path, tmp_path / "absent")
    host.load()
    assert agents_of(host, tmp_path) == ["hello", "package", "with-dash"]
    assert host.failures == ()
    assert [info.name for info in host.plugins if info.origin.startswith(str(tmp_path))] == [
        "hello",
        "package",
        "with-dash",
    ]


def test_a_package_has_its_own_parts(tmp_path: Path):
    write(
        tmp_path / "deep" / "__init__.py",
        "from ._part import WORD\n"
        + agent("deep")
        + "Deep.intro = AgentIntro(WORD, WORD, WORD)",
    )
    write(tmp_path / "deep" / "_part.py", "WORD = 'one'")
    host = host_of(tmp_path)
    host.load()
    assert agents_of(host, tmp_path) == ["one"]
    assert not list(tmp_path.rglob("__pycache__"))


def test_a_name_belongs_to_the_first(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    write(tmp_path / "one" / "hello.py", agent("hello"))
    write(tmp_path / "two" / "hello.py", agent("other"))
    host = host_of(tmp_path / "one", tmp_path / "two")
    host.load()
    assert agents_of(host, tmp_path) == ["hello"]
    (failure,) = host.failures
    assert failure.text_id == "plugins.duplicate-plugin"
    assert str(tmp_path / "two" / "hello.py") in str(failure.values["plugin"])
    assert not host.refresh()
    assert caplog.text.count("plugins.duplicate-plugin") == 1


def test_disabled_plugins_are_not_even_imported(tmp_path: Path):
    write(tmp_path / "off.py", "raise RuntimeError('must not be imported')")
    write(tmp_path / "on.py", agent("on"))
    host = host_of(tmp_path, disabled=("off",))
    host.load()
    states = {info.name: info.state for info in host.plugins}
    assert (states["off"], states["on"]) == ("disabled", "ok")
    assert host.failures == ()
    assert not host.refresh()


GATE = """
class Gate:
    agent_id = "{name}"
    fields = ()
    def missing(self, user, required):
        return ()

@hookimpl
def jobclaw_identity_gate():
    return Gate()
"""
CHANNEL = """
@hookimpl
def jobclaw_channels():
    return [ChannelPlugin(name={name!r}, create=lambda account, settings: None)]
"""


def test_channels_commands_and_gates(tmp_path: Path):
    command = (
        "@hookimpl\ndef jobclaw_commands():\n"
        "    return [Command(name='ask_a', summary={'en': 'Asks'}, agent='a')]\n"
    )
    write(tmp_path / "a.py", agent("a") + command + CHANNEL.format(name="pigeon"))
    write(tmp_path / "b.py", agent("b") + CHANNEL.format(name="pigeon"))
    write(tmp_path / "c.py", agent("c") + GATE.format(name="c"))
    write(tmp_path / "d.py", agent("d") + GATE.format(name="d"))
    host = host_of(tmp_path)
    host.load()
    assert agents_of(host, tmp_path) == ["a", "c", "d"]
    assert "pigeon" in host.channels
    found = host.registry.table.get("ask-a")
    assert found is not None
    assert (found.agent, found.source) == ("a", "a")
    assert {
        failure.plugin: failure.text_id for failure in host.failures if not failure.kept
    } == {"b": "plugins.duplicate-channel"}
    gates = [info.name for info in host.plugins if info.name in {"c", "d"}]
    assert gates == ["c", "d"]
    assert host.gate is not None
    spare = [failure for failure in host.failures if failure.text_id == "plugins.second-gate"]
    assert "d" in [failure.plugin for failure in spare]
    assert host.broken() == ("b",)


def test_installed_plugins_are_found_by_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    site = tmp_path / "site"
    info = site / "parrot-2.5.dist-info"
    write(info / "METADATA", "Metadata-Version: 2.1\nName: parrot\nVersion: 2.5\n")
    write(
        info / "entry_points.txt",
        "[jobclaw]\nparrot = parrot_module\nbroken-parrot = no_such_parrot\n"
        "object-parrot = parrot_module:hooks\n",
    )
    write(
        site / "parrot_module.py",
        agent("parrot") + "class Second(Parrot):\n"
        "    intro = AgentIntro('second', 's', 's')\n    commands = {}\n"
        "class Hooks:\n    @hookimpl\n    def jobclaw_agents(self): return [Second()]\n"
        "hooks = Hooks()\n",
    )
    monkeypatch.setattr(sys, "path", [str(site), *sys.path])
    importlib.invalidate_caches()
    write(tmp_path / "agents" / "parrot.py", agent("squatter"))
    host = host_of(tmp_path / "agents")
    host.load()
    known = {info.name: info for info in host.plugins}
    assert (known["parrot"].state, known["parrot"].version) == ("ok", "2.5")
    assert known["parrot"].origin == "parrot 2.5"
    assert known["object-parrot"].agents == ("second",)
    assert host.broken() == ("broken-parrot",)
    assert host.registry.get("squatter") is None, "an installed plugin keeps its name"
    monkeypatch.delitem(sys.modules, "parrot_module")


def _may_write(path: Path) -> None:
    path.chmod(path.stat().st_mode | stat.S_IWOTH)


@pytest.mark.parametrize(
    "victim", ["hello.py", "package", "package/__init__.py", "package/_x.py"]
)
def test_files_that_anybody_may_write_are_refused(tmp_path: Path, victim: str):
    write(tmp_path / "hello.py", agent("hello"))
    write(tmp_path / "package" / "__init__.py", agent("package"))
    write(tmp_path / "package" / "_x.py", "")
    _may_write(tmp_path / victim)
    host = host_of(tmp_path)
    host.load()
    name = victim.partition("/")[0].removesuffix(".py")
    assert host.broken() == (name,)
    (failure,) = host.failures
    assert failure.text_id == "plugins.unsafe-mode"
    assert failure.values["command"] == f"chmod o-w {tmp_path / victim}"
    trusting = host_of(tmp_path, trust_dirs=(tmp_path,))
    trusting.load()
    assert agents_of(trusting, tmp_path) == ["hello", "package"]


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file to somebody else")
def test_files_of_another_user_are_refused(tmp_path: Path):
    path = write(tmp_path / "hello world.py", agent("hello"))
    os.chown(path, 54321, -1)
    host = host_of(tmp_path)
    host.load()
    (failure,) = host.failures
    assert failure.text_id == "plugins.unsafe-owner"
    assert failure.values["owner"] == "54321"
    assert failure.values["command"] == f"chown root '{path}'"
    trusting = host_of(tmp_path, trust_dirs=(tmp_path,))
    trusting.load()
    assert agents_of(trusting, tmp_path) == ["hello"]


def test_no_drop_ins_cost_nothing(tmp_path: Path):
    host = host_of(tmp_path, tmp_path / "absent")
    assert not host.refresh()
    assert host.plugins == ()


UNREADABLE = """
import os, sys
from pathlib import Path
from plugin_sources import host_of
host = host_of(Path(sys.argv[1]))
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
changed = host.refresh()
print([(failure.text_id, failure.plugin) for failure in host.failures], changed)
"""


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody else")
def test_a_folder_that_may_not_be_read_is_reported():
    locked = Path(tempfile.mkdtemp())  # 0700, in a folder that everybody may enter
    root = Path(__file__).parents[3]
    folders = [root, root / "agents", root / "channels", Path(__file__).parent]
    run = subprocess.run(
        [sys.executable, "-c", UNREADABLE, str(locked)],
        env={"PYTHONPATH": os.pathsep.join(map(str, folders)), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    locked.rmdir()
    assert f"('file.unreadable', '{locked}')" in run.stdout
    assert run.stdout.strip().endswith("False")
