"""The outbox: what waits to leave, in order per chat, and what became of it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import msgspec

from jobclaw.errors import StorageError
from jobclaw.model import DeliveryError, DeliveryReceipt, OutboundMessage, chat_key, to_json
from jobclaw.spi.channel import Posted
from jobclaw.spi.store import OutboxRow, OutboxState, Waiting
from jobclaw.storage.failures import EXIT_IO
from jobclaw.storage.part import Part, last_seq, one_json
from jobclaw.storage.rows import ManyRows, SqlValue
from jobclaw.storage.states import OUTBOX_CODE, OUTBOX_STATES, from_ms
from jobclaw.storage.writer import Txn

_INSERT = ManyRows("INSERT INTO outbox (seq, id, chat, state, attempt, at, message)", 7)
_PRESENT = """
    SELECT json_group_array(id) FROM outbox WHERE id IN (SELECT value FROM json_each(?))"""
_SENDING = """
    UPDATE outbox SET attempt = attempt + 1, state = 1, at = ?
    WHERE state < 3 AND seq IN (SELECT value FROM json_each(?))"""
_ATTEMPTS = """
    SELECT json_group_object(seq, attempt) FROM outbox
    WHERE state < 3 AND seq IN (SELECT value FROM json_each(?))"""
_MARK = ManyRows(
    "WITH mark (seq, state, receipt, at) AS (",
    4,
    """) UPDATE outbox SET state = mark.state, receipt = mark.receipt, at = mark.at
    FROM mark WHERE outbox.seq = mark.seq AND outbox.state < 3""",
)
_CHATS = "SELECT chat FROM outbox WHERE state < 3 GROUP BY chat ORDER BY min(seq)"
_WAITING = """
    SELECT seq, message, state, attempt FROM outbox
    WHERE state < 3 AND chat = ? AND seq > ? ORDER BY seq LIMIT ?"""
_POSTED = """
    SELECT seq, at, message FROM outbox
    WHERE chat = ? AND seq > ? AND state BETWEEN 1 AND 3 ORDER BY seq LIMIT ?"""
_POSTED_BEFORE = """
    SELECT seq, at, message FROM outbox
    WHERE chat = ?1 AND (?2 = 0 OR seq < ?2) AND state BETWEEN 1 AND 3
    ORDER BY seq DESC LIMIT ?3"""
_COUNTS = """
    SELECT (SELECT count(*) FROM inbox WHERE state < 2),
        (SELECT count(*) FROM outbox WHERE state < 3),
        (SELECT count(*) FROM inbox WHERE state = 5)
            + (SELECT count(*) FROM outbox WHERE state = 4)"""
_SENT = OUTBOX_CODE["sent"]
_DECODER = msgspec.json.Decoder(OutboundMessage)


class _Mark(NamedTuple):
    seq: int
    state: int
    receipt: DeliveryReceipt


def put(
    txn: Txn, messages: Sequence[OutboundMessage], sending: Collection[str] = ()
) -> list[OutboxRow | None]:
    """Add messages that are ready to leave, those with ids in `sending` in their first attempt.

    None for an id that is there already.
    """
    asked = to_json([message.id for message in messages]).decode()
    present = one_json(txn, _PRESENT, asked, set[str]) if messages else set[str]()
    seq = last_seq(txn, "outbox")
    rows: list[OutboxRow | None] = []
    for message in messages:
        if message.id in present:
            rows.append(None)
            continue
        present.add(message.id)
        seq += 1
        chat = chat_key(message.target)
        leaves = message.id in sending
        state: OutboxState = "sending" if leaves else "ready"
        row = OutboxRow(seq=seq, chat=chat, message=message, state=state, attempt=int(leaves))
        rows.append(row)
    _INSERT.run(txn.db, [_columns(txn, row) for row in rows if row is not None])
    return rows


def _columns(txn: Txn, row: OutboxRow) -> tuple[SqlValue, ...]:
    message, code = row.message, OUTBOX_CODE[row.state]
    body = to_json(message).decode()
    return (row.seq, message.id, row.chat, code, row.attempt, txn.now, body)


def _sending(txn: Txn, seqs: Sequence[int]) -> list[int | StorageError]:
    if len(set(seqs)) < len(seqs):
        return [_sending(txn, [seq])[0] for seq in seqs]
    asked = to_json(seqs).decode()
    txn.db.execute(_SENDING, (txn.now, asked))
    attempts = one_json(txn, _ATTEMPTS, asked, dict[int, int])
    return [
        attempts.get(seq) or StorageError("storage.not-waiting", exit_code=EXIT_IO, seq=seq)
        for seq in seqs
    ]


def _mark(txn: Txn, marks: Sequence[_Mark]) -> list[None]:
    last = {mark.seq: mark for mark in marks}
    rows = [
        (mark.seq, mark.state, to_json(mark.receipt).decode(), txn.now)
        for mark in last.values()
    ]
    _MARK.run(txn.db, rows)
    return [None] * len(marks)


def _read_row(chat: str, row: tuple[int, str, int, int]) -> OutboxRow:
    seq, message, code, attempt = row
    state = OUTBOX_STATES[code]
    return OutboxRow(
        seq=seq,
        chat=chat,
        message=_DECODER.decode(message),
        state="unknown" if state == "sending" else state,
        attempt=attempt,
    )


def _read_posted(seq: int, at: int, message: str) -> Posted:
    return Posted(seq=seq, at=from_ms(at), message=_DECODER.decode(message))


class OutboxPart(Part):
    """The outbox half of `spi.store.Journal`."""

    async def push(self, message: OutboundMessage) -> OutboxRow | None:
        """See `Journal.push`."""
        return await self._writer.submit(put, message)

    def pending_chats(self) -> tuple[str, ...]:
        """See `Journal.pending_chats`."""
        return tuple(chat for (chat,) in self._reader.all(_CHATS, ()))

    def next_outbox(self, chat: str, after: int, limit: int) -> tuple[OutboxRow, ...]:
        """See `Journal.next_outbox`."""
        rows = self._reader.all(_WAITING, (chat, after, limit))
        return tuple(_read_row(chat, (row[0], row[1], row[2], row[3])) for row in rows)

    def posted(self, chat: str, after: int, limit: int) -> tuple[Posted, ...]:
        """See `Journal.posted`."""
        rows = self._reader.all(_POSTED, (chat, after, limit))
        return tuple(_read_posted(seq, at, message) for seq, at, message in rows)

    def posted_before(self, chat: str, before: int, limit: int) -> tuple[Posted, ...]:
        """See `Journal.posted_before`."""
        rows = self._reader.all(_POSTED_BEFORE, (chat, before, limit))
        return tuple(_read_posted(seq, at, message) for seq, at, message in reversed(rows))

    def waiting(self) -> Waiting:
        """See `Journal.waiting`."""
        [(inbox, outbox, dead)] = self._reader.all(_COUNTS, ())
        return Waiting(inbox=inbox, outbox=outbox, dead=dead)

    async def mark_sending(self, seq: int) -> int:
        """See `Journal.mark_sending`; a row that is sent or dead is a StorageError."""
        return await self._writer.submit(_sending, seq)

    async def mark_sent(self, seq: int, receipt: DeliveryReceipt) -> None:
        """See `Journal.mark_sent`; a row that is sent or dead stays as it is."""
        await self._writer.submit(_mark, _Mark(seq, _SENT, receipt))

    async def mark_failed(self, seq: int, error: DeliveryError, state: OutboxState) -> None:
        """See `Journal.mark_failed`; a row that is sent or dead stays as it is."""
        receipt = DeliveryReceipt(ok=False, error=error)
        await self._writer.submit(_mark, _Mark(seq, OUTBOX_CODE[state], receipt))
