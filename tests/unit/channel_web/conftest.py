"""A web account with its store, and browsers that use it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from web_account import Browser, Place


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    place = Place(tmp_path / "workspace")
    await place.adapter.start(place)
    yield place
    await place.close()


@pytest.fixture
def ann(place: Place) -> Browser:
    return Browser(place, headers={"accept-language": "en"})


@pytest.fixture
def bob(place: Place) -> Browser:
    return Browser(place)
