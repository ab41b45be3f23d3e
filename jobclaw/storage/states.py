"""States and times as the tables hold them."""

from __future__ import annotations

from datetime import UTC, datetime

from jobclaw.spi.store import InboxState, OutboxState

INBOX_STATES: tuple[InboxState, ...] = (
    "ready",
    "handling",
    "done",
    "dropped",
    "superseded",
    "dead",
)
OUTBOX_STATES: tuple[OutboxState, ...] = ("ready", "sending", "unknown", "sent", "dead")
INBOX_CODE: dict[InboxState, int] = {name: code for code, name in enumerate(INBOX_STATES)}
OUTBOX_CODE: dict[OutboxState, int] = {name: code for code, name in enumerate(OUTBOX_STATES)}


def to_ms(at: datetime) -> int:
    """Milliseconds since 1970 of an aware time."""
    return int(at.timestamp() * 1000)


def from_ms(at: int) -> datetime:
    """The aware time, UTC."""
    return datetime.fromtimestamp(at / 1000, UTC)
