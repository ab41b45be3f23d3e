"""Fixtures that every kind of test shares."""

import os
from pathlib import Path

import pytest
from driver import Deployment

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def deployment(tmp_path: Path) -> Deployment:
    """A fresh deployment without the profile questions."""
    return Deployment(tmp_path)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with the cases and data that are given to the project, not part of it."""
    data = Path(os.environ.get("JOBCLAW_DATA", ROOT.parent / "shared" / "data"))
    if not data.is_dir():
        pytest.skip(f"the shared data is not here: {data}")
    return data.parent
