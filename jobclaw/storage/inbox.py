"""The inbox: accepted messages, their deduplication keys, and the channels' cursors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from jobclaw.errors import StorageError
from jobclaw.model import InboundMessage, lane_key, to_json
from jobclaw.spi.channel import Said
from jobclaw.spi.store import Cursor, InboxRow, Ingested
from jobclaw.storage.failures import EXIT_IO
from jobclaw.storage.part import Access, Part, last_seq, one_json
from jobclaw.storage.rows import ManyRows, SqlValue
from jobclaw.storage.states import from_ms
from jobclaw.storage.writer import Txn, run_each

MS_PER_DAY = 24 * 3600 * 1000
_INSERT = ManyRows(
    "INSERT INTO inbox (seq, id, lane, platform_id, state, attempts, at, message)", 8
)
_INSERT_KEYS = ManyRows("INSERT OR REPLACE INTO dedup (channel, account, key, seq, at)", 5)
_INSERT_CURSORS = ManyRows("INSERT OR REPLACE INTO cursor (channel, account, value)", 3)
_KNOWN = ManyRows(
    "WITH asked (number, channel, account, key, oldest) AS (",
    5,
    """) SELECT json_group_array(json_array(asked.number, inbox.seq, inbox.id)) FROM asked
    CROSS JOIN dedup ON dedup.channel = asked.channel AND dedup.account = asked.account
        AND dedup.key = asked.key AND dedup.at >= asked.oldest
    CROSS JOIN inbox ON inbox.seq = dedup.seq""",
)
_CLAIM = """
    UPDATE inbox SET attempts = attempts + 1, state = 1
    WHERE state < 2 AND seq IN (SELECT value FROM json_each(?))"""
_CLAIMED = """
    SELECT json_group_object(seq, attempts) FROM inbox
    WHERE state < 2 AND seq IN (SELECT value FROM json_each(?))"""
_UNCLAIM = """
    UPDATE inbox SET attempts = attempts - 1, state = 0
    WHERE state = 1 AND attempts > 0 AND seq IN (SELECT value FROM json_each(?))"""
_LANES = "SELECT lane FROM inbox WHERE state < 2 GROUP BY lane ORDER BY min(seq)"
_READY = """
    SELECT seq, message, attempts FROM inbox
    WHERE state < 2 AND lane = ? AND seq > ? ORDER BY seq LIMIT ?"""
_SAID = """
    SELECT seq, at, message FROM inbox
    WHERE lane = ?1 AND (?2 = 0 OR seq < ?2) ORDER BY seq DESC LIMIT ?3"""
_MARK = "INSERT OR REPLACE INTO cursor (channel, account, value) VALUES ('', 'probe', ?)"
_CURSOR = "SELECT value FROM cursor WHERE channel = ? AND account = ?"
_DECODER = msgspec.json.Decoder(InboundMessage)
_Key = tuple[str, str, str]


class _Arrival(NamedTuple):
    message: InboundMessage
    cursor: Cursor | None
    claimed: bool


class _Ingest:
    """Stores arrivals in order; one that shares a key with an earlier one is a duplicate."""

    def __init__(self, dedup_days: int) -> None:
        self._kept_ms = dedup_days * MS_PER_DAY

    def __call__(self, txn: Txn, items: Sequence[_Arrival]) -> list[Ingested]:
        keys_of = [_keys(item.message) for item in items]
        known = self._known(txn, [key for keys in keys_of for key in keys])
        results: list[Ingested] = []
        rows: list[tuple[SqlValue, ...]] = []
        new_keys: dict[_Key, int] = {}
        seq = last_seq(txn, "inbox")
        for (message, _, claimed), keys in zip(items, keys_of, strict=True):
            place = next((known[key] for key in keys if key in known), None)
            duplicate = place is not None
            if place is None:
                seq += 1
                place = (seq, message.id)
                rows.append(_row(txn, seq, message, claimed=claimed))
            results.append(Ingested(seq=place[0], message_id=place[1], duplicate=duplicate))
            for key in keys:
                if key not in known:
                    known[key] = place
                    new_keys[key] = place[0]
        _INSERT.run(txn.db, rows)
        _INSERT_KEYS.run(txn.db, [(*key, of, txn.now) for key, of in new_keys.items()])
        cursors = [item.cursor for item in items if item.cursor is not None]
        _INSERT_CURSORS.run(txn.db, [(c.channel, c.account, c.value) for c in cursors])
        return results

    def _known(self, txn: Txn, keys: Sequence[_Key]) -> dict[_Key, tuple[int, str]]:
        """The place of the message that brought each key before."""
        oldest = txn.now - self._kept_ms
        asked = [(number, *key, oldest) for number, key in enumerate(keys)]
        found = _KNOWN.ask(txn.db, asked, tuple[int, int, str])
        return {keys[number]: (seq, message_id) for number, seq, message_id in found}


def _keys(message: InboundMessage) -> list[_Key]:
    return [(message.channel, message.account, key) for key in message.dedup_keys]


def _row(txn: Txn, seq: int, message: InboundMessage, *, claimed: bool) -> tuple[SqlValue, ...]:
    body = to_json(message).decode()
    lane = lane_key(message)
    state = attempts = int(claimed)
    return (seq, message.id, lane, message.platform_message_id, state, attempts, txn.now, body)


def _claim(txn: Txn, seqs: Sequence[int]) -> list[int | StorageError]:
    if len(set(seqs)) < len(seqs):
        return [_claim(txn, [seq])[0] for seq in seqs]
    asked = to_json(seqs).decode()
    txn.db.execute(_CLAIM, (asked,))
    counts = one_json(txn, _CLAIMED, asked, dict[int, int])
    return [
        counts.get(seq) or StorageError("storage.not-waiting", exit_code=EXIT_IO, seq=seq)
        for seq in seqs
    ]


def _unclaim(txn: Txn, seqs: Sequence[int]) -> list[None]:
    txn.db.execute(_UNCLAIM, (to_json(seqs).decode(),))
    return [None] * len(seqs)


class InboxPart(Part):
    """The inbox half of `spi.store.Journal`."""

    def __init__(self, access: Access) -> None:
        super().__init__(access)
        self._ingest = _Ingest(access.dedup_days)

    async def ingest(
        self, message: InboundMessage, cursor: Cursor | None = None, *, claimed: bool = False
    ) -> Ingested:
        """See `Journal.ingest`."""
        return await self._writer.submit(self._ingest, _Arrival(message, cursor, claimed))

    async def claim(self, seq: int) -> int:
        """See `Journal.claim`; a message that is handled already is a StorageError."""
        return await self._writer.submit(_claim, seq)

    async def unclaim(self, seq: int) -> None:
        """See `Journal.unclaim`; one that does not run stays as it is."""
        await self._writer.submit(_unclaim, seq)

    def ready_lanes(self) -> tuple[str, ...]:
        """See `Journal.ready_lanes`."""
        return tuple(lane for (lane,) in self._reader.all(_LANES, ()))

    def ready(self, lane: str, after: int, limit: int) -> tuple[InboxRow, ...]:
        """See `Journal.ready`."""
        return tuple(
            InboxRow(seq=seq, message=_DECODER.decode(message), attempts=attempts)
            for seq, message, attempts in self._reader.all(_READY, (lane, after, limit))
        )

    def said(self, lane: str, before: int, limit: int) -> tuple[Said, ...]:
        """See `Journal.said`."""
        rows = self._reader.all(_SAID, (lane, before, limit))
        return tuple(
            Said(seq=seq, at=from_ms(at), message=_DECODER.decode(message))
            for seq, at, message in reversed(rows)
        )

    def cursor(self, channel: str, account: str) -> str:
        """See `Journal.cursor`."""
        row = self._reader.one(_CURSOR, channel, account)
        return "" if row is None else row[0]

    async def probe(self) -> None:
        """See `Store.probe`; the mark is a cursor of no channel, always the same row."""

        def write(txn: Txn) -> None:
            txn.db.execute(_MARK, (str(txn.now),))

        await self._writer.submit(run_each, write)
