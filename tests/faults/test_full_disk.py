"""A full disk: nothing is acknowledged, readiness is red, and both recover by themselves."""

from __future__ import annotations

import os
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from web_host import Host, serving, settings_in

from jobclaw.errors import StorageError
from jobclaw.service import health

ONE_MIB = 1024 * 1024


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
