"""Small messages, decisions and sessions for tests of the store."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from jobclaw.model import (
    Conversation,
    HistoryEntry,
    InboundMessage,
    Markdown,
    OutboundMessage,
    ReplyTarget,
    RouteDecision,
    Sender,
    Session,
    User,
)
from jobclaw.spi.store import Handled, InboxState, OutboxRow, Store
from jobclaw.storage import open_store

START = datetime(2026, 8, 3, 10, 30, 45, tzinfo=UTC)


class SteppedClock:
    """A clock that stands still until it is moved."""

    def __init__(self, at: datetime = START) -> None:
        self.at = at
        self.seconds = 0.0

    def now(self) -> datetime:
        return self.at

    def monotonic(self) -> float:
        return self.seconds

    def move(self, by: timedelta) -> None:
        """Let time pass."""
        self.at += by
        self.seconds += by.total_seconds()

    def jump(self, by: timedelta) -> None:
        """Set the wall clock alone."""
        self.at += by


def target(chat: str = "c1") -> ReplyTarget:
    return ReplyTarget(channel="console", account="main", conversation=chat)


def message(
    number: int, chat: str = "c1", keys: tuple[str, ...] = (), text: str = "推荐岗位"
) -> InboundMessage:
    """Message `number` has the id `in-000007` and the platform's id `m7`."""
    return InboundMessage(
        channel="console",
        account="main",
        conversation=Conversation(id=chat),
        sender=Sender(id="u1"),
        reply=target(chat),
        received_at=START,
        id=f"in-{number:06d}",
        platform_message_id=f"m{number}",
        dedup_keys=keys,
        text=text,
    )


def decision(of: InboundMessage, *, user: str = "u1", agent: str = "chat") -> RouteDecision:
    return RouteDecision(
        message=of.id,
        session=f"console:main:{of.conversation.id}:u1",
        user=user,
        role="free",
        step="classify",
        tier="keyword",
        intent="RECOMMEND",
        confidence=1.0,
        agent=agent,
        outcome="answered",
        at=START,
        text=of.text,
    )


def reply(of: InboundMessage, number: int = 0, text: str = "好的") -> OutboundMessage:
    return OutboundMessage(id=f"{of.id}.{number}", target=of.reply, parts=(Markdown(text),))


def handled(
    seq: int,
    of: InboundMessage,
    *replies: OutboundMessage,
    state: InboxState = "done",
    session: Session | None = None,
) -> Handled:
    record = decision(of)
    return Handled(seq=seq, state=state, decision=record, session=session, outbox=replies)


def entry(number: int, at: datetime = START) -> HistoryEntry:
    """A history entry that can be told from the others by its intent."""
    return HistoryEntry(
        at=at, intent=f"I{number}", confidence=0.75, tier="keyword", agent="chat"
    )


def bound(key: str, user: User | str = "u1", agent: str = "job-search") -> Session:
    user_id = user if isinstance(user, str) else user.id
    return Session(
        key=key,
        user_id=user_id,
        bound_agent=agent,
        bound_at=START,
        expires_at=START + timedelta(hours=6),
    )


class Place:
    """Where a store lives: it can be opened again, as after a restart."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clock = SteppedClock()
        self.stores: list[Store] = []

    async def open(self) -> Store:
        await self.close()
        self.stores.append(open_store(self.folder, self.clock))
        return self.stores[-1]

    async def close(self) -> None:
        while self.stores:
            await self.stores.pop().close()


async def ingest(store: Store, *messages: InboundMessage) -> list[int]:
    """Accept messages one after the other; their rows."""
    return [(await store.ingest(one)).seq for one in messages]


async def answered(store: Store, number: int, chat: str = "c1") -> OutboxRow:
    """Accept and handle a message; the row of its reply."""
    one = message(number, chat)
    [seq] = await ingest(store, one)
    [row] = await store.commit(handled(seq, one, reply(one)))
    return row
