"""The conversation as a page loads it: both sides in order, a page at a time."""

from datetime import UTC, datetime, timedelta

import pytest
from web_account import Browser, Place, texts_of

from jobclaw.model import (
    Conversation,
    InboundMessage,
    Markdown,
    OutboundMessage,
    Sender,
)
from jobclaw.spi import Posted, Said
from jobclaw_channels.web.convert import merged
from jobclaw_channels.web.identity import chat_of

START = datetime(2026, 8, 3, tzinfo=UTC)
CHAT = chat_of("default", "w")


def said(number: int, second: float) -> Said:
    message = InboundMessage(
        channel="web",
        account="default",
        conversation=Conversation(id="w"),
        sender=Sender(id="w"),
        reply=CHAT,
        received_at=START,
        platform_message_id=f"m{number}",
    )
    return Said(seq=number, at=START + timedelta(seconds=second), message=message)


def posted(number: int, second: float, re: str = "") -> Posted:
    message = OutboundMessage(
        id=f"o{number}", target=CHAT, parts=(Markdown("x"),), in_reply_to=re
    )
    return Posted(seq=number, at=START + timedelta(seconds=second), message=message)


@pytest.mark.parametrize(
    ("mine", "theirs", "order"),
    [
        ([said(1, 1), said(2, 3)], [posted(1, 2), posted(2, 4)], ["s1", "p1", "s2", "p2"]),
        ([said(1, 1), said(2, 1)], [posted(1, 2, "m1")], ["s1", "s2", "p1"]),
        ([said(1, 1)], [posted(1, 1, "m1")], ["s1", "p1"]),
        ([said(1, 0), said(2, 1)], [posted(1, 1, "m1")], ["s1", "p1", "s2"]),
        ([], [posted(1, 1), posted(2, 0)], ["p1", "p2"]),
        ([said(1, 1)], [], ["s1"]),
        ([said(1, 5)], [posted(1, 1), posted(2, 9)], ["p1", "s1", "p2"]),
    ],
)
def test_both_sides_are_merged_in_order(
    mine: list[Said], theirs: list[Posted], order: list[str]
):
    together = merged(mine, theirs)
    assert [f"{'s' if isinstance(one, Said) else 'p'}{one.seq}" for one in together] == order


class TestPages:
    @pytest.mark.parametrize("exchanges", [0, 1, 25, 26, 60])
    async def test_going_back_page_by_page_shows_everything_once(
        self, place: Place, ann: Browser, exchanges: int
    ) -> None:
        for number in range(exchanges):
            await ann.say(f"问{number}")
            await place.answer(Markdown(f"答{number}"))
        shown: list[str] = []
        page = await ann.history()
        sizes = [len(page["items"])]
        newest = page["seq"]
        while True:
            shown = texts_of(page["items"]) + shown
            if not page["before"]:
                break
            page = await ann.history(page["before"])
            sizes.append(len(page["items"]))
        assert shown == [
            text for number in range(exchanges) for text in (f"问{number}", f"答{number}")
        ]
        assert max(sizes) <= 50
        assert (newest > 0) == (exchanges > 0)

    async def test_pushes_without_a_question_are_there_too(
        self, place: Place, ann: Browser
    ) -> None:
        me = (await ann.history())["me"]
        for number in range(60):
            row = await place.store.push(
                OutboundMessage(
                    id=f"push-{number}",
                    target=chat_of("default", me),
                    parts=(Markdown(f"推{number}"),),
                    push=True,
                )
            )
            assert row is not None
            place.outbox.dispatch((row,))
        await place.idle()
        page = await ann.history()
        older = await ann.history(page["before"])
        assert texts_of(older["items"] + page["items"]) == [f"推{n}" for n in range(60)]

    @pytest.mark.parametrize("before", ["x", "1", "1.x", "-1.2", "1.2.3", "9" * 40 + ".1"])
    async def test_a_place_of_another_form_is_the_newest_page(
        self, ann: Browser, before: str
    ) -> None:
        await ann.say("一")
        assert texts_of((await ann.history(before))["items"]) == ["一"]

    async def test_a_restart_changes_nothing_of_it(self, place: Place, ann: Browser) -> None:
        await ann.say("一")
        await place.answer(Markdown("**答**"))
        before = await ann.history()
        again = Place.__new__(Place)
        await place.adapter.stop(1.0)
        await place.store.close()
        again.__init__(place.workspace)
        await again.adapter.start(again)
        ann.place = again
        assert await ann.history() == before
        place.store = again.store
        await again.adapter.stop(1.0)
