"""The breaker: what counts, how long it stays open, and who may probe."""

import pytest
from fakes.hand_clock import HandClock

from jobclaw.llm.breaker import OPEN_MOST_S, Breaker
from jobclaw.spi.llm import Failure


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


def breaker_of(clock: HandClock, *, cold: bool = False) -> Breaker:
    return Breaker(clock.monotonic, failures=3, open_s=30.0, cold=cold)


def fail(breaker: Breaker, why: Failure, times: int) -> None:
    for _ in range(times):
        assert breaker.admit()
        breaker.failed(why)


@pytest.mark.parametrize("why", ["timeout", "rate-limited", "error", "invalid"])
def test_failures_in_a_row_open_it(clock: HandClock, why: Failure):
    breaker = breaker_of(clock)
    fail(breaker, why, 2)
    assert breaker.state == "closed"
    fail(breaker, why, 1)
    assert breaker.state == "open"
    assert not breaker.admit()
    assert breaker.remaining_s() == pytest.approx(30)


@pytest.mark.parametrize("why", ["open", "budget", "missing"])
def test_what_is_not_the_models_fault_does_not_count(clock: HandClock, why: Failure):
    breaker = breaker_of(clock)
    fail(breaker, why, 10)
    assert breaker.state == "closed"


def test_a_success_forgets_the_failures_before(clock: HandClock):
    breaker = breaker_of(clock)
    fail(breaker, "timeout", 2)
    assert breaker.admit()
    breaker.succeeded()
    fail(breaker, "timeout", 2)
    assert breaker.state == "closed"


def test_one_probe_at_a_time_and_its_success_closes(clock: HandClock):
    breaker = breaker_of(clock)
    fail(breaker, "timeout", 3)
    clock.forward(30)
    assert breaker.state == "half-open"
    assert breaker.admit()
    assert not breaker.admit()
    breaker.succeeded()
    assert breaker.state == "closed"
    assert breaker.admit()
    assert breaker.admit()


def test_a_failing_probe_opens_it_for_twice_as_long_up_to_a_limit(clock: HandClock):
    breaker = breaker_of(clock)
    fail(breaker, "error", 3)
    waits: list[float] = []
    for _ in range(6):
        waits.append(breaker.remaining_s())
        clock.forward(waits[-1])
        fail(breaker, "error", 1)
    assert waits == pytest.approx([30, 60, 120, 240, OPEN_MOST_S, OPEN_MOST_S])


def test_a_cancelled_probe_makes_room_for_another(clock: HandClock):
    breaker = breaker_of(clock)
    fail(breaker, "timeout", 3)
    clock.forward(30)
    assert breaker.admit()
    breaker.abandoned()
    assert breaker.admit()


def test_a_call_from_before_it_opened_says_nothing_new(clock: HandClock):
    breaker = breaker_of(clock)
    for _ in range(5):
        assert breaker.admit()
    for _ in range(5):
        breaker.failed("timeout")
    assert breaker.remaining_s() == pytest.approx(30)


def test_a_long_retry_after_opens_at_once(clock: HandClock):
    breaker = breaker_of(clock)
    assert breaker.admit()
    breaker.failed("rate-limited", retry_after=100)
    assert breaker.remaining_s() == pytest.approx(100)
    other = breaker_of(clock)
    assert other.admit()
    other.failed("rate-limited", retry_after=2)
    assert other.state == "closed"


def test_a_refused_key_stays_refused(clock: HandClock):
    breaker = breaker_of(clock)
    fail(breaker, "auth", 1)
    clock.forward(1_000_000)
    assert breaker.state == "refused"
    assert not breaker.admit()


def test_a_cold_models_timeouts_do_not_count_until_it_has_answered(clock: HandClock):
    breaker = breaker_of(clock, cold=True)
    fail(breaker, "timeout", 10)
    assert breaker.state == "closed"
    assert breaker.admit()
    breaker.succeeded()
    fail(breaker, "timeout", 3)
    assert breaker.state == "open"
    fails_otherwise = breaker_of(clock, cold=True)
    fail(fails_otherwise, "error", 3)
    assert fails_otherwise.state == "open"


def test_an_open_one_admits_nobody(clock: HandClock):
    breaker = breaker_of(clock)
    fail(breaker, "timeout", 3)
    assert not any(breaker.admit() for _ in range(1000))
