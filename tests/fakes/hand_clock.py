"""A clock that tests set by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

START = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


class HandClock:
    """Implements `spi.Clock`; both times move together, and only by `forward`."""

    def __init__(self, now: datetime = START) -> None:
        self._now = now
        self._seconds = 1000.0

    def now(self) -> datetime:
        return self._now

    def monotonic(self) -> float:
        return self._seconds

    def forward(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)
        self._seconds += seconds
