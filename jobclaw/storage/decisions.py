"""The record of past decisions, the exchanges of a session, and what was sent for a message."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

import msgspec

from jobclaw.model import Markdown, OutboundMessage, RouteDecision
from jobclaw.spi.agent import PastTurn
from jobclaw.spi.store import DecisionFilter, Delivery
from jobclaw.storage.part import Part
from jobclaw.storage.states import OUTBOX_STATES, from_ms, to_ms

_BY_ID = """
    SELECT decision FROM inbox JOIN decision USING (seq)
    WHERE id = ?1 AND (?2 = '' OR user_id = ?2)"""
_BY_PLATFORM_ID = """
    SELECT decision FROM inbox JOIN decision USING (seq)
    WHERE platform_id = ?1 AND platform_id <> '' AND (?2 = '' OR user_id = ?2)
    ORDER BY seq DESC LIMIT 1"""
_LIST = "SELECT decision FROM decision"
_NEWEST = "ORDER BY seq DESC LIMIT ?"
_DELIVERIES = """
    SELECT id, state, message, at, chat FROM outbox
    WHERE id = ?1 OR (id > ?1 || '.' AND id < ?1 || '/') ORDER BY seq"""
_HISTORY = """
    SELECT turn.seq, turn.at, turn.agent, turn.message, outbox.message
    FROM (
        SELECT seq, id, decision.at, agent, message FROM decision JOIN inbox USING (seq)
        WHERE session = ? AND state = 2 ORDER BY seq DESC LIMIT ?
    ) AS turn
    LEFT JOIN outbox ON outbox.id > turn.id || '.' AND outbox.id < turn.id || '/'
    ORDER BY turn.seq, outbox.seq"""
_DECISION = msgspec.json.Decoder(RouteDecision)
_OUTBOUND = msgspec.json.Decoder(OutboundMessage)


class _Said(msgspec.Struct):
    """The text alone of a stored message."""

    text: str = ""


_SAID = msgspec.json.Decoder(_Said)


def _text_of(message: OutboundMessage) -> str:
    return "".join(part.text for part in message.parts if isinstance(part, Markdown))


def _reply(messages: Iterable[str | None]) -> str:
    texts = [_text_of(_OUTBOUND.decode(message)) for message in messages if message is not None]
    return "\n\n".join(text for text in texts if text)


def _delivery(id_: str, state: int, message: str, at: int, chat: str) -> Delivery:
    text = _text_of(_OUTBOUND.decode(message))
    return Delivery(id=id_, state=OUTBOX_STATES[state], text=text, at=from_ms(at), chat=chat)


class DecisionPart(Part):
    """`spi.store.DecisionLog`, and the history of `spi.store.Sessions`."""

    def decision(self, message_id: str, user_id: str = "") -> RouteDecision | None:
        """See `DecisionLog.decision`."""
        row = self._reader.one(_BY_ID, message_id, user_id)
        if row is None:
            row = self._reader.one(_BY_PLATFORM_ID, message_id, user_id)
        return None if row is None else _DECISION.decode(row[0])

    def decisions(self, query: DecisionFilter) -> tuple[RouteDecision, ...]:
        """See `DecisionLog.decisions`."""
        conditions: dict[str, str | int] = {
            "user_id = ?": query.user,
            "session = ?": query.session,
            "agent = ?": query.agent,
            "tier = ?": query.tier,
            "at >= ?": "" if query.since is None else to_ms(query.since),
            "seq < (SELECT seq FROM inbox WHERE id = ?)": query.before,
        }
        used = {text: value for text, value in conditions.items() if value != ""}
        where = ["WHERE", " AND ".join(used)] if used else []
        rows = self._reader.all(
            " ".join([_LIST, *where, _NEWEST]), [*used.values(), query.limit]
        )
        return tuple(_DECISION.decode(text) for (text,) in rows)

    def deliveries(self, message_id: str) -> tuple[Delivery, ...]:
        """See `DecisionLog.deliveries`; a push is found by its own id."""
        rows = self._reader.all(_DELIVERIES, (message_id,))
        return tuple(_delivery(row[0], row[1], row[2], row[3], row[4]) for row in rows)

    def history(self, session: str, limit: int) -> tuple[PastTurn, ...]:
        """See `Sessions.history`."""
        rows = self._reader.all(_HISTORY, (session, limit))
        turns: list[PastTurn] = []
        for _, group in groupby(rows, key=lambda row: row[0]):
            exchange = list(group)
            _, at, agent, message, _ = exchange[0]
            turns.append(
                PastTurn(
                    at=from_ms(at),
                    text=_SAID.decode(message).text,
                    agent=agent,
                    reply=_reply(row[4] for row in exchange),
                )
            )
        return tuple(turns)
