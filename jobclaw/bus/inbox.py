"""The door of the daemon: a message is accepted once it is on disk, never before.

`accept` is what a channel awaits before it acknowledges the platform. Only a new message goes
on to the bus; a duplicate is recognised by its keys and goes nowhere.
"""

from __future__ import annotations

import logging
from typing import Protocol

import msgspec
from ulid import ULID

from jobclaw.bus.events import EventBus
from jobclaw.bus.topics import MESSAGE_RECEIVED
from jobclaw.model import InboundMessage
from jobclaw.spi.channel import Accepted
from jobclaw.spi.store import Cursor, InboxRow, Ingested, Journal
from jobclaw.spi.trace import CURRENT_MESSAGE

_log = logging.getLogger(__name__)


class Admission(Protocol):
    """Who knows which messages start at once; the lanes, seen from here."""

    def admit(self, message: InboundMessage) -> bool:
        """Whether the message starts as soon as it is accepted."""
        ...

    def release(self, message: InboundMessage) -> None:
        """An admitted message is on disk, or will never be."""
        ...


class Inbox:
    """Accepts messages durably and tells the bus.

    What `lanes` admit is accepted with its first attempt counted, which saves an operation.
    """

    def __init__(self, journal: Journal, bus: EventBus, lanes: Admission | None = None) -> None:
        self._journal = journal
        self._bus = bus
        self._lanes = lanes

    async def accept(self, message: InboundMessage, cursor: Cursor | None = None) -> Accepted:
        """Store the message (and the platform cursor) and return when that is on disk.

        Raises:
            StorageError: it could not be stored; the platform must not be acknowledged.
        """
        if not message.id:
            message = msgspec.structs.replace(message, id=str(ULID()))
        lanes = self._lanes
        claimed = lanes is not None and lanes.admit(message)
        try:
            ingested = await self._journal.ingest(message, cursor, claimed=claimed)
        finally:
            if lanes is not None and claimed:
                lanes.release(message)
        if _log.isEnabledFor(logging.DEBUG):
            _say(ingested, message.channel)
        if not ingested.duplicate:
            row = InboxRow(seq=ingested.seq, message=message, attempts=int(claimed))
            self._bus.publish(MESSAGE_RECEIVED, row)
        return Accepted(message_id=ingested.message_id, duplicate=ingested.duplicate)


def _say(ingested: Ingested, channel: str) -> None:
    """Log under the message's id; the task that accepts it may go on to others."""
    token = CURRENT_MESSAGE.set(ingested.message_id)
    outcome = "a duplicate" if ingested.duplicate else "accepted"
    _log.debug(outcome, extra={"channel": channel})
    CURRENT_MESSAGE.reset(token)
