"""A disk that refuses is asked again, until it takes what it is given or nobody waits."""

import asyncio

import pytest

from jobclaw.bus import patience
from jobclaw.bus.patience import PASSING, Patience
from jobclaw.errors import StorageError


class Disk:
    """Refuses some times, then takes."""

    def __init__(self, text_id: str, times: int) -> None:
        self.text_id = text_id
        self.left = times
        self.asked = asyncio.Event()

    async def write(self) -> str:
        self.asked.set()
        if self.left:
            self.left -= 1
            raise StorageError(self.text_id, exit_code=74)
        return "written"


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "FIRST_PAUSE_S", 0.01)


@pytest.mark.parametrize("text_id", sorted(PASSING))
async def test_what_may_pass_is_waited_for(text_id: str):
    disk = Disk(text_id, 3)
    assert await Patience().until_done(disk.write) == "written"
    assert disk.left == 0


@pytest.mark.parametrize("text_id", ["storage.damaged", "storage.closed", "storage.refused"])
async def test_what_will_not_pass_is_said_at_once(text_id: str):
    disk = Disk(text_id, 3)
    with pytest.raises(StorageError):
        await Patience().until_done(disk.write)
    assert disk.left == 2


async def test_who_waits_is_woken_when_it_is_over(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(patience, "FIRST_PAUSE_S", 1000.0)
    patient, disk = Patience(), Disk("storage.full", 10)
    waiting = asyncio.create_task(patient.until_done(disk.write))
    await disk.asked.wait()
    patient.end()
    async with asyncio.timeout(10):
        with pytest.raises(StorageError):
            await waiting
    assert disk.left == 8  # asked once more before it gives up
