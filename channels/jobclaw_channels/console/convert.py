"""Pure conversion between JSON lines and the unified event, and from replies to output.

Input, one object a line (only `text` is required): `id`, `user`, `conversation`, `kind`,
`text`, `addressed`, `role`, `button`; or `{"op":"wait","id":"w1"}`. An `id` makes the message
recognisable: the same id from the same user in the same conversation is accepted once within
`bus.dedup_days`.
"""

from __future__ import annotations

import re
import unicodedata
from codecs import BOM_UTF8
from datetime import datetime
from typing import Literal

import msgspec

from jobclaw.model import (
    Buttons,
    Conversation,
    File,
    Image,
    InboundMessage,
    Markdown,
    Mention,
    OutboundMessage,
    ReplyTarget,
    Role,
    RouteDecision,
    Sender,
)
from jobclaw.spi import AgentFailure
from jobclaw_channels.console.settings import ConsoleSettings

_SELF = re.compile(r"\s*@(jobclawbot|jobclaw|bot)(?=\s|$)", re.IGNORECASE)


class Line(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One input line."""

    op: Literal["wait"] | None = None
    id: str | int | None = None
    user: str | int | None = None
    conversation: str | int | None = None
    kind: Literal["direct", "group"] = "direct"
    text: str | None = None
    addressed: bool = True
    role: Role | None = None
    button: str | None = None


def read_line(data: bytes) -> Line:
    """Decode a line; a byte-order mark, as some shells put before their output, is none of it.

    Raises:
        msgspec.DecodeError: not JSON, an unknown key, a wrong type, or neither text nor button.
    """
    line = msgspec.json.decode(data.removeprefix(BOM_UTF8), type=Line)
    if line.op is None and line.text is None and line.button is None:
        raise msgspec.ValidationError("Object missing required field `text`")
    return line


def to_message(
    line: Line, account: str, settings: ConsoleSettings, at: datetime
) -> InboundMessage:
    """The unified event of an input line."""
    user = settings.user if line.user is None else str(line.user)
    chosen = settings.conversation if line.conversation is None else str(line.conversation)
    conversation = chosen or user
    given = "" if line.id is None else str(line.id)
    raw = unicodedata.normalize("NFC", line.text or "")
    text = _SELF.sub("", raw, count=1) if _SELF.match(raw) else raw
    mentioned = text is not raw
    return InboundMessage(
        channel="console",
        account=account,
        conversation=Conversation(id=conversation, kind=line.kind),
        sender=Sender(id=user, name=user, claimed_role=line.role or settings.role),
        reply=ReplyTarget(
            channel="console", account=account, conversation=conversation, in_reply_to=given
        ),
        received_at=at,
        kind="action" if line.button is not None else "message",
        dedup_keys=(f"cm:{msgspec.json.encode([conversation, user, given]).decode()}",)
        if given
        else (),
        platform_message_id=given,
        text=text.lstrip() if mentioned else text,
        text_raw=line.text or "",
        action=line.button or "",
        mentions=(Mention(id="jobclaw", kind="bot", is_self=True),) if mentioned else (),
        addressed=line.addressed,
    )


def text_of(message: OutboundMessage) -> str:
    """All that a message says, buttons apart."""
    said: list[str] = []
    for part in message.parts:
        match part:
            case Markdown(text=text) | Buttons(text=text):
                said.append(text)
            case Image(ref=ref, alt=alt):
                said.append(f"{alt} {ref}".strip())
            case File(ref=ref, name=name):
                said.append(f"{name} {ref}".strip())
            case _:
                pass
    return "\n\n".join(text for text in said if text)


def reply_line(message: OutboundMessage) -> bytes:
    """The output line of a final reply; `id` tells a repeated one."""
    buttons = [
        {"id": button.id, "label": button.label}
        for part in message.parts
        if isinstance(part, Buttons)
        for button in part.buttons
    ]
    return msgspec.json.encode(
        {
            "type": "reply",
            "id": message.id,
            "in_reply_to": message.in_reply_to,
            "conversation": message.target.conversation,
            "agent": message.agent,
            "text": text_of(message),
            "buttons": buttons,
            "final": True,
        }
    )


def decision_line(decision: RouteDecision) -> bytes:
    """The output line of a decision; `message` is the sender's id where it gave one."""
    fields = msgspec.to_builtins(decision)
    named = {**fields, "message": decision.platform_message or decision.message}
    return msgspec.json.encode({"type": "decision", "id": decision.message, **named})


def failure_line(failure: AgentFailure) -> bytes:
    """The output line of an agent that failed."""
    return msgspec.json.encode(
        {
            "type": "error",
            "code": "console.agent-failed",
            "message": failure.message,
            "agent": failure.agent,
            "error_id": failure.error_id,
            "error": failure.reason,
            "traceback": failure.traceback,
        }
    )
