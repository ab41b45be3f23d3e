"""Limits an address: how often it may guess the token, and how much it may ask for.

Loopback guesses are counted like any other: a page or a program on this machine is no better
than one elsewhere. While an address is blocked the right token is refused as well, since a
limit that lets the right guess through limits nothing; sessions that are open go on.
"""

from __future__ import annotations

import math
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from jobclaw.spi.clock import Clock
from jobclaw.web.addresses import canonical, is_loopback
from jobclaw.web.head import RequestHead
from jobclaw.web.refusal import Refusal, wait

FAILURES_MOST, FAILURES_WITHIN_S = 10, 300.0
ADDRESSES_KEPT = 10_000
T = TypeVar("T")


class _ByAddress(Generic[T]):
    """Something for each address that was seen lately, the least recent ones forgotten."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._kept: OrderedDict[str, T] = OrderedDict()

    def of(self, address: str) -> T:
        found = self._kept.get(address)
        if found is None:
            found = self._kept[address] = self._make()
            if len(self._kept) > ADDRESSES_KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(address)
        return found


class GuessLimiter:
    """Blocks an address after ten wrong tokens within five minutes."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._failures = _ByAddress(deque[float])

    def blocked_s(self, peer: str) -> int:
        """Whole seconds until the address may try again, 0 if it may now."""
        failures, now = self._failures.of(canonical(peer)), self._clock.monotonic()
        while failures and failures[0] <= now - FAILURES_WITHIN_S:
            failures.popleft()
        if len(failures) < FAILURES_MOST:
            return 0
        return math.ceil(failures[0] + FAILURES_WITHIN_S - now)

    def failed(self, peer: str) -> None:
        """Count a wrong token."""
        self._failures.of(canonical(peer)).append(self._clock.monotonic())


@dataclass(frozen=True)
class Rate:
    """A token bucket: `burst` at once, then `per_s`."""

    per_s: float
    burst: float


PEOPLE = Rate(per_s=20.0, burst=200.0)
PLATFORMS = Rate(per_s=100.0, burst=1000.0)


@dataclass
class _Bucket:
    left: float
    at: float


class RequestLimit:
    """Limits requests of each address but loopback; webhooks have a rate of their own.

    All of a platform's traffic comes from few addresses, and it tries again later.
    """

    def __init__(self, clock: Clock, is_signed: Callable[[str, str], bool]) -> None:
        self._clock = clock
        self._is_signed = is_signed
        now = clock.monotonic()
        self._people = _ByAddress(lambda: _Bucket(PEOPLE.burst, now))
        self._platforms = _ByAddress(lambda: _Bucket(PLATFORMS.burst, now))

    def __call__(self, head: RequestHead) -> Refusal | None:
        """See `refusal.Check`."""
        if is_loopback(head.peer):
            return None
        signed = self._is_signed(head.method, head.path)
        rate = PLATFORMS if signed else PEOPLE
        bucket = (self._platforms if signed else self._people).of(canonical(head.peer))
        now = self._clock.monotonic()
        bucket.left = min(rate.burst, bucket.left + (now - bucket.at) * rate.per_s)
        bucket.at = now
        if bucket.left < 1:
            return wait("http.too-fast", max(1, math.ceil((1 - bucket.left) / rate.per_s)))
        bucket.left -= 1
        return None
