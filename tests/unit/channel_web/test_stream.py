"""What an open page is told: everything once, in order, also after it was away."""

import asyncio
import gc
from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec
import pytest
from web_account import Browser, Place, json_of, texts_of

from jobclaw.model import Button, Buttons, Markdown, OutboundMessage, Progress, ReplyTarget
from jobclaw.spi import Posted
from jobclaw_channels.web.markdown_tree import MarkdownTree
from jobclaw_channels.web.streams import KEEP_ALIVE, SAID_MOST, Stream, Streams


async def exchange(place: Place, browser: Browser, number: int) -> None:
    await browser.say(f"问{number}")
    await place.answer(Markdown(f"答{number}"))


class TestReplies:
    async def test_an_open_page_hears_the_reply_with_its_number(
        self, place: Place, ann: Browser
    ) -> None:
        await ann.history()
        listener = await ann.listen()
        await ann.say("问")
        reply = await place.answer(Markdown("**答**"), Buttons((Button("a", "好"),)))
        said, posted = await listener.next(), await listener.next()
        assert (said["event"], said["id"]) == ("said", "")
        assert (posted["event"], posted["id"]) == ("posted", str(posted["data"]["seq"]))
        assert posted["data"]["id"] == reply.id
        assert posted["data"]["re"] == "m1"
        assert [block["t"] for block in posted["data"]["blocks"]] == ["text", "buttons"]

    @pytest.mark.parametrize("by_header", [True, False])
    async def test_who_was_away_goes_on_after_the_last_reply_it_saw(
        self, place: Place, ann: Browser, by_header: bool
    ) -> None:
        for number in range(4):
            await exchange(place, ann, number)
        seen = (await ann.history())["items"][3]["seq"]
        listener = await ann.listen(
            0 if by_header else seen, header=str(seen) if by_header else ""
        )
        told = [(await listener.until("posted"))["data"] for _ in range(2)]
        assert texts_of(told) == ["答2", "答3"]

    async def test_a_page_of_history_and_the_stream_after_it_leave_no_gap(
        self, place: Place, ann: Browser
    ) -> None:
        await exchange(place, ann, 0)
        page = await ann.history()
        await exchange(place, ann, 1)
        listener = await ann.listen(page["seq"])
        assert texts_of([(await listener.until("posted"))["data"]]) == ["答1"]

    async def test_many_missed_replies_come_in_order_each_once(
        self, place: Place, ann: Browser
    ) -> None:
        for number in range(45):
            await exchange(place, ann, number)
        listener = await ann.listen()
        told = [(await listener.until("posted"))["data"] for _ in range(45)]
        assert texts_of(told) == [f"答{number}" for number in range(45)]

    @pytest.mark.parametrize("given", ["x", "-1", "1e3", "9" * 30, "１"])
    async def test_a_place_of_another_form_is_the_beginning(
        self, place: Place, ann: Browser, given: str
    ) -> None:
        await exchange(place, ann, 0)
        listener = await ann.listen(header=given)
        assert texts_of([(await listener.until("posted"))["data"]]) == ["答0"]

    async def test_no_page_hears_anothers_replies(
        self, place: Place, ann: Browser, bob: Browser
    ) -> None:
        await bob.history()
        listener = await bob.listen()
        await exchange(place, ann, 0)
        await exchange(place, bob, 1)
        said, posted = await listener.next(), await listener.next()
        assert texts_of([said["data"], posted["data"]]) == ["问1", "答1"]

    async def test_without_a_cookie_there_is_no_stream(self, place: Place) -> None:
        response = await Browser(place).get("/chat/api/stream")
        assert (response.status, json_of(response)["error"]) == (401, "web.no-identity")


class TestTabs:
    async def test_every_tab_hears_everything(self, place: Place, ann: Browser) -> None:
        await ann.history()
        tabs = [await ann.listen() for _ in range(3)]
        await exchange(place, ann, 0)
        for tab in tabs:
            said, posted = await tab.next(), await tab.next()
            assert texts_of([said["data"], posted["data"]]) == ["问0", "答0"]

    async def test_a_duplicate_is_told_to_nobody(self, place: Place, ann: Browser) -> None:
        await ann.history()
        listener = await ann.listen()
        body = {"client_msg_id": "same", "text": "一"}
        for _ in range(3):
            await ann.post("/chat/api/messages", body)
        await place.answer(Markdown("答"))
        assert [(await listener.next())["event"] for _ in range(2)] == ["said", "posted"]

    async def test_there_is_a_limit_and_closing_makes_room(self, ann: Browser) -> None:
        await ann.history()
        tabs = [await ann.listen() for _ in range(20)]
        refused = await ann.get("/chat/api/stream")
        assert (refused.status, json_of(refused)["error"]) == (429, "web.too-many-streams")
        await tabs[0].leave()
        assert await ann.listen()

    async def test_stopping_ends_every_stream(self, place: Place, ann: Browser) -> None:
        await ann.history()
        tabs = [await ann.listen() for _ in range(2)]
        ends = [asyncio.create_task(tab.over()) for tab in tabs]
        await place.adapter.stop(1.0)
        assert await asyncio.gather(*ends) == [True, True]


class TestPreviews:
    async def test_a_growing_reply_is_shown_without_a_number_and_then_replaced(
        self, place: Place, ann: Browser
    ) -> None:
        await ann.history()
        listener = await ann.listen()
        await ann.say("问")
        row = await place.next()
        place.preview(row, "答**一")
        delta = await listener.until("delta")
        assert (delta["id"], delta["data"]["re"]) == ("", "m1")
        assert texts_of([{"type": "posted", **delta["data"]}]) == ["答**一"]
        place.received.put_nowait(row)
        reply = await place.answer(Markdown("答**一二**"))
        posted = (await listener.until("posted"))["data"]
        assert delta["data"]["id"] == posted["id"] == reply.id
        assert texts_of([posted]) == ["答一二"]

    async def test_a_line_of_progress_is_told_as_such(self, place: Place, ann: Browser) -> None:
        await ann.history()
        listener = await ann.listen()
        await ann.say("问")
        row = await place.next()
        working = OutboundMessage(
            id="x.0", target=row.message.reply, parts=(Progress("找岗位"),), op="stream_delta"
        )
        assert (await place.adapter.send(working)).ok
        data = (await listener.until("delta"))["data"]
        assert (data["progress"], data["blocks"]) == ("找岗位", [])

    async def test_a_slow_reader_gets_the_newest_state_only(self) -> None:
        streams, stream = _open(most=1)
        for length in range(1, 500):
            streams.preview("w", _growing("字" * length))
        assert b"hello" in await anext(stream)
        told = await anext(stream)
        assert ("字" * 499).encode() in told
        streams.close()
        with pytest.raises(StopAsyncIteration):
            await anext(stream)

    @pytest.mark.parametrize(("asked", "stays"), [("m2", False), ("m1", True), ("", True)])
    async def test_a_reply_ends_what_grew_for_an_earlier_question(
        self, asked: str, stays: bool
    ) -> None:
        reply = msgspec.structs.replace(_growing("已停止"), id="y.0", in_reply_to=asked)
        posted = [Posted(seq=1, at=datetime.now(UTC), message=reply)]
        streams = Streams(MarkdownTree(), 1)
        stream = streams.open("w", lambda after, _: posted if after < 1 else [], 0)
        assert stream is not None
        stream.keep_alive_s = 0.01
        streams.preview("w", msgspec.structs.replace(_growing("半"), in_reply_to="m1"))
        told = [await anext(stream) for _ in range(3)]
        assert b"hello" in told[0]
        assert b"posted" in told[1]
        assert (b"delta" in told[2]) is stays

    async def test_nobody_who_listens_costs_nothing(self, place: Place) -> None:
        receipt = await place.adapter.send(_growing("字"))
        assert receipt.ok


class TestBounds:
    async def test_a_silent_stream_says_that_it_is_still_there(self) -> None:
        streams, stream = _open(most=1)
        stream.keep_alive_s = 0.01
        assert b"hello" in await anext(stream)
        assert [await anext(stream) for _ in range(2)] == [KEEP_ALIVE] * 2
        streams.said("w", b"event: said\n\n")
        assert await anext(stream) == b"event: said\n\n"

    async def test_a_reader_who_falls_behind_is_dropped(self) -> None:
        streams, stream = _open(most=1)
        for _ in range(SAID_MOST + 1):
            streams.said("w", b"event: said\n\n")
        assert streams.count() == 0
        with pytest.raises(StopAsyncIteration):
            await anext(stream)

    async def test_a_reader_that_is_cancelled_frees_its_place(self) -> None:
        streams, stream = _open(most=1)
        await anext(stream)
        waiting = asyncio.ensure_future(anext(stream))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        assert streams.count() == 0

    async def test_nothing_is_kept_of_closed_pages(self, place: Place) -> None:
        browsers = [Browser(place) for _ in range(50)]
        for browser in browsers:
            await browser.history()
            await (await browser.listen()).leave()
        gc.collect()
        assert not [thing for thing in gc.get_objects() if isinstance(thing, Stream)]


def _nothing(_after: int, _limit: int) -> Sequence[Posted]:
    return ()


def _open(most: int) -> tuple[Streams, Stream]:
    streams = Streams(MarkdownTree(), most)
    stream = streams.open("w", _nothing, 0)
    assert stream is not None
    return streams, stream


def _growing(text: str) -> OutboundMessage:
    target = ReplyTarget(channel="web", account="default", conversation="w")
    return OutboundMessage(id="x.0", target=target, parts=(Markdown(text),), op="stream_delta")
