"""A full disk: nothing is acknowledged, readiness is red, and both recover by themselves."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
from driver import Deployment, replies
from web_host import Host, serving, settings_in

from jobclaw.errors import StorageError
from jobclaw.service import health

ONE_MIB = 1024 * 1024
WAIT_S = 15.0
ASKED_AGAIN = "the store refuses"
LONG = """
    import asyncio
    import pathlib
    from jobclaw.spi import Agent, AgentIntro, Markdown, hookimpl

    class Long(Agent):
        intro = AgentIntro(id="long", name="Long", description="says much, after a while")
        intents = ("LONG",)
        keywords = {"LONG": {"长": 1.0}}

        async def handle(self, request):
            with open("runs", "a") as runs:
                runs.write(request.text + "\\n")
            while not pathlib.Path("go").exists():
                await asyncio.sleep(0.02)
            yield Markdown(request.text + "x" * 60_000)

    @hookimpl
    def jobclaw_agents():
        return [Long()]
"""


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 4 MiB, which only root can make."""
    if os.geteuid() != 0:
        pytest.skip("a small file system can be mounted by root only")
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["/bin/mount", "-t", "tmpfs", "-o", "size=4m", "none", folder], check=True)
    yield folder
    subprocess.run(["/bin/umount", folder], check=True)


@pytest.fixture
async def host(small_disk: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Host]:
    monkeypatch.setattr(health, "PROBE_EVERY_S", 0.0)
    async with serving(settings_in(small_disk)) as host:
        yield host


def fill(disk: Path) -> Path:
    """Leave no byte."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (ONE_MIB, 4096, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue
    return filler


async def talk(host: Host) -> None:
    """Go on until what the log had reserved is used up."""
    for _ in range(1000):
        await host.say("再来几个")


async def test_a_full_disk_is_red_until_there_is_space(host: Host, small_disk: Path):
    assert (await host.ask("/readyz")).status == 200
    await host.say("推荐几个 Java 岗位")
    filler = fill(small_disk)
    with pytest.raises(StorageError, match=r"storage\.(full|io)"):
        await talk(host)
    red = await host.ask("/readyz")
    assert red.status == 503
    assert red.json["store"]["state"] == "down"
    assert red.json["store"]["reason"].startswith("storage.")
    assert (await host.ask("/healthz")).status == 200
    assert (await host.api("/decisions?limit=1")).status == 200
    refused = await host.api("/users/codes", "POST", json={})
    assert (refused.status, refused.json["code"]) == (503, "http.no-storage")
    assert refused.headers["retry-after"] == "5"
    filler.unlink()
    assert (await host.ask("/readyz")).status == 200
    assert await host.say("还有吗")


def until(holds: Callable[[], bool]) -> None:
    """Wait for something that another process brings about."""
    end = time.monotonic() + WAIT_S
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_what_was_accepted_before_is_answered_in_order_once_there_is_space(
    small_disk: Path, tmp_path: Path
):
    home = Deployment(tmp_path, f'workspace: {small_disk}\nrouter: {{identity_gate: "off"}}')
    home.workspace = small_disk
    home.drop_in("long", LONG)
    with home.daemon() as daemon, home.chat() as chat:
        for number in (1, 2, 3):
            chat.put(id=f"m{number}", text=f"长{number}")
        until(lambda: daemon.json("GET", "/readyz")["store"]["inbox"] == 3)
        filler = fill(small_disk)
        (tmp_path / "go").touch()
        until(lambda: ASKED_AGAIN in daemon.log.read_text("utf-8"))
        chat.put(id="m4", text="长4")
        filler.unlink()
        lines = chat.wait()
        said = [line["in_reply_to"] for line in replies(lines)]
        assert said[:3] == ["m1", "m2", "m3"]
        refused = [line for line in lines if line["type"] == "error"]
        assert said[3:] == ([] if refused else ["m4"])
        assert (tmp_path / "runs").read_text("utf-8").splitlines()[:3] == ["长1", "长2", "长3"]
        chat.end()
        assert daemon.end() == 0
