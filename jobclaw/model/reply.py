"""What agents answer with, and what leaves for a platform."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import msgspec

from jobclaw.model.base import Value
from jobclaw.model.message import ReplyTarget

ErrorClass = Literal[
    "rate_limited", "auth", "gone", "forbidden", "format", "too_long", "network", "unknown"
]
Operation = Literal[
    "send", "edit", "stream_start", "stream_delta", "stream_end", "typing", "react", "ephemeral"
]


class Markdown(msgspec.Struct, frozen=True, tag="markdown"):
    """Text in CommonMark; consecutive ones of a turn append to one message."""

    text: str


CORRECTION = "/wrong:"
"""How the id of the router's own button starts; the id of the answered message follows."""


class Button(msgspec.Struct, frozen=True):
    """One choice: pressing it sends `say` (the label when empty) as if the user had written it.

    `pick` is for the router alone (choosing an agent); agents leave it empty. An id that starts
    with `CORRECTION` says that the wrong agent answered; where there are no buttons it is 0.
    """

    id: str
    label: str
    say: str = ""
    pick: str = ""


class Buttons(msgspec.Struct, frozen=True, tag="buttons"):
    """Choices under the message so far, which they close; `text` is put above them."""

    buttons: tuple[Button, ...]
    text: str = ""


class Image(msgspec.Struct, frozen=True, tag="image"):
    """A picture by path inside the workspace or by URL; closes the message."""

    ref: str
    alt: str = ""


class File(msgspec.Struct, frozen=True, tag="file"):
    """A file by path inside the workspace or by URL; closes the message."""

    ref: str
    name: str = ""
    mime: str = ""


class Progress(msgspec.Struct, frozen=True, tag="progress"):
    """A line that says what is going on; it replaces the previous one and is never stored."""

    text: str


ReplyPart = Markdown | Buttons | Image | File | Progress


class OutboundMessage(Value, frozen=True):
    """One message to a platform; `id` (inbound id, dot, number) is the idempotency key.

    `agent` (with `speaker`, its name to people) and `in_reply_to` tell what it answers.
    `stream_id` names the platform's stream that this message finishes, if one was opened.
    `ttl_s`: seconds after which it is no longer worth sending.
    """

    id: str
    target: ReplyTarget
    parts: tuple[ReplyPart, ...]
    v: int = 1
    op: Operation = "send"
    agent: str = ""
    speaker: str = ""
    in_reply_to: str = ""
    stream_id: str = ""
    seq: int = 0
    fallback_text: str = ""
    silent: bool = False
    push: bool = False
    ttl_s: float | None = None


class DeliveryError(Value, frozen=True):
    """Why a platform did not take a message; `retry_after` in seconds."""

    kind: ErrorClass
    code: str = ""
    detail: str = ""
    retryable: bool = False
    retry_after: float | None = None


class DeliveryReceipt(Value, frozen=True):
    """What the platform said; `degraded` lists what was left out or shown in another way."""

    ok: bool
    v: int = 1
    message_ids: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()
    error: DeliveryError | None = None
    at: datetime | None = None
