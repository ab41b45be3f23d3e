"""What every store promises of lists read in parts, single sessions, and its own health."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from store_samples import Place, answered, bound, target

from jobclaw.errors import StorageError
from jobclaw.model import Markdown, OutboundMessage, chat_key
from jobclaw.spi.store import DecisionFilter, Store

SESSION = "console:main:c1:u1"


def in_parts(part: Callable[[str], list[str]]) -> list[str]:
    """A whole list, each part after the last of the one before."""
    found: list[str] = []
    while more := part(found[-1] if found else ""):
        found += more
    return found


@pytest.mark.parametrize("size", [1, 2, 3, 10])
async def test_users_are_read_in_parts(store: Store, size: int):
    for sender in "abcde":
        await store.create_user("console", "main", sender, sender)
    whole = [user.id for user in store.list_users(10)]
    assert len(whole) == 5
    assert in_parts(lambda at: [one.id for one in store.list_users(size, at)]) == whole
    assert store.list_users(10, "nobody") == ()


@pytest.mark.parametrize("size", [1, 2, 10])
async def test_sessions_are_read_in_parts_though_they_are_as_old(store: Store, size: int):
    for chat in "abcde":  # the clock stands still
        await store.save(bound(f"console:main:{chat}:u1", "u1"))
    whole = [session.key for session in store.list_sessions(10)]
    assert len(whole) == 5
    assert in_parts(lambda at: [one.key for one in store.list_sessions(size, at)]) == whole
    assert store.list_sessions(10, "none") == ()


@pytest.mark.parametrize("size", [1, 2, 10])
async def test_decisions_are_read_in_parts(store: Store, size: int):
    for number in range(1, 6):
        await answered(store, number)

    def part(before: str) -> list[str]:
        query = DecisionFilter(user="u1", limit=size, before=before)
        return [one.message for one in store.decisions(query)]

    whole = [one.message for one in store.decisions(DecisionFilter())]
    assert whole == [f"in-{number:06d}" for number in (5, 4, 3, 2, 1)]
    assert in_parts(part) == whole
    assert store.decisions(DecisionFilter(before="none")) == ()


async def test_a_session_is_found_by_its_key_alone(place: Place, store: Store):
    assert store.session(SESSION) is None
    saved = bound(SESSION, "u1")
    await store.save(saved)
    assert store.session(SESSION) == saved
    assert store.session(f"{SESSION}x") is None
    assert (await place.open()).session(SESSION) == saved


async def test_a_delivery_names_its_chat(store: Store):
    message = OutboundMessage(id="push-1", target=target("群:一"), parts=(Markdown("好"),))
    await store.push(message)
    [delivery] = store.deliveries("push-1")
    assert (delivery.chat, delivery.text) == (chat_key(target("群:一")), "好")


async def test_a_probe_writes_and_leaves_nothing_to_do(place: Place, store: Store):
    before = store.waiting()
    for _ in range(3):
        await store.probe()
    assert store.waiting() == before
    await store.close()
    with pytest.raises(StorageError):
        await store.probe()
    again = await place.open()
    await again.probe()
    assert again.list_users(10) == ()
