"""Fixtures of the embedded store's tests."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from session_desk import Desk


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    desk = Desk(tmp_path / "workspace")
    yield desk
    await desk.store.close()
