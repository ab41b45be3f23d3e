"""What scenarios share: one chat or daemon over a module's own `home`, a user for each test.

A module says what is in its deployment by a fixture `home`, and may define a chat of its own.
"""

from collections.abc import Iterator

import pytest
from driver import Chat, Daemon, Deployment, Speaker


@pytest.fixture(scope="module")
def shared_chat(home: Deployment) -> Iterator[Chat]:
    """One chat for all tests of a module."""
    with home.chat() as running:
        yield running


@pytest.fixture
def chat(shared_chat: Chat, request: pytest.FixtureRequest) -> Speaker:
    """A user of its own."""
    return Speaker(shared_chat, request.node.nodeid)


@pytest.fixture(scope="module")
def daemon(home: Deployment) -> Iterator[Daemon]:
    """One daemon for all tests of a module."""
    with home.daemon() as running:
        yield running
