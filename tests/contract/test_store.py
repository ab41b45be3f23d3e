"""What every store promises of inbox and outbox (`jobclaw.spi.store`)."""

import asyncio
from datetime import timedelta

import msgspec
import pytest
from store_samples import (
    Place,
    answered,
    bound,
    decision,
    handled,
    ingest,
    message,
    reply,
)

from jobclaw.errors import StorageError
from jobclaw.model import (
    DeliveryError,
    DeliveryReceipt,
)
from jobclaw.spi.store import (
    Cursor,
    InboxState,
    Label,
    MemoryWrite,
    OutboxState,
    Store,
)

LANE = "console:main:c1"
SESSION = "console:main:c1:u1"
SENT = DeliveryReceipt(ok=True, message_ids=("p1",))


class TestIngest:
    async def test_an_accepted_message_waits_in_its_lane_also_after_a_restart(
        self, place: Place, store: Store
    ) -> None:
        first = await store.ingest(
            message(1), Cursor(channel="console", account="main", value="9")
        )
        assert (first.message_id, first.duplicate) == ("in-000001", False)
        store = await place.open()
        [row] = store.ready(LANE, 0, 10)
        assert (row.seq, row.message, row.attempts) == (first.seq, message(1), 0)
        assert store.cursor("console", "main") == "9"
        assert store.cursor("console", "other") == ""

    @pytest.mark.parametrize(
        ("first", "second", "outcome"),
        [
            (("event-1", "msg-1"), ("event-2", "msg-1"), "duplicate"),
            (("event-1",), ("event-1",), "duplicate"),
            (("event-1",), ("event-2",), "new"),
            ((), (), "new"),
            (("a",), (), "new"),
            (("a\0b",), ("a",), "new"),
        ],
    )
    @pytest.mark.parametrize("how", ["at once", "one by one"])
    async def test_any_known_key_makes_a_duplicate_and_no_key_never_does(
        self,
        store: Store,
        first: tuple[str, ...],
        second: tuple[str, ...],
        outcome: str,
        how: str,
    ) -> None:
        one, two = message(1, keys=first), message(2, keys=second)
        duplicate = outcome == "duplicate"
        if how == "at once":
            old, new = await asyncio.gather(store.ingest(one), store.ingest(two))
        else:
            old, new = await store.ingest(one), await store.ingest(two)
        assert not old.duplicate
        assert new.duplicate is duplicate
        if duplicate:
            assert (new.seq, new.message_id) == (old.seq, old.message_id)
        assert len(store.ready(LANE, 0, 10)) == (1 if duplicate else 2)

    async def test_keys_of_another_account_are_other_keys(self, store: Store) -> None:
        one = message(1, keys=("m",))
        other = msgspec.structs.replace(message(2, keys=("m",)), account="second")
        assert not (await store.ingest(one)).duplicate
        assert not (await store.ingest(other)).duplicate

    async def test_a_new_key_of_a_duplicate_is_remembered_too(self, store: Store) -> None:
        old = await store.ingest(message(1, keys=("msg-1",)))
        await store.ingest(message(2, keys=("event-2", "msg-1")))
        again = await store.ingest(message(3, keys=("event-2",)))
        assert (again.duplicate, again.seq) == (True, old.seq)

    async def test_duplicates_are_known_across_restarts_for_eight_days(
        self, place: Place, store: Store
    ) -> None:
        await store.ingest(message(1, keys=("msg-1",)))
        for _ in range(4):
            place.clock.move(timedelta(days=1, hours=23))
            store = await place.open()
            assert (await store.ingest(message(2, keys=("msg-1",)))).duplicate
        place.clock.move(timedelta(hours=5))
        assert not (await store.ingest(message(3, keys=("msg-1",)))).duplicate
        assert (await store.ingest(message(4, keys=("msg-1",)))).message_id == "in-000003"

    async def test_a_duplicate_moves_the_cursor(self, store: Store) -> None:
        await store.ingest(message(1, keys=("m",)))
        await store.ingest(message(2, keys=("m",)), Cursor(channel="x", account="y", value="5"))
        assert store.cursor("x", "y") == "5"

    async def test_rows_rise_in_the_order_of_acceptance(self, store: Store) -> None:
        many = await asyncio.gather(*(store.ingest(message(n)) for n in range(700)))
        seqs = [one.seq for one in many]
        assert seqs == sorted(set(seqs))

    async def test_an_id_given_twice_is_refused_and_harms_nobody_else(
        self, store: Store
    ) -> None:
        await store.ingest(message(1))
        results = await asyncio.gather(
            store.ingest(message(2)),
            store.ingest(message(1)),
            store.ingest(message(3)),
            return_exceptions=True,
        )
        assert [isinstance(one, StorageError) for one in results] == [False, True, False]
        assert [row.message.id[-1] for row in store.ready(LANE, 0, 9)] == ["1", "2", "3"]


class TestLanes:
    async def test_lanes_come_by_their_oldest_message(self, store: Store) -> None:
        seqs = await ingest(store, message(1, "b"), message(2, "a"), message(3, "b"))
        assert store.ready_lanes() == ("console:main:b", "console:main:a")
        await store.commit(handled(seqs[0], message(1, "b")))
        assert store.ready_lanes() == ("console:main:a", "console:main:b")

    async def test_a_lane_is_read_in_order_from_a_place_and_within_a_limit(
        self, store: Store
    ) -> None:
        seqs = await ingest(store, *(message(n) for n in range(5)), message(9, "other"))
        assert [row.seq for row in store.ready(LANE, seqs[0], 3)] == seqs[1:4]
        assert store.ready("console:main:nowhere", 0, 3) == ()

    async def test_an_attempt_counted_with_the_acceptance_is_a_claim(
        self, place: Place, store: Store
    ) -> None:
        counted, plain = await asyncio.gather(
            store.ingest(message(1), claimed=True), store.ingest(message(2, keys=("k",)))
        )
        again = await store.ingest(message(3, keys=("k",)), claimed=True)
        assert (again.duplicate, again.seq) == (True, plain.seq)
        store = await place.open()
        assert [row.attempts for row in store.ready(LANE, 0, 9)] == [1, 0]
        assert await store.claim(counted.seq) == 2

    async def test_a_claim_can_be_taken_back_until_the_message_is_handled(
        self, place: Place, store: Store
    ) -> None:
        seqs = [(await store.ingest(message(n), claimed=n < 2)).seq for n in range(3)]
        await store.claim(seqs[1])
        await store.commit(handled(seqs[2], message(2)))
        await asyncio.gather(*(store.unclaim(seq) for seq in (*seqs, seqs[0], 99)))
        store = await place.open()
        assert [row.attempts for row in store.ready(LANE, 0, 9)] == [0, 1]

    async def test_claims_are_counted_across_restarts(self, place: Place, store: Store) -> None:
        [seq] = await ingest(store, message(1))
        assert await store.claim(seq) == 1
        assert sorted(await asyncio.gather(store.claim(seq), store.claim(seq))) == [2, 3]
        store = await place.open()
        assert [row.attempts for row in store.ready(LANE, 0, 9)] == [3]
        assert await store.claim(seq) == 4

    @pytest.mark.parametrize("state", ["done", "dropped", "superseded", "dead"])
    async def test_what_is_handled_waits_no_more_and_cannot_be_claimed(
        self, store: Store, state: InboxState
    ) -> None:
        [seq] = await ingest(store, message(1))
        await store.commit(handled(seq, message(1), state=state))
        assert store.ready(LANE, 0, 9) == ()
        assert store.ready_lanes() == ()
        with pytest.raises(StorageError) as caught:
            await store.claim(seq)
        assert caught.value.text_id == "storage.not-waiting"


class TestCommit:
    async def test_everything_of_a_turn_becomes_true_at_once(
        self, place: Place, store: Store
    ) -> None:
        user = await store.create_user("console", "main", "u1", "小王")
        one = message(1)
        [seq] = await ingest(store, one)
        changed = msgspec.structs.replace(user, profile={"major": "物理"})
        full = msgspec.structs.replace(
            handled(seq, one, reply(one), reply(one, 1)),
            session=bound(SESSION, user),
            user=changed,
            memory=(MemoryWrite(session=SESSION, agent="chat", key="k", value="v"),),
            labels=(Label(text="t", intent="I", agent="a", source="wrong"),),
        )
        rows = await store.commit(full)
        assert [row.message.id for row in rows] == ["in-000001.0", "in-000001.1"]
        assert [(row.chat, row.state, row.attempt) for row in rows] == [(LANE, "ready", 0)] * 2
        for again in (False, True):
            now = await place.open() if again else store
            assert now.decision("in-000001") == full.decision
            assert now.read(SESSION, user.id) == full.session
            assert now.user(user.id) == changed
            assert dict(now.memory(SESSION, "chat")) == {"k": "v"}
            assert now.next_outbox(LANE, 0, 9) == rows

    async def test_a_second_commit_changes_nothing(self, store: Store) -> None:
        one = message(1)
        [seq] = await ingest(store, one)
        first = handled(seq, one, reply(one), session=bound(SESSION))
        second = msgspec.structs.replace(
            first,
            state="dead",
            decision=decision(one, agent="other"),
            session=bound(SESSION, agent="other"),
            outbox=(reply(one, 1),),
            memory=(MemoryWrite(session=SESSION, agent="a", key="k", value="v"),),
        )
        rows, none = await asyncio.gather(store.commit(first), store.commit(second))
        assert len(rows) == 1
        assert none == ()
        assert await store.commit(second) == ()
        assert store.decision(one.id) == first.decision
        assert store.read(SESSION, "u1").bound_agent == "job-search"
        assert dict(store.memory(SESSION, "a")) == {}
        assert store.next_outbox(LANE, 0, 9) == rows

    async def test_an_unknown_row_is_no_message(self, store: Store) -> None:
        assert await store.commit(handled(99, message(1), reply(message(1)))) == ()
        assert store.decision("in-000001") is None

    async def test_a_turn_writes_only_what_it_changed_of_the_user(self, store: Store) -> None:
        was = await store.create_user("console", "main", "u1", "小王")
        was = msgspec.structs.replace(was, profile={"a": "1", "b": "2"})
        await store.save_user(was)
        [seq] = await ingest(store, message(1))
        turn = msgspec.structs.replace(
            handled(seq, message(1)),
            user=msgspec.structs.replace(was, profile={"a": "9"}, locale="en"),
            user_was=was,
        )
        meanwhile = msgspec.structs.replace(was, role="vip", profile={**was.profile, "c": "3"})
        await store.save_user(meanwhile)
        await store.commit(turn)
        now = store.user(was.id)
        assert now is not None
        assert (now.role, now.locale, now.profile) == ("vip", "en", {"a": "9", "c": "3"})

    async def test_an_empty_memory_value_forgets_the_key(self, store: Store) -> None:
        for number, value in enumerate(["x", ""]):
            one = message(number)
            [seq] = await ingest(store, one)
            write = MemoryWrite(session=SESSION, agent="a", key="k", value=value)
            await store.commit(msgspec.structs.replace(handled(seq, one), memory=(write,)))
            assert dict(store.memory(SESSION, "a")) == ({"k": "x"} if value else {})
        assert dict(store.memory("other", "a")) == {}


class TestOutbox:
    async def test_chats_come_by_their_oldest_message(self, store: Store) -> None:
        rows = [await answered(store, 1, "b"), await answered(store, 2, "a")]
        rows.append(await answered(store, 3, "b"))
        assert store.pending_chats() == ("console:main:b", "console:main:a")
        await store.mark_sending(rows[0].seq)
        await store.mark_sent(rows[0].seq, SENT)
        assert store.pending_chats() == ("console:main:a", "console:main:b")
        assert [row.seq for row in store.next_outbox("console:main:b", 0, 9)] == [rows[2].seq]

    async def test_a_row_in_mid_call_reads_as_unknown_after_a_restart(
        self, place: Place, store: Store
    ) -> None:
        row = await answered(store, 1)
        assert await store.mark_sending(row.seq) == 1
        store = await place.open()
        [again] = store.next_outbox(LANE, 0, 9)
        assert (again.state, again.attempt, again.message) == ("unknown", 1, row.message)
        assert await store.mark_sending(row.seq) == 2

    async def test_rows_are_read_in_order_from_a_place_and_within_a_limit(
        self, store: Store
    ) -> None:
        rows = [await answered(store, number) for number in range(4)]
        seqs = [row.seq for row in rows]
        assert [row.seq for row in store.next_outbox(LANE, seqs[0], 2)] == seqs[1:3]

    @pytest.mark.parametrize(
        ("state", "left"), [("ready", ["ready"]), ("unknown", ["unknown"]), ("dead", [])]
    )
    async def test_a_refused_row_is_tried_again_held_or_given_up(
        self, store: Store, state: OutboxState, left: list[str]
    ) -> None:
        row = await answered(store, 1)
        await store.mark_sending(row.seq)
        error = DeliveryError(kind="network", retryable=True)
        await store.mark_failed(row.seq, error, state)
        assert [one.state for one in store.next_outbox(LANE, 0, 9)] == left
        [delivery] = store.deliveries("in-000001")
        assert delivery.state == state

    async def test_what_was_sent_stays_sent(self, store: Store) -> None:
        row = await answered(store, 1)
        await store.mark_sending(row.seq)
        await store.mark_sent(row.seq, SENT)
        await store.mark_failed(row.seq, DeliveryError(kind="unknown"), "ready")
        assert store.pending_chats() == ()
        with pytest.raises(StorageError) as caught:
            await store.mark_sending(row.seq)
        assert caught.value.text_id == "storage.not-waiting"

    @pytest.mark.parametrize("sending", [True, False])
    async def test_the_first_reply_can_be_committed_in_its_first_attempt(
        self, place: Place, store: Store, sending: bool
    ) -> None:
        one = message(1)
        [seq] = await ingest(store, one)
        turn = handled(seq, one, reply(one), reply(one, 1))
        rows = await store.commit(turn, sending=sending)
        first = ("sending", 1) if sending else ("ready", 0)
        assert [(row.state, row.attempt) for row in rows] == [first, ("ready", 0)]
        store = await place.open()
        left = store.next_outbox(LANE, 0, 9)
        first = ("unknown", 1) if sending else ("ready", 0)
        assert [(row.state, row.attempt) for row in left] == [first, ("ready", 0)]
        assert await store.mark_sending(rows[0].seq) == 1 + sending

    async def test_a_push_enters_once(self, place: Place, store: Store) -> None:
        push = msgspec.structs.replace(reply(message(1)), id="push-1", push=True)
        row, none = await asyncio.gather(store.push(push), store.push(push))
        assert row is not None
        assert none is None
        store = await place.open()
        assert await store.push(push) is None
        assert store.next_outbox(LANE, 0, 9) == (row,)
        assert [one.id for one in store.deliveries("push-1")] == ["push-1"]

    async def test_a_reply_pushed_before_is_not_repeated_by_the_commit(
        self, store: Store
    ) -> None:
        one = message(1)
        [seq] = await ingest(store, one)
        assert await store.push(reply(one)) is not None
        [row] = await store.commit(handled(seq, one, reply(one), reply(one, 1)))
        assert row.message.id == "in-000001.1"


async def test_a_closed_store_says_so(place: Place, store: Store) -> None:
    await place.close()
    with pytest.raises(StorageError) as caught:
        await store.ingest(message(1))
    assert caught.value.text_id == "storage.closed"
