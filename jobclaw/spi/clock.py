"""Time as everything reads it, so that tests can set it."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Wall time for what people see and for `expiresAt`; monotonic time for every timer."""

    def now(self) -> datetime:
        """The wall time, aware, UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds that never jump."""
        ...
