"""What every store promises of sessions, people and decisions (`jobclaw.spi.store`)."""

import asyncio
from datetime import timedelta

import msgspec
import pytest
from store_samples import (
    START,
    Place,
    answered,
    bound,
    decision,
    entry,
    handled,
    ingest,
    message,
    reply,
)

from jobclaw.errors import StorageError
from jobclaw.model import (
    Buttons,
    DeliveryReceipt,
    Markdown,
    OutboundMessage,
    Parked,
    Session,
    User,
)
from jobclaw.spi.store import (
    DecisionFilter,
    Store,
)

LANE = "console:main:c1"
SESSION = "console:main:c1:u1"
SENT = DeliveryReceipt(ok=True, message_ids=("p1",))


class TestSessions:
    async def test_an_unknown_session_is_fresh(self, store: Store) -> None:
        assert store.read(SESSION, "u1") == Session(key=SESSION, user_id="u1")

    async def test_a_session_comes_back_whole_after_a_restart(
        self, place: Place, store: Store
    ) -> None:
        full = msgspec.structs.replace(
            bound(SESSION),
            default_until=START,
            previous_agent="chat",
            history=(entry(1), entry(2)),
            parked=Parked(message_id="in-1", text="原话", why="gate"),
            clarified=True,
            greeted=True,
            last_message="in-1",
        )
        await store.save(full)
        assert store.read(SESSION, "u1") == full
        assert (await place.open()).read(SESSION, "u1") == full

    async def test_sessions_are_listed_by_last_use(self, place: Place, store: Store) -> None:
        for name in ("a", "b", "a"):
            place.clock.move(timedelta(seconds=1))
            await store.save(bound(f"console:main:{name}:u1"))
        assert [one.key[13:14] for one in store.list_sessions(10)] == ["a", "b"]
        assert len(store.list_sessions(1)) == 1

    async def test_a_session_follows_its_sender_to_another_user(
        self, place: Place, store: Store
    ) -> None:
        await store.save(bound(SESSION, "u-old"))
        moved = store.read(SESSION, "u-new")
        assert (moved.user_id, moved.bound_agent) == ("u-new", "job-search")
        await store.save(moved)
        store = await place.open()
        assert store.read(SESSION, "u-new") == moved

    async def test_history_gives_handled_exchanges_oldest_first(self, store: Store) -> None:
        for number in range(4):
            one = message(number, text=f"问{number}")
            [seq] = await ingest(store, one)
            replies = (reply(one, 0, f"答{number}"), reply(one, 1, "续"))
            await store.commit(handled(seq, one, *replies))
        dropped = message(8)
        [seq] = await ingest(store, dropped)
        await store.commit(handled(seq, dropped, state="dropped"))
        await ingest(store, message(9))
        turns = store.history(SESSION, 2)
        assert [(turn.text, turn.reply) for turn in turns] == [
            ("问2", "答2\n\n续"),
            ("问3", "答3\n\n续"),
        ]
        assert (turns[0].agent, turns[0].at) == ("chat", START)
        assert store.history("other", 5) == ()

    async def test_history_shows_markdown_alone(self, store: Store) -> None:
        one = message(1)
        [seq] = await ingest(store, one)
        parts = (Markdown("一"), Markdown("二"), Buttons(buttons=()))
        said = OutboundMessage(id="in-000001.0", target=one.reply, parts=parts)
        await store.commit(handled(seq, one, said))
        assert [turn.reply for turn in store.history(SESSION, 5)] == ["一二"]


class TestPeople:
    async def test_a_sender_seen_for_the_first_time_gets_one_user(
        self, place: Place, store: Store
    ) -> None:
        one, two, other = await asyncio.gather(
            store.create_user("console", "main", "s1", "小王"),
            store.create_user("console", "main", "s1", "另一个名字"),
            store.create_user("console", "main", "s2", "小李"),
        )
        assert one == two
        assert one.id != other.id
        assert (one.name, one.role, one.created_at) == ("小王", "free", START)
        assert one.id.isalnum()
        assert one.id == one.id.lower()
        assert await store.create_user("console", "main", "s1", "x") == one
        store = await place.open()
        assert store.user_by_identity("console", "main", "s1") == one
        assert store.user_by_identity("console", "second", "s1") is None
        assert store.user("u-none") is None
        assert store.list_users(10) == (other, one)
        assert store.list_users(1) == (other,)

    async def test_a_role_counts_at_once(self, store: Store) -> None:
        user = await store.create_user("console", "main", "s1", "")
        assert store.user_by_identity("console", "main", "s1") == user
        await store.save_user(msgspec.structs.replace(user, role="admin"))
        now = store.user_by_identity("console", "main", "s1")
        assert now is not None
        assert now.role == "admin"

    async def test_save_user_makes_one_that_is_missing(self, store: Store) -> None:
        await store.save_user(User(id="u-new", name="n"))
        assert store.user("u-new") == User(id="u-new", name="n")

    @pytest.mark.parametrize(
        ("text", "matches"),
        [("id", 1), ("telegram:bot:a:b", 1), ("a:b", 1), ("a", 0), ("bot:a:b", 0), ("", 0)],
    )
    async def test_users_are_found_exactly(self, store: Store, text: str, matches: int) -> None:
        user = await store.create_user("telegram", "bot", "a:b", "n")
        await store.create_user("telegram", "bot", "other", "n")
        wanted = user.id if text == "id" else text
        assert store.find_users(wanted) == (user,) * matches

    async def test_identities_are_linked_and_unlinked(self, store: Store) -> None:
        one = await store.create_user("console", "main", "s1", "小王")
        two = await store.create_user("telegram", "bot", "t1", "wang")
        await store.link("telegram", "bot", "t1", one.id)
        assert store.user_by_identity("telegram", "bot", "t1") == one
        assert store.identities(one.id) == (
            ("console", "main", "s1"),
            ("telegram", "bot", "t1"),
        )
        assert store.identities(two.id) == ()
        fresh = await store.unlink("telegram", "bot", "t1")
        assert fresh is not None
        assert fresh.id not in {one.id, two.id}
        assert store.user_by_identity("telegram", "bot", "t1") == fresh
        assert await store.unlink("telegram", "bot", "t1") is None
        assert await store.unlink("telegram", "bot", "nobody") is None

    async def test_linking_to_nobody_is_refused(self, store: Store) -> None:
        user = await store.create_user("console", "main", "s1", "")
        with pytest.raises(StorageError) as caught:
            await store.link("console", "main", "s1", "u-none")
        assert caught.value.text_id == "storage.no-such-user"
        assert store.user_by_identity("console", "main", "s1") == user

    async def test_a_code_is_spent_once_and_only_in_time(
        self, place: Place, store: Store
    ) -> None:
        later = START + timedelta(hours=1)
        await store.create_code("redeem", "ABCD", '{"role":"vip"}', later)
        await store.create_code("redeem", "LATE", "x", START)
        store = await place.open()
        assert await store.use_code("link", "ABCD", START) is None
        assert await store.use_code("redeem", "abcd", START) is None
        assert await store.use_code("redeem", "LATE", START) is None
        uses = await asyncio.gather(
            *(store.use_code("redeem", "ABCD", START) for _ in range(3))
        )
        assert sorted(uses, key=str) == [None, None, '{"role":"vip"}']


class TestDecisions:
    async def test_a_decision_is_found_by_our_id_or_the_newest_of_the_platforms(
        self, store: Store
    ) -> None:
        for number in (1, 2):
            one = msgspec.structs.replace(message(number), platform_message_id="same")
            [seq] = await ingest(store, one)
            await store.commit(handled(seq, one))
        first, newest = store.decision("in-000001"), store.decision("same")
        assert first is not None
        assert newest is not None
        assert (first.message, newest.message) == ("in-000001", "in-000002")
        assert store.decision("same", "u1") == newest
        assert store.decision("same", "u2") is None
        assert store.decision("in-000001", "u2") is None
        assert store.decision("nothing") is None
        assert store.decision("") is None

    @pytest.mark.parametrize(
        ("query", "numbers"),
        [
            (DecisionFilter(), [4, 3, 2, 1, 0]),
            (DecisionFilter(limit=2), [4, 3]),
            (DecisionFilter(user="u0"), [4, 2, 0]),
            (DecisionFilter(session="console:main:c1:u1"), [3, 1]),
            (DecisionFilter(agent="a2"), [2]),
            (DecisionFilter(tier="llm"), []),
            (DecisionFilter(tier="keyword", user="u1"), [3, 1]),
            (DecisionFilter(since=START + timedelta(seconds=3)), [4, 3]),
        ],
    )
    async def test_decisions_are_listed_newest_first_and_narrowed(
        self, store: Store, query: DecisionFilter, numbers: list[int]
    ) -> None:
        for number in range(5):
            one = message(number, f"c{number % 2}")
            [seq] = await ingest(store, one)
            record = decision(one, user=f"u{number % 2}", agent=f"a{number}")
            record = msgspec.structs.replace(record, at=START + timedelta(seconds=number))
            await store.commit(msgspec.structs.replace(handled(seq, one), decision=record))
        assert [int(one.message[3:]) for one in store.decisions(query)] == numbers

    async def test_deliveries_tell_what_became_of_each_reply(self, store: Store) -> None:
        one = message(1)
        [seq] = await ingest(store, one)
        first, _ = await store.commit(handled(seq, one, reply(one), reply(one, 1, "再见")))
        await answered(store, 10)  # the id of this one begins alike
        await store.mark_sending(first.seq)
        await store.mark_sent(first.seq, SENT)
        assert [(one.state, one.text) for one in store.deliveries("in-000001")] == [
            ("sent", "好的"),
            ("ready", "再见"),
        ]
        assert store.deliveries("in-00000") == ()
