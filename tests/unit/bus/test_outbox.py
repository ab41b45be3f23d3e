"""Replies leave in order, once, whatever the platform answers or whenever a process dies."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from platform_double import SmallPlatform, inbound

from jobclaw.app.core import SystemClock
from jobclaw.bus import patience
from jobclaw.bus.events import EventBus
from jobclaw.bus.outbox import MAX_ATTEMPTS, Outbox, UnknownPolicy, preview_of
from jobclaw.bus.topics import REPLY_DELIVERED, Delivered
from jobclaw.errors import StorageError
from jobclaw.model import (
    Button,
    Buttons,
    DeliveryError,
    DeliveryReceipt,
    Markdown,
    OutboundMessage,
    ReplyTarget,
)
from jobclaw.router.record import decision_without_turn
from jobclaw.spi.store import Handled, OutboxRow
from jobclaw.storage import SqliteStore, open_store


def outbound(number: int, text: str, chat: str = "c", *, push: bool = False) -> OutboundMessage:
    target = ReplyTarget(channel="small", account="a", conversation=chat)
    parts = (Markdown(text),)
    return OutboundMessage(id=f"{chat}.{number}", target=target, parts=parts, push=push)


class Way:
    """A store, an outbox and a platform, as a process has them."""

    def __init__(
        self, store: SqliteStore, platform: SmallPlatform | None, **policy: str
    ) -> None:
        self.store = store
        self.bus = EventBus()
        self.delivered: list[Delivered] = []
        self.bus.attach(REPLY_DELIVERED, self.delivered.append)
        unknown = UnknownPolicy(**policy)  # type: ignore[arg-type]

        def adapter_of(_target: ReplyTarget) -> SmallPlatform | None:
            return platform

        self.outbox = Outbox(store, self.bus, adapter_of, unknown)

    async def put(self, *messages: OutboundMessage) -> None:
        for message in messages:
            row = await self.store.push(message)
            assert row is not None
            self.outbox.dispatch((row,))

    async def idle(self) -> None:
        async with asyncio.timeout(20):
            await self.outbox.idle()


@pytest.fixture
async def store(tmp_path: Path):
    opened = open_store(tmp_path, SystemClock())
    yield opened
    await opened.close()


RETRY = DeliveryError(kind="network", retryable=True, retry_after=0.01)
FINAL = DeliveryError(kind="forbidden", detail="blocked by the user")


async def test_order_per_chat_survives_retries(store: SqliteStore):
    platform = SmallPlatform()
    platform.refusals = [RETRY, RETRY, RuntimeError("adapter's own fault"), RETRY]
    way = Way(store, platform)
    await way.put(*(outbound(n, f"m{n}") for n in range(6)))
    await way.idle()
    assert platform.texts() == [f"m{n}" for n in range(6)]
    assert [one.receipt.ok for one in way.delivered] == [True] * 6
    assert store.pending_chats() == ()


async def test_a_refused_message_is_dead_and_the_next_one_leaves(store: SqliteStore):
    platform = SmallPlatform()
    platform.refusals = [FINAL]
    way = Way(store, platform)
    await way.put(outbound(0, "lost"), outbound(1, "next"))
    await way.idle()
    assert platform.texts() == ["next"]
    assert [one.receipt.ok for one in way.delivered] == [False, True]
    assert store.pending_chats() == ()


@pytest.mark.parametrize("write", ["mark_sending", "mark_sent"])
async def test_while_the_disk_refuses_a_chat_waits_and_sends_nothing_again(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch, write: str
):
    monkeypatch.setattr(patience, "FIRST_PAUSE_S", 0.01)
    good: Callable[..., Awaitable[object]] = getattr(store, write)
    refusals = [StorageError("storage.full", exit_code=74, file="journal.db") for _ in range(3)]

    async def refusing(*arguments: object) -> object:
        if refusals:
            raise refusals.pop()
        return await good(*arguments)

    monkeypatch.setattr(store, write, refusing)
    platform = SmallPlatform()
    way = Way(store, platform)
    await way.put(outbound(0, "first"), outbound(1, "second"))
    await way.idle()
    assert refusals == []
    assert platform.texts() == ["first", "second"]
    assert store.pending_chats() == ()


async def test_a_slow_chat_delays_no_other(store: SqliteStore):
    slow, quick = SmallPlatform(), SmallPlatform()
    slow.held.clear()
    way = Way(store, None)
    way.outbox = Outbox(
        store, way.bus, lambda to: slow if to.account == "slow" else quick, UnknownPolicy()
    )
    target = ReplyTarget(channel="small", account="slow", conversation="c")
    stuck = OutboundMessage(id="s.0", target=target, parts=(Markdown("stuck"),))
    await way.put(stuck, outbound(0, "free"))
    async with asyncio.timeout(10):
        await quick.shown.wait()
    assert slow.ledger == []
    slow.held.set()
    await way.idle()
    assert slow.texts() == ["stuck"]


async def test_nothing_leaves_before_the_adapters_have_been_started(store: SqliteStore):
    platform = SmallPlatform()
    way = Way(store, platform)
    way.outbox.hold()
    await way.put(outbound(0, "first"))
    assert not way.outbox.leaves(outbound(1, "other", chat="d"))
    for _ in range(20):
        await asyncio.sleep(0)
    assert platform.ledger == []
    await way.put(outbound(1, "second"))
    way.outbox.open()
    await way.idle()
    assert platform.texts() == ["first", "second"]


async def test_a_call_that_never_returns_is_given_up_and_tried_again(store: SqliteStore):
    class Hanging(SmallPlatform):
        calls = 0

        async def send(self, message: OutboundMessage) -> DeliveryReceipt:
            self.calls += 1
            if self.calls == 1:
                await asyncio.Event().wait()
            return await super().send(message)

    platform = Hanging()
    way = Way(store, platform)
    way.outbox = Outbox(store, way.bus, lambda _: platform, UnknownPolicy(), send_s=0.05)
    await way.put(outbound(0, "late"))
    await way.idle()
    assert (platform.texts(), platform.calls) == (["late"], 2)


@pytest.mark.parametrize(
    ("push", "policy", "sent"),
    [
        (False, {}, True),
        (True, {}, False),
        (True, {"pushes": "resend"}, True),
        (False, {"answers": "hold"}, False),
    ],
)
async def test_a_crash_in_mid_call_goes_by_the_policy(
    tmp_path: Path, push: bool, policy: dict[str, str], sent: bool
):
    before = open_store(tmp_path, SystemClock())
    row = await before.push(outbound(0, "maybe", push=push))
    assert row is not None
    await before.mark_sending(row.seq)
    await before.close()
    after = open_store(tmp_path, SystemClock())
    platform = SmallPlatform()
    way = Way(after, platform, **policy)
    way.outbox.recover()
    await way.idle()
    assert platform.texts() == (["maybe"] if sent else [])
    assert after.pending_chats() == (() if sent else ("small:a:c",))
    await after.close()


async def test_what_a_process_left_is_taken_up_in_order(tmp_path: Path):
    before = open_store(tmp_path, SystemClock())
    for number in range(120):
        await before.push(outbound(number, f"m{number}", chat=f"c{number % 2}"))
    await before.close()
    after = open_store(tmp_path, SystemClock())
    platform = SmallPlatform()
    way = Way(after, platform)
    way.outbox.recover()
    await way.put(outbound(999, "new", chat="c0"))
    await way.idle()
    first = [message for message in platform.ledger if message.target.conversation == "c0"]
    assert [message.id for message in first] == [f"c0.{n}" for n in range(0, 120, 2)] + [
        "c0.999"
    ]
    assert len(platform.ledger) == 121
    await after.close()


async def test_without_its_channel_a_message_waits(store: SqliteStore):
    way = Way(store, None)
    await way.put(outbound(0, "later"))
    await way.idle()
    assert store.pending_chats() == ("small:a:c",)


async def test_a_stream_and_its_final_text_have_one_owner(store: SqliteStore):
    platform = SmallPlatform(stream="edit")
    way = Way(store, platform)
    final = outbound(0, "abc")
    for text in ("a", "ab"):
        way.outbox.preview(preview_of(outbound(0, text)))
    async with asyncio.timeout(10):
        await platform.shown.wait()
    await way.put(final)
    way.outbox.preview(preview_of(outbound(0, "too late")))
    await way.idle()
    assert platform.previews == ["ab"]
    assert platform.texts() == ["abc"]


async def test_no_preview_overtakes_what_waits(store: SqliteStore):
    platform = SmallPlatform(stream="edit")
    platform.held.clear()
    way = Way(store, platform)
    await way.put(outbound(0, "first"))
    way.outbox.preview(preview_of(outbound(1, "second, half")))
    platform.held.set()
    await way.idle()
    assert platform.previews == []
    assert platform.texts() == ["first"]


@pytest.mark.parametrize(
    ("buttons", "shown"), [(True, "t\n\nask"), (False, "t\n\nask\n1. A\n2. B")]
)
async def test_buttons_become_numbers_where_there_are_none(
    store: SqliteStore, buttons: bool, shown: str
):
    platform = SmallPlatform(buttons=buttons)
    way = Way(store, platform)
    parts = (Markdown("t"), Buttons((Button("a", "A"), Button("b", "B")), text="ask"))
    await way.put(OutboundMessage(id="x.0", target=outbound(0, "").target, parts=parts))
    await way.idle()
    [message] = platform.ledger
    assert any(isinstance(part, Buttons) for part in message.parts) == buttons
    text = "\n\n".join(p.text for p in message.parts if isinstance(p, Markdown | Buttons))
    assert text == shown


async def test_a_row_read_from_the_journal_and_then_dispatched_is_sent_once(store: SqliteStore):
    platform = SmallPlatform()
    platform.held.clear()
    way = Way(store, platform)
    row = await store.push(outbound(0, "once"))
    assert row is not None
    way.outbox.recover()
    await store.push(outbound(1, "other", chat="d"))  # time for the worker to read the journal
    way.outbox.dispatch((row,))
    await way.put(outbound(2, "next"))
    platform.held.set()
    await way.idle()
    assert platform.texts() == ["once", "next"]


async def answer(store: SqliteStore, *, sending: bool = True) -> OutboxRow:
    """Commit a message's answer, in its first attempt if `sending`; the row."""
    message = inbound("hello", 1)
    ingested = await store.ingest(message)
    at = SystemClock().now()
    decision = decision_without_turn(message, "answered", "done", at, "r")
    done = Handled(
        seq=ingested.seq, state="done", decision=decision, outbox=(outbound(0, "hi"),)
    )
    [row] = await store.commit(done, sending=sending)
    return row


@pytest.mark.parametrize(
    ("idempotent", "answers", "leaves"),
    [(False, "resend", True), (False, "hold", False), (True, "hold", True)],
)
async def test_an_answer_leaves_at_once_only_where_an_unknown_one_is_resent(
    store: SqliteStore, idempotent: bool, answers: str, leaves: bool
):
    way = Way(store, SmallPlatform(idempotent=idempotent), answers=answers)
    assert way.outbox.leaves(outbound(0, "hi")) == leaves


async def test_an_answer_waits_for_its_chat_and_for_its_channel(store: SqliteStore):
    platform = SmallPlatform()
    platform.held.clear()
    way = Way(store, platform)
    await way.put(outbound(0, "under way"))
    assert not way.outbox.leaves(outbound(1, "next"))
    assert way.outbox.leaves(outbound(1, "elsewhere", chat="d"))
    assert not Way(store, None).outbox.leaves(outbound(1, "nobody"))
    platform.held.set()
    await way.idle()
    assert way.outbox.leaves(outbound(1, "next"))


@pytest.mark.parametrize("refusals", [0, 1, MAX_ATTEMPTS - 1, MAX_ATTEMPTS])
async def test_an_attempt_counted_in_the_commit_is_one_of_all(
    store: SqliteStore, refusals: int
):
    platform = SmallPlatform()
    platform.refusals = [RETRY] * refusals
    way = Way(store, platform)
    way.outbox.dispatch((await answer(store),))
    await way.idle()
    assert platform.texts() == (["hi"] if refusals < MAX_ATTEMPTS else [])
    assert platform.refusals == []
    assert store.pending_chats() == ()


@pytest.mark.parametrize("sending", [True, False])
async def test_an_answer_committed_and_not_called_for_is_sent_by_the_next_process(
    tmp_path: Path, sending: bool
):
    before = open_store(tmp_path, SystemClock())
    await answer(before, sending=sending)
    await before.close()
    after = open_store(tmp_path, SystemClock())
    platform = SmallPlatform()
    way = Way(after, platform)
    way.outbox.recover()
    await way.idle()
    assert platform.texts() == ["hi"]
    assert after.pending_chats() == ()
    await after.close()
