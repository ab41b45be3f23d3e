"""What every store promises of a chat read back, of what waits, and of models' usage."""

from store_samples import Place, answered, handled, ingest, message, target

from jobclaw.model import DeliveryError, DeliveryReceipt, chat_key
from jobclaw.spi.store import ModelUsage, Store, Waiting

CHAT = chat_key(target())
SENT = DeliveryReceipt(ok=True, message_ids=("p1",))


class TestTranscript:
    async def test_what_was_said_comes_back_newest_page_first_in_order(
        self, store: Store
    ) -> None:
        for number in range(1, 6):
            await ingest(store, message(number))
        await ingest(store, message(6, chat="c2"))
        newest = store.said(CHAT, 0, 2)
        assert [said.message.platform_message_id for said in newest] == ["m4", "m5"]
        before = store.said(CHAT, newest[0].seq, 10)
        assert [said.message.platform_message_id for said in before] == ["m1", "m2", "m3"]
        assert store.said("console:main:nobody", 0, 10) == ()

    async def test_a_reader_goes_on_after_what_it_has_seen_and_sees_nothing_unsent(
        self, store: Store
    ) -> None:
        rows = [await answered(store, number) for number in (1, 2, 3)]
        assert store.posted(CHAT, 0, 10) == ()
        first, second, third = (row.seq for row in rows)
        await store.mark_sending(first)
        await store.mark_sent(first, SENT)
        await store.mark_sending(second)
        assert [posted.seq for posted in store.posted(CHAT, 0, 10)] == [first, second]
        assert [posted.seq for posted in store.posted(CHAT, first, 10)] == [second]
        await store.mark_failed(third, DeliveryError(kind="gone"), "dead")
        assert [posted.seq for posted in store.posted(CHAT, 0, 10)] == [first, second]

    async def test_what_left_is_read_backwards_too(self, store: Store) -> None:
        rows = [await answered(store, number) for number in (1, 2, 3)]
        for row in rows[:2]:
            await store.mark_sending(row.seq)
        first, second = rows[0].seq, rows[1].seq
        assert [posted.seq for posted in store.posted_before(CHAT, 0, 10)] == [first, second]
        assert [posted.seq for posted in store.posted_before(CHAT, 0, 1)] == [second]
        assert [posted.seq for posted in store.posted_before(CHAT, second, 10)] == [first]
        assert store.posted_before("console:main:nobody", 0, 10) == ()


async def test_what_waits_is_counted(store: Store) -> None:
    assert store.waiting() == Waiting(inbox=0, outbox=0, dead=0)
    row = await answered(store, 1)
    [seq] = await ingest(store, message(2))
    assert store.waiting() == Waiting(inbox=1, outbox=1, dead=0)
    await store.commit(handled(seq, message(2), state="dead"))
    await store.mark_failed(row.seq, DeliveryError(kind="gone"), "dead")
    assert store.waiting() == Waiting(inbox=0, outbox=0, dead=2)


async def test_usage_adds_up_a_month_and_a_model_also_after_a_restart(
    place: Place, store: Store
) -> None:
    call = ModelUsage(month="2026-11", model="m", calls=1, tokens=120, cost_usd=0.5)
    await store.add_usage(call)
    await store.add_usage(call)
    await store.add_usage(
        ModelUsage(month="2026-12", model="m", calls=1, tokens=1, cost_usd=0.0)
    )
    twice = ModelUsage(month="2026-11", model="m", calls=2, tokens=240, cost_usd=1.0)
    assert store.usage("2026-11") == (twice,)
    assert store.usage("2026-10") == ()
    assert (await place.open()).usage("2026-11") == (twice,)
