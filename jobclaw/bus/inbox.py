"""The door of the daemon: a message is accepted once it is on disk, never before.

`accept` is what a channel awaits before it acknowledges the platform. Only a new message goes
on to the bus; a duplicate is recognised by its keys and goes nowhere.
"""

from __future__ import annotations

import msgspec
from ulid import ULID

from jobclaw.bus.events import EventBus
from jobclaw.bus.topics import MESSAGE_RECEIVED
from jobclaw.model import InboundMessage
from jobclaw.spi.channel import Accepted
from jobclaw.spi.store import Cursor, InboxRow, Journal


class Inbox:
    """Accepts messages durably and tells the bus."""

    def __init__(self, journal: Journal, bus: EventBus) -> None:
        self._journal = journal
        self._bus = bus

    async def accept(self, message: InboundMessage, cursor: Cursor | None = None) -> Accepted:
        """Store the message (and the platform cursor) and return when that is on disk.

        Raises:
            StorageError: it could not be stored; the platform must not be acknowledged.
        """
        if not message.id:
            message = msgspec.structs.replace(message, id=str(ULID()))
        ingested = await self._journal.ingest(message, cursor)
        if not ingested.duplicate:
            row = InboxRow(seq=ingested.seq, message=message, attempts=0)
            self._bus.publish(MESSAGE_RECEIVED, row)
        return Accepted(message_id=ingested.message_id, duplicate=ingested.duplicate)
