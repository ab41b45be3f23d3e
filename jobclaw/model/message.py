"""The unified event: what a channel adapter makes of anything a platform sends.

Fields as in spec/channels.md §9. Nothing here knows a platform.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from msgspec import field

from jobclaw.model.base import Value
from jobclaw.model.session import Locale

MessageKind = Literal[
    "message", "command", "action", "reaction", "edit", "delete", "stop", "member", "system"
]
ConversationKind = Literal["direct", "group", "channel"]
AttachmentKind = Literal[
    "image", "file", "audio", "video", "sticker", "location", "card", "unknown"
]


class Conversation(Value, frozen=True):
    """Where people write: a direct chat, a group, or a thread of one."""

    id: str
    kind: ConversationKind = "direct"
    title: str = ""
    thread_id: str = ""
    thread_root: str = ""


class Sender(Value, frozen=True):
    """Who wrote, by the platform's immutable id; names are for display only.

    `claimed_role` is honoured only from a channel whose descriptor says that its senders are
    the operator of this machine (the console). `locale` is the sender's language as
    the platform knows it; it counts until the sender has written something.
    """

    id: str
    alt_ids: dict[str, str] = field(default_factory=dict[str, str])
    name: str = ""
    is_bot: bool = False
    is_self: bool = False
    is_platform_admin: bool = False
    claimed_role: str = ""
    locale: Locale | None = None


class Mention(Value, frozen=True):
    """Somebody named in the text, resolved by id."""

    id: str
    name: str = ""
    kind: Literal["user", "bot", "all", "channel"] = "user"
    is_self: bool = False


class NativeCommand(Value, frozen=True):
    """A slash command that the platform itself parsed."""

    name: str
    args: str = ""
    prefix: str = "/"


class Quote(Value, frozen=True):
    """The message that this one replies to."""

    message_id: str
    text: str = ""
    sender: str = ""


class Attachment(Value, frozen=True):
    """A file or the like; `ref` is opaque and fetched lazily through the adapter."""

    kind: AttachmentKind
    ref: str
    name: str = ""
    mime: str = ""
    size: int | None = None
    duration_s: float | None = None
    transcript: str = ""
    expires_at: datetime | None = None


class ReplyTarget(Value, frozen=True):
    """Where an answer goes: fixed by the message it answers, opaque to agents."""

    channel: str
    account: str
    conversation: str
    thread: str = ""
    in_reply_to: str = ""
    hints: dict[str, str] = field(default_factory=dict[str, str])
    expires_at: datetime | None = None

    def to_proactive(self) -> ReplyTarget:
        """The same chat without what only an immediate answer may use."""
        return ReplyTarget(
            channel=self.channel,
            account=self.account,
            conversation=self.conversation,
            thread=self.thread,
        )


class InboundMessage(Value, frozen=True):
    """One event from a platform, normalised.

    `id` is ours (ULID), given by the inbox when empty. `dedup_keys`: any key seen before within
    `bus.dedup_days` makes the message a duplicate; without keys it never is one. `text` has the
    bot's own mention stripped and is NFC; `action` is the id of the pressed button.
    """

    channel: str
    account: str
    conversation: Conversation
    sender: Sender
    reply: ReplyTarget
    received_at: datetime
    v: int = 1
    id: str = ""
    kind: MessageKind = "message"
    tenant: str = ""
    dedup_keys: tuple[str, ...] = ()
    platform_message_id: str = ""
    platform_event_id: str = ""
    delivery_attempt: int = 1
    text: str = ""
    text_raw: str = ""
    command: NativeCommand | None = None
    action: str = ""
    mentions: tuple[Mention, ...] = ()
    addressed: bool = True
    quote: Quote | None = None
    attachments: tuple[Attachment, ...] = ()
    batch_id: str = ""
    sent_at: datetime | None = None
    raw: dict[str, str] = field(default_factory=dict[str, str])


def _part(text: str) -> str:
    if ":" in text or "%" in text:
        return text.replace("%", "%25").replace(":", "%3A")
    return text


def lane_key(message: InboundMessage) -> str:
    """`channel:account:conversation[:thread]`: one message of a lane at a time."""
    chat = message.conversation
    lane = f"{_part(message.channel)}:{_part(message.account)}:{_part(chat.id)}"
    return f"{lane}:{_part(chat.thread_id)}" if chat.thread_id else lane


def session_key(message: InboundMessage) -> str:
    """`channel:account:conversation[:thread]:sender`, so no two chats share a binding.

    A thread is told from a sender by the number of parts; `:` and `%` inside a part are
    percent-encoded, so that different ids never give one key.
    """
    return f"{lane_key(message)}:{_part(message.sender.id)}"


def chat_key(target: ReplyTarget) -> str:
    """The outbox lane of a target: replies of one chat leave in order."""
    chat = f"{_part(target.channel)}:{_part(target.account)}:{_part(target.conversation)}"
    return f"{chat}:{_part(target.thread)}" if target.thread else chat
