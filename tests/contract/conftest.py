"""Stores to test, one for each implementation of `jobclaw.spi.store`."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from store_samples import Place

from jobclaw.spi.store import Store


@pytest.fixture(params=["sqlite"])
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    place = Place(tmp_path / "workspace")
    yield place
    await place.close()


@pytest.fixture
async def store(place: Place) -> Store:
    return await place.open()
