"""The port of an agent: one class, its intents and keywords with it, no edit of the core."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Protocol

import msgspec

from jobclaw.model import InboundMessage, Locale, ReplyPart, Role, User, Value
from jobclaw.model.message import AttachmentKind
from jobclaw.spi.fetch import Fetcher
from jobclaw.spi.llm import LlmClient


class AgentIntro(msgspec.Struct, frozen=True):
    """How an agent presents itself.

    Its catalogue's `intro.name`, `intro.description` and `intro.examples` (one a line), where
    there are any, replace these in the reader's language.
    """

    id: str
    name: str
    description: str
    examples: tuple[str, ...] = ()


class PastTurn(Value, frozen=True):
    """One earlier exchange of this session."""

    at: datetime
    text: str
    agent: str
    reply: str


class Memory(Protocol):
    """Values kept for one session and one agent; written with the turn, or not at all."""

    def get(self, key: str, default: str = "") -> str:
        """The value as this turn sees it, its own writes included."""
        ...

    def set(self, key: str, value: str) -> None:
        """Keep a value; an empty one forgets the key."""
        ...


class Profile(Protocol):
    """What is known about the user; written with the turn, or not at all."""

    def get(self, field: str) -> str:
        """The value, empty when unknown."""
        ...

    def set(self, field: str, value: str) -> None:
        """Keep a value; an empty one forgets the field."""
        ...


class SessionView(Protocol):
    """The session of the request, as the agent may touch it."""

    @property
    def id(self) -> str:
        """The session key."""
        ...

    @property
    def memory(self) -> Memory:
        """What this agent keeps for this session."""
        ...

    def release(self) -> None:
        """Unbind the session from this agent when the turn is over."""
        ...

    def history(self, limit: int = 20) -> tuple[PastTurn, ...]:
        """The newest exchanges, oldest first, the present one left out."""
        ...


class Say(Protocol):
    """Formats a sentence of the agent's catalogue (then the core's) in the user's language."""

    def __call__(self, text_id: str, /, **values: object) -> str:
        """Unknown ids come back as they are."""
        ...


class Tools(Value, frozen=True):
    """What an agent may use; None where the deployment has none. Later parts add to it."""

    profile: Profile
    llm: LlmClient | None = None
    fetch: Fetcher | None = None


class AgentRequest(Value, frozen=True):
    """One message for an agent; `message.id` is the idempotency key for its own databases.

    `text` is what was said without a leading command. `args` is what followed an explicit
    command (empty if nothing did), None when there was no command. `plain` is the text as
    keywords are compared: half-width, lower case, Traditional as Simplified Chinese. `missing`
    lists the required profile fields still unknown.
    """

    message: InboundMessage
    text: str
    user: User
    locale: Locale
    session: SessionView
    tools: Tools
    say: Say
    at: datetime
    args: str | None = None
    plain: str = ""
    intent: str = ""
    missing: tuple[str, ...] = ()


class Agent:
    """Base of all agents; `intro` is required, the rest has the default of a free, modest one.

    `priority`: higher first. `role`: the least role that may use it. `holds`: no keyword escape
    while bound. `requires_profile`: with `router.identity_gate: when_needed`, questions come
    before it. `accepts`: attachment kinds that find it from any binding. `private`: never
    answers in a group. `locales`: folder (or several) with zh.po and en.po. `commands`: name →
    intent, such as {"recommend": "RECOMMEND"}.
    """

    intro: AgentIntro
    intents: tuple[str, ...] = ()
    keywords: Mapping[str, Mapping[str, float]] = {}
    commands: Mapping[str, str] = {}
    priority: int = 0
    role: Role = "free"
    holds: bool = False
    requires_profile: bool = False
    accepts: tuple[AttachmentKind, ...] = ()
    private: bool = False
    locales: Path | tuple[Path, ...] | None = None

    def is_available(self) -> bool:
        """Whether it can answer now; asked per message, must not block."""
        return True

    def handle(self, request: AgentRequest) -> AsyncIterator[ReplyPart] | Iterator[ReplyPart]:
        """Answer: an async generator, or a plain generator, which is run off the event loop."""
        raise NotImplementedError
