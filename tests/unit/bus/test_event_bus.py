"""One subscriber's fault is its own (public fault RUN-07)."""

import asyncio

import pytest

from jobclaw.bus.events import EventBus, Topic

NUMBERS: Topic[int] = Topic("numbers")


@pytest.fixture
async def bus():
    running = EventBus()
    yield running
    await running.close()


async def test_a_raising_and_a_hanging_subscriber_stop_nobody(bus: EventBus):
    seen: list[int] = []

    async def raises(number: int) -> None:
        raise RuntimeError(str(number))

    async def hangs(_: int) -> None:
        await asyncio.Event().wait()

    async def counts(number: int) -> None:
        seen.append(number)

    raising = bus.subscribe(NUMBERS, "raises", raises)
    bus.subscribe(NUMBERS, "hangs", hangs)
    counting = bus.subscribe(NUMBERS, "counts", counts)
    for number in range(100):
        bus.publish(NUMBERS, number)
    await counting.idle()
    await raising.idle()
    assert seen == list(range(100))
    assert raising.handled == 0


async def test_a_slow_subscriber_is_bounded_and_its_misses_are_counted(
    bus: EventBus, caplog: pytest.LogCaptureFixture
):
    async def hangs(_: int) -> None:
        await asyncio.Event().wait()

    slow = bus.subscribe(NUMBERS, "slow", hangs, limit=10)
    for number in range(30):
        bus.publish(NUMBERS, number)
    assert slow.missed == 20
    assert len([record for record in caplog.records if "slow" in record.message]) == 1


async def test_listeners_see_every_event_before_publish_returns(bus: EventBus):
    seen: list[int] = []

    def breaks(number: int) -> None:
        raise ValueError(str(number))

    bus.attach(NUMBERS, breaks)
    bus.attach(NUMBERS, seen.append)
    bus.publish(NUMBERS, 1)
    bus.publish(NUMBERS, 2)
    assert seen == [1, 2]


async def test_topics_do_not_mix(bus: EventBus):
    seen: list[int] = []
    bus.attach(NUMBERS, seen.append)
    bus.publish(Topic[int]("others"), 1)
    assert seen == []
