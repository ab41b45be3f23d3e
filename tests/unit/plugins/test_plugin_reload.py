"""A changed drop-in is loaded again without a restart, and the old one is let go."""

import asyncio
import gc
import os
import weakref
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from plugin_sources import agent, agents_of, host_of, write

from jobclaw.plugins import PluginHost
from jobclaw.registry import AgentRegistry

PATIENCE_S = 20
MIB = 1024 * 1024


def test_changed_new_broken_mended_and_removed(tmp_path: Path):
    path = write(tmp_path / "hello.py", agent("one"))
    host = host_of(tmp_path)
    host.load()
    assert not host.refresh()
    write(path, agent("two"))  # the same length, within the resolution of many time stamps
    assert host.refresh()
    assert agents_of(host, tmp_path) == ["two"]
    assert (host.registry.table.get("one"), host.registry.serving("ONE")) == (None, ())
    write(path, "raise ValueError('half written')")
    assert host.refresh()
    assert agents_of(host, tmp_path) == ["two"], "the working version stays"
    (failure,) = host.failures
    assert (failure.kept, host.broken()) == (True, ("hello",))
    assert not host.refresh(), "a broken version is tried once"
    write(path, agent("three"))
    write(tmp_path / "more.py", agent("more"))
    assert host.refresh()
    assert agents_of(host, tmp_path) == ["more", "three"]
    assert host.failures == ()
    path.unlink()
    assert host.refresh()
    assert agents_of(host, tmp_path) == ["more"]
    assert [info.name for info in host.plugins if info.state == "ok"][-1:] == ["more"]


def test_a_failed_one_is_tried_again_when_another_makes_room(tmp_path: Path):
    first = write(tmp_path / "a.py", agent("hello"))
    write(tmp_path / "b.py", agent("hello"))
    host = host_of(tmp_path)
    host.load()
    assert host.broken() == ("b",)
    first.unlink()
    assert host.refresh()
    assert host.failures == ()
    assert agents_of(host, tmp_path) == ["hello"]


def test_a_part_of_a_package_is_followed(tmp_path: Path):
    write(
        tmp_path / "deep" / "__init__.py",
        "from ._part import WORD\n"
        + agent("deep")
        + "Deep.intro = AgentIntro(WORD, WORD, WORD)",
    )
    for word in ("one", "two", "six"):
        write(tmp_path / "deep" / "_part.py", f"WORD = {word!r}")
        host = host_of(tmp_path)
        host.load()
        assert agents_of(host, tmp_path) == [word]
    for word in ("ten", "red"):
        write(tmp_path / "deep" / "_part.py", f"WORD = {word!r}")
        assert host.refresh()
        assert agents_of(host, tmp_path) == [word]


def test_the_version_shown_is_the_new_one(tmp_path: Path):
    path = write(tmp_path / "hello.py", agent("hello") + "__version__ = '1.0'")
    host = host_of(tmp_path)
    host.load()
    write(path, agent("hello") + "__version__ = '1.1'")
    host.refresh()
    assert [info.version for info in host.plugins if info.name == "hello"] == ["1.1"]


def _memory() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _agent(host: PluginHost[AgentRegistry]) -> object:
    entry = host.registry.get("hello")
    assert entry is not None
    return entry.agent


@pytest.fixture
def frozen() -> Iterator[None]:
    """Collections look at what the test makes, as in the daemon, not at all of pytest."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.usefixtures("frozen")
def test_a_hundred_reloads_leave_one_instance_and_no_weight(tmp_path: Path):
    ballast = "BALLAST = bytes(500_000)\n"
    path = write(tmp_path / "hello.py", ballast + agent("hello"))
    host = host_of(tmp_path)
    host.load()
    old: list[weakref.ref[object]] = []
    before = _memory()
    for number in range(100):
        old.append(weakref.ref(_agent(host)))
        write(path, f"VERSION = {number}\n{ballast}{agent('hello')}")
        assert host.refresh()
    assert [ref for ref in old if ref() is not None] == []
    assert _memory() - before < 10 * MIB
    assert [entry.id for entry in host.registry.serving("HELLO")] == ["hello"]
    assert host.registry.keywords()["HELLO"] == {"hello": 1.0}
    assert [spec.name for spec in host.registry.commands() if spec.source == "hello"] == [
        "hello"
    ]


@dataclass
class Watched:
    """A host that watches, and what it told."""

    host: PluginHost[AgentRegistry]
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    plugins: asyncio.Event = field(default_factory=asyncio.Event)
    files: asyncio.Event = field(default_factory=asyncio.Event)

    async def note_files(self) -> None:
        self.files.set()

    async def told(self, event: asyncio.Event) -> None:
        async with asyncio.timeout(PATIENCE_S):
            await event.wait()
        event.clear()


@asynccontextmanager
async def watching(host: PluginHost[AgentRegistry], *files: Path) -> AsyncGenerator[Watched]:
    host.load()
    watched = Watched(host)
    task = asyncio.create_task(
        host.watch(
            watched.stop, files, on_plugins=watched.plugins.set, on_files=watched.note_files
        )
    )
    yield watched
    watched.stop.set()
    async with asyncio.timeout(PATIENCE_S):
        await task


async def test_drop_ins_are_watched(tmp_path: Path):
    path = write(tmp_path / "hello.py", agent("one"))
    async with watching(host_of(tmp_path)) as watched:
        write(path, agent("two"))
        await watched.told(watched.plugins)
        assert agents_of(watched.host, tmp_path) == ["two"]
        write(tmp_path / "package" / "__init__.py", agent("package"))
        await watched.told(watched.plugins)
        assert agents_of(watched.host, tmp_path) == ["package", "two"]
        path.unlink()
        await watched.told(watched.plugins)
        assert agents_of(watched.host, tmp_path) == ["package"]
        assert not watched.files.is_set()


async def test_tables_are_watched(tmp_path: Path):
    table, overlay = tmp_path / "keywords.yaml", tmp_path / "keywords.local.yaml"
    write(table, "intents: {}")
    async with watching(host_of(tmp_path / "agents"), table, overlay) as watched:
        write(table, "intents: {A: {a: 1}}")
        await watched.told(watched.files)
        write(overlay, "intents: {A: {b: 1}}")
        await watched.told(watched.files)
        overlay.unlink()
        await watched.told(watched.files)
        assert not watched.plugins.is_set()


async def test_a_folder_may_appear_later(tmp_path: Path):
    async with watching(host_of(tmp_path / "agents")) as watched:
        write(tmp_path / "agents" / "hello.py", agent("hello"))
        await watched.told(watched.plugins)
        assert agents_of(watched.host, tmp_path) == ["hello"]


async def test_a_hanging_new_version_does_not_hold_the_loop(tmp_path: Path):
    path = write(tmp_path / "hello.py", agent("hello"))
    began = tmp_path / "began"
    turns = 0
    async with watching(host_of(tmp_path, limit_s=1.0)) as watched:
        write(
            path, f"import pathlib, time\npathlib.Path({str(began)!r}).touch()\ntime.sleep(15)"
        )
        async with asyncio.timeout(PATIENCE_S):
            while not watched.plugins.is_set():
                await asyncio.sleep(0.01)
                turns += began.exists()
        assert turns > 5  # a loop that is held turns once or twice after it
        assert agents_of(watched.host, tmp_path) == ["hello"]
        assert [failure.text_id for failure in watched.host.failures] == ["plugins.too-slow"]
