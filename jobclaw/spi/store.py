"""The port of the durable store, where "accepted", "handled" and "sent" become true.

Methods that write are awaited until their transaction is on disk. Methods that read are plain
calls on a separate connection; each touches an index and takes microseconds. Row numbers
(`seq`) rise in the order of acceptance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal, Protocol

from jobclaw.model import (
    DeliveryError,
    DeliveryReceipt,
    InboundMessage,
    OutboundMessage,
    Role,
    RouteDecision,
    Session,
    User,
    Value,
)
from jobclaw.spi.agent import PastTurn
from jobclaw.spi.channel import Posted, Said

InboxState = Literal["ready", "handling", "done", "dropped", "superseded", "dead"]
OutboxState = Literal["ready", "sending", "sent", "unknown", "dead"]


class Cursor(Value, frozen=True):
    """A channel account's place in the platform's stream."""

    channel: str
    account: str
    value: str


class Ingested(Value, frozen=True):
    """The outcome of an ingest; for a duplicate, of the message that was accepted before."""

    seq: int
    message_id: str
    duplicate: bool


class InboxRow(Value, frozen=True):
    """An accepted message that waits; `attempts` counts the claims so far."""

    seq: int
    message: InboundMessage
    attempts: int


class OutboxRow(Value, frozen=True):
    """A message that waits to leave; `state` is unknown after a crash in mid-call."""

    seq: int
    chat: str
    message: OutboundMessage
    state: OutboxState
    attempt: int


class MemoryWrite(Value, frozen=True):
    """A value that an agent keeps for a session; an empty one is deleted."""

    session: str
    agent: str
    key: str
    value: str


class Label(Value, frozen=True):
    """A text that a person assigned to an intent: a clarification answer or a correction."""

    text: str
    intent: str
    agent: str
    source: Literal["clarify", "wrong", "operator"]


class Handled(Value, frozen=True):
    """All that one handled message changes; one transaction, or nothing.

    `user_was` is the user as the turn read it: with it only the fields that differ are written,
    so that a role given or taken meanwhile stays; without it the user is written whole.
    """

    seq: int
    state: InboxState
    decision: RouteDecision
    session: Session | None = None
    user: User | None = None
    user_was: User | None = None
    memory: tuple[MemoryWrite, ...] = ()
    outbox: tuple[OutboundMessage, ...] = ()
    labels: tuple[Label, ...] = ()


class DecisionFilter(Value, frozen=True):
    """Which decisions to list, newest first; empty fields do not narrow.

    `before` is the message of the last decision seen: the list goes on after it.
    """

    user: str = ""
    session: str = ""
    agent: str = ""
    tier: str = ""
    since: datetime | None = None
    before: str = ""
    limit: int = 50


class Delivery(Value, frozen=True):
    """What became of one outbound message to a chat (`model.chat_key`)."""

    id: str
    state: OutboxState
    text: str
    at: datetime
    chat: str = ""


class Waiting(Value, frozen=True):
    """How much there is to do: rows of the inbox, rows of the outbox, dead letters of both."""

    inbox: int
    outbox: int
    dead: int


class ModelUsage(Value, frozen=True):
    """What a model was used for in a month (`2026-11`, UTC); no price gives `cost_usd` 0."""

    month: str
    model: str
    calls: int
    tokens: int
    cost_usd: float


class Journal(Protocol):
    """Inbox and outbox."""

    async def ingest(
        self, message: InboundMessage, cursor: Cursor | None = None, *, claimed: bool = False
    ) -> Ingested:
        """Store a message (its `id` set) and the cursor together, or see a duplicate.

        `claimed` counts the first attempt with it, for a message whose turn is next.
        """
        ...

    async def claim(self, seq: int) -> int:
        """Count one more attempt, on disk before the handler runs; returns the count."""
        ...

    async def unclaim(self, seq: int) -> None:
        """Take the latest attempt back: its handler did not run, the message waits again."""
        ...

    async def commit(self, handled: Handled, *, sending: bool = False) -> tuple[OutboxRow, ...]:
        """Make everything of a handled message true at once; returns its outbox rows.

        A message that is handled already changes nothing and returns no rows. `sending` counts
        the first attempt of the first row with it, for a chat whose platform is called next.
        """
        ...

    async def push(self, message: OutboundMessage) -> OutboxRow | None:
        """Put a message that answers nothing into the outbox; None if it is there already."""
        ...

    def ready_lanes(self) -> tuple[str, ...]:
        """Lanes that hold messages not yet handled, by their oldest one."""
        ...

    def ready(self, lane: str, after: int, limit: int) -> tuple[InboxRow, ...]:
        """The lane's unhandled messages with a `seq` above `after`, in order."""
        ...

    def pending_chats(self) -> tuple[str, ...]:
        """Chats with outbox rows that have not been sent, by their oldest one."""
        ...

    def next_outbox(self, chat: str, after: int, limit: int) -> tuple[OutboxRow, ...]:
        """The chat's unsent rows above `after`, in order; `sending` ones as unknown."""
        ...

    async def mark_sending(self, seq: int) -> int:
        """Count one more attempt, on disk before the platform is called; returns the count."""
        ...

    async def mark_sent(self, seq: int, receipt: DeliveryReceipt) -> None:
        """The platform has it."""
        ...

    async def mark_failed(self, seq: int, error: DeliveryError, state: OutboxState) -> None:
        """It was refused: `ready` to try again, `unknown` to hold, `dead` to give up."""
        ...

    def cursor(self, channel: str, account: str) -> str:
        """The stored cursor, empty at first."""
        ...

    def said(self, lane: str, before: int, limit: int) -> tuple[Said, ...]:
        """The newest messages of a lane below `before` (0: all), oldest first."""
        ...

    def posted(self, chat: str, after: int, limit: int) -> tuple[Posted, ...]:
        """What left or is leaving for a chat above `after`, in order."""
        ...

    def posted_before(self, chat: str, before: int, limit: int) -> tuple[Posted, ...]:
        """The newest that left or is leaving below `before` (0: all), oldest first."""
        ...

    def waiting(self) -> Waiting:
        """How much waits; counted from partial indexes."""
        ...


class Sessions(Protocol):
    """Session bindings: the row of the journal and the YAML file that people read and edit."""

    def read(self, key: str, user_id: str) -> Session:
        """The session now, a person's edit of the file included; a fresh one if unknown."""
        ...

    def memory(self, session: str, agent: str) -> Mapping[str, str]:
        """What an agent kept for a session."""
        ...

    def history(self, session: str, limit: int) -> tuple[PastTurn, ...]:
        """The newest handled exchanges of a session, oldest first."""
        ...

    def session(self, key: str) -> Session | None:
        """The session of a key, None if there is none."""
        ...

    def list_sessions(self, limit: int, before: str = "") -> tuple[Session, ...]:
        """Sessions, most recently used first; after the one whose key is `before`."""
        ...

    async def flush(self) -> None:
        """Write the binding files that are behind their rows."""
        ...

    async def save(self, session: Session) -> None:
        """Write a session outside a turn (an operator's reset), row and file."""
        ...


class People(Protocol):
    """Users, their channel identities, roles and codes."""

    def user(self, user_id: str) -> User | None:
        """One user by jobclaw's id."""
        ...

    def user_by_identity(self, channel: str, account: str, sender: str) -> User | None:
        """Who is behind a channel identity; read for every message."""
        ...

    def find_users(self, text: str) -> tuple[User, ...]:
        """Users whose id, `channel:account:sender`, or sender id equals `text`."""
        ...

    def list_users(self, limit: int, before: str = "") -> tuple[User, ...]:
        """Users, newest first; after the one whose id is `before`."""
        ...

    def identities(self, user_id: str) -> tuple[tuple[str, str, str], ...]:
        """The (channel, account, sender) of a user."""
        ...

    async def create_user(self, channel: str, account: str, sender: str, name: str) -> User:
        """The user of an identity seen for the first time; two at once get the same one."""
        ...

    async def save_user(self, user: User) -> None:
        """Write a user outside a turn."""
        ...

    async def link(self, channel: str, account: str, sender: str, user_id: str) -> None:
        """Make an identity belong to another user."""
        ...

    async def unlink(self, channel: str, account: str, sender: str) -> User | None:
        """Give an identity a fresh user of its own; None when it is the user's only one."""
        ...

    async def create_code(
        self, kind: str, code: str, payload: str, expires_at: datetime
    ) -> None:
        """Store a code (`link`, `redeem`, `pairing`); only its hash is kept."""
        ...

    async def use_code(self, kind: str, code: str, now: datetime) -> str | None:
        """Spend a code once; its payload, or None when unknown, expired or spent."""
        ...


class UsageBook(Protocol):
    """What models were used for, so that a budget survives a restart."""

    def usage(self, month: str) -> tuple[ModelUsage, ...]:
        """One row for each model used in a month."""
        ...

    async def add_usage(self, usage: ModelUsage) -> None:
        """Add to the month and model that `usage` names."""
        ...


class DecisionLog(Protocol):
    """The record of past decisions."""

    def decision(self, message_id: str, user_id: str = "") -> RouteDecision | None:
        """By our id or the sender's own; with `user_id`, only if that user owns it."""
        ...

    def decisions(self, query: DecisionFilter) -> tuple[RouteDecision, ...]:
        """Newest first."""
        ...

    def deliveries(self, message_id: str) -> tuple[Delivery, ...]:
        """What was sent in answer to a message."""
        ...


class Store(Journal, Sessions, People, DecisionLog, UsageBook, Protocol):
    """The whole store; SQLite now, PostgreSQL later, under one conformance suite."""

    async def probe(self) -> None:
        """Write a mark, durably: raises StorageError as long as nothing can be written."""
        ...

    async def close(self) -> None:
        """Finish what was handed in, write the files still due, checkpoint, release."""
        ...


class RoleGrant(Value, frozen=True):
    """What a redeem code gives, as JSON in its payload."""

    role: Role
    days: int


RoleTable = Mapping[str, Sequence[str]]
