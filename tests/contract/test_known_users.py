"""A user is read from memory, and never from an old one."""

import msgspec
from store_samples import Place, bound, handled, ingest, message

from jobclaw.spi.store import Store
from jobclaw.storage import open_store
from jobclaw.storage.known_users import USERS_KEPT, KnownUsers

WHO = ("console", "main", "u1")


async def test_what_this_process_writes_is_seen_at_once(store: Store) -> None:
    user = await store.create_user(*WHO, "小王")
    assert store.user_by_identity(*WHO) == user
    vip = msgspec.structs.replace(user, role="vip")
    await store.save_user(vip)
    assert store.user_by_identity(*WHO) == vip
    [seq] = await ingest(store, message(1))
    record = handled(seq, message(1), session=bound("console:main:c1:u1", vip))
    renamed = msgspec.structs.replace(vip, name="大王")
    await store.commit(msgspec.structs.replace(record, user=renamed, user_was=vip))
    assert store.user_by_identity(*WHO) == renamed


async def test_what_another_process_wrote_counts_from_the_next_message(
    place: Place, store: Store
) -> None:
    user = await store.create_user(*WHO, "小王")
    assert store.user_by_identity(*WHO) == user
    other = open_store(place.folder, place.clock)
    await other.save_user(msgspec.structs.replace(user, role="admin"))
    await other.close()
    await ingest(store, message(1))
    found = store.user_by_identity(*WHO)
    assert found is not None
    assert found.role == "admin"


async def test_identities_that_move_take_nobody_along(store: Store) -> None:
    one = await store.create_user(*WHO, "one")
    two = await store.create_user("console", "main", "u2", "two")
    assert store.user_by_identity(*WHO) == one
    await store.link(*WHO, two.id)
    assert store.user_by_identity(*WHO) == two
    fresh = await store.unlink(*WHO)
    assert store.user_by_identity(*WHO) == fresh


async def test_it_does_not_grow_with_users(store: Store) -> None:
    user = await store.create_user(*WHO, "one")
    known = KnownUsers(lambda: 0)
    for number in range(USERS_KEPT + 100):
        known.keep(("c", "a", f"{number}"), msgspec.structs.replace(user, id=f"{number}"))
    assert known.get(("c", "a", "0")) is None
    assert known.get(("c", "a", f"{USERS_KEPT + 99}")) is not None
