"""What an operator can see and do: one set of functions for command line, API and console.

`LocalOperations` (local_operations.py) works on the store; a client of the API has the same
methods, so that a command works in the same way beside a running daemon.
"""

from __future__ import annotations

from typing import Literal, Protocol

from jobclaw.model import Locale, Role, RouteDecision, Session, User, Value
from jobclaw.spi.channel import ChannelHealth
from jobclaw.spi.llm import ModelState
from jobclaw.spi.store import DecisionFilter, OutboxRow

PushState = Literal["pending", "sent", "unknown", "dead"]
HealthState = Literal["ready", "degraded", "down"]


class AgentLine(Value, frozen=True):
    """One agent, or a plugin that could not be loaded (`error`)."""

    id: str
    name: str
    description: str
    intents: tuple[str, ...]
    priority: int
    role: Role
    available: bool
    source: str
    error: str


class Person(Value, frozen=True):
    """A user with the identities (`channel:account:sender`) that belong to them."""

    user: User
    identities: tuple[str, ...]


class Question(Value, frozen=True):
    """A text to route without effect; `role` empty: as the user has it."""

    text: str
    user: str = ""
    role: str = ""


class Push(Value, frozen=True):
    """A message that answers nothing, to a chat that has written before.

    `user`, if given (an id, `channel:account:sender`, or sender id), must be who writes there,
    unless it is a group. `id` makes it idempotent: the same one is sent once.
    """

    channel: str
    conversation: str
    text: str
    account: str = "default"
    user: str = ""
    id: str = ""


class PushStatus(Value, frozen=True):
    """What became of a push: `unknown` may have arrived, `dead` will never."""

    id: str
    status: PushState


class StoreHealth(Value, frozen=True):
    """Whether the journal takes writes, and what waits in it."""

    state: Literal["ok", "down"]
    reason: str = ""
    inbox: int = 0
    outbox: int = 0
    dead: int = 0


class LlmHealth(Value, frozen=True):
    """The language models; `off` when none is configured."""

    state: Literal["ok", "degraded", "off"]
    models: tuple[ModelState, ...] = ()


class Health(Value, frozen=True):
    """The whole: `down` when nothing can be accepted, or a channel is cut off.

    A model that does not answer only degrades: keywords and commands go on.
    """

    state: HealthState
    store: StoreHealth
    llm: LlmHealth
    channels: dict[str, ChannelHealth]


class Running(Protocol):
    """The daemon around the operations."""

    def channels(self) -> dict[str, ChannelHealth]:
        """The health of every channel, by NAME or NAME/ACCOUNT."""
        ...

    def serves(self, channel: str, account: str) -> bool:
        """Whether this account of a channel is enabled."""
        ...

    def models(self) -> tuple[ModelState, ...]:
        """How the language models are."""
        ...

    def dispatch(self, rows: tuple[OutboxRow, ...]) -> None:
        """Deliver rows that have just been put into the outbox."""
        ...


class Operations(Protocol):
    """What an operator can see and do.

    Lists go on after `before` (the id or key that came last). Unknown things raise
    `refusals.NotFoundError`, impossible wishes another `UsageError`.
    """

    async def agents(self, locale: Locale) -> tuple[AgentLine, ...]:
        """Agents by priority, then plugins that could not be loaded."""
        ...

    async def users(self, limit: int, before: str = "") -> tuple[Person, ...]:
        """Users, newest first."""
        ...

    async def user(self, named: str) -> Person:
        """The user whom an id, `channel:account:sender` or a sender id names."""
        ...

    async def set_role(self, named: str, role: str, days: int | None = None) -> User:
        """Give a role, for days or without an end; it counts from the next message."""
        ...

    async def create_codes(self, role: str, days: int, count: int) -> tuple[str, ...]:
        """Make redeem codes; only their hashes are kept."""
        ...

    async def sessions(self, limit: int, before: str = "") -> tuple[Session, ...]:
        """Sessions, most recently used first."""
        ...

    async def session(self, key: str) -> Session:
        """One session."""
        ...

    async def reset_session(self, key: str) -> Session:
        """Unbind a session; seen at its next message."""
        ...

    async def decisions(self, query: DecisionFilter) -> tuple[RouteDecision, ...]:
        """Recorded decisions, newest first; `query.user` may be named as in `user`."""
        ...

    async def decision(self, message_id: str = "", user: str = "") -> RouteDecision:
        """That of a message, else the newest (of a user) that was no command."""
        ...

    async def explain(self, decision: RouteDecision, locale: Locale) -> str:
        """The decision in words, as Markdown."""
        ...

    async def route(self, question: Question) -> RouteDecision:
        """What would be decided for a text; changes nothing."""
        ...

    async def push(self, push: Push) -> PushStatus:
        """Put a message into the outbox; returns once that is on disk."""
        ...

    async def message_status(self, push_id: str) -> PushStatus:
        """What became of a push."""
        ...

    async def health(self) -> Health:
        """How store, models and channels are now."""
        ...
