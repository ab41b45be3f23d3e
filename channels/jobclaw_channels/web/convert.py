"""Pure conversion between what a browser sends and shows and the unified event.

The only place that knows names of headers, cookies, query parameters and JSON keys. Everything
for the browser is JSON: texts as trees (`markdown_tree`), never as HTML.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated

import msgspec
from msgspec import Meta

from jobclaw.errors import PermanentChannelError
from jobclaw.model import (
    CORRECTION,
    Attachment,
    Button,
    Buttons,
    File,
    Image,
    InboundMessage,
    Locale,
    Markdown,
    OutboundMessage,
    Progress,
    ReplyPart,
    Sender,
)
from jobclaw.spi import Posted, RawRequest, Said
from jobclaw_channels.web.identity import CHANNEL, KEPT_S, chat_of, conversation_of
from jobclaw_channels.web.markdown_tree import MarkdownTree, safe_link

COOKIE = "jobclaw_chat"
LANGUAGE_COOKIE = "jobclaw_chat_lang"
THEME_COOKIE = "jobclaw_chat_theme"
THEMES = ("system", "light", "dark")
FILES_MOST = 10
Json = Mapping[str, object]
_CURSOR = re.compile(r"([0-9]{1,18})\.([0-9]{1,18})")
_SEQ = re.compile(r"[0-9]{1,18}")


class Post(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A message as the page sends it; `client_msg_id` makes sending it again harmless."""

    client_msg_id: Annotated[str, Meta(pattern=r"\A[A-Za-z0-9_-]{1,64}\Z")]
    text: str = ""
    button: Annotated[str, Meta(max_length=256)] = ""
    attachments: Annotated[tuple[str, ...], Meta(max_length=FILES_MOST)] = ()


class Cursor(msgspec.Struct, frozen=True):
    """Where a page of history ends: rows below these numbers are older (0: nothing taken)."""

    said: int = 0
    posted: int = 0

    def text(self) -> str:
        """The form in which the browser gives it back."""
        return f"{self.said}.{self.posted}"


def read_post(request: RawRequest, text_most: int) -> Post:
    """The message of a request.

    Raises:
        PermanentChannelError: it is not JSON of that shape, says nothing, or is too long.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise PermanentChannelError("web.no-json")
    try:
        post = msgspec.json.decode(request.body, type=Post)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise PermanentChannelError("web.bad-message", reason=str(error)) from error
    if not (post.text.strip() or post.button or post.attachments):
        raise PermanentChannelError("web.empty-message")
    if len(post.text) > text_most:
        raise PermanentChannelError("web.text-too-long", limit=text_most)
    return post


def content_type(request: RawRequest) -> str:
    """The media type with its parameters."""
    return request.headers.get("content-type", "")


def token_of(request: RawRequest) -> str:
    """The value of the identity cookie, as it came."""
    return request.cookies.get(COOKIE, "")


def is_from_elsewhere(request: RawRequest) -> bool:
    """Whether another site led here: then the browser keeps the strict cookie to itself."""
    return request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin")


def locale_of(request: RawRequest, default: Locale) -> Locale:
    """The page's language: as asked, as chosen before, as the browser prefers."""
    for choice in (request.query.get("lang", ""), request.cookies.get(LANGUAGE_COOKIE, "")):
        if choice in ("zh", "en"):
            return "zh" if choice == "zh" else "en"
    return _preferred(request.headers.get("accept-language", "")) or default


def asked_locale(request: RawRequest) -> Locale | None:
    """The language that the address itself names."""
    asked = request.query.get("lang", "")
    return ("zh" if asked == "zh" else "en") if asked in ("zh", "en") else None


def _preferred(header: str) -> Locale | None:
    best: tuple[float, Locale | None] = (0.0, None)
    for entry in header.split(",")[:16]:
        tag, _, weight = entry.strip().partition(";q=")
        language = tag.partition("-")[0].lower()
        try:
            quality = float(weight) if weight else 1.0
        except ValueError:
            continue
        if language in ("zh", "en") and quality > best[0]:
            best = (quality, "zh" if language == "zh" else "en")
    return best[1]


def theme_of(request: RawRequest) -> str:
    """The chosen colours."""
    theme = request.cookies.get(THEME_COOKIE, "")
    return theme if theme in THEMES else THEMES[0]


def etag_asked(request: RawRequest) -> str:
    """The version that the browser has already."""
    return request.headers.get("if-none-match", "")


def name_of(request: RawRequest) -> str:
    """The file that a path names."""
    return request.params.get("name", "")


def place_of(request: RawRequest) -> tuple[int, int]:
    """The reply that a path names, and which of its parts.

    Raises:
        PermanentChannelError: it names none.
    """
    given = (request.params.get("message", ""), request.params.get("n", ""))
    if not all(_SEQ.fullmatch(text) for text in given):
        raise PermanentChannelError("web.not-found")
    return int(given[0]), int(given[1])


def seen_of(request: RawRequest) -> int:
    """The number of the last reply that a reader saw; 0 at first."""
    given = (request.headers.get("last-event-id", ""), request.query.get("after", ""))
    return max(int(text) if _SEQ.fullmatch(text) else 0 for text in given)


def cursor_of(request: RawRequest) -> Cursor:
    """Where the page of history before ended."""
    found = _CURSOR.fullmatch(request.query.get("before", ""))
    return Cursor() if found is None else Cursor(said=int(found[1]), posted=int(found[2]))


def identity_cookie(token: str, *, secure: bool) -> tuple[str, str]:
    """The header that gives a browser its identity."""
    flags = "; HttpOnly; SameSite=Strict" + ("; Secure" if secure else "")
    return "set-cookie", f"{COOKIE}={token}; Path=/chat; Max-Age={KEPT_S}{flags}"


def language_cookie(locale: Locale) -> tuple[str, str]:
    """The header that makes a chosen language last."""
    return (
        "set-cookie",
        f"{LANGUAGE_COOKIE}={locale}; Path=/chat; Max-Age={KEPT_S}; SameSite=Lax",
    )


def to_message(
    post: Post, attachments: tuple[Attachment, ...], sender: Sender, account: str, at: datetime
) -> InboundMessage:
    """The unified event of what a user sent."""
    return InboundMessage(
        channel=CHANNEL,
        account=account,
        conversation=conversation_of(sender.id),
        sender=sender,
        reply=msgspec.structs.replace(
            chat_of(account, sender.id), in_reply_to=post.client_msg_id
        ),
        received_at=at,
        kind="action" if post.button else "message",
        dedup_keys=(f"cm:{sender.id}:{post.client_msg_id}",),
        platform_message_id=post.client_msg_id,
        text=unicodedata.normalize("NFC", post.text),
        text_raw=post.text,
        action=post.button,
        attachments=attachments,
    )


def said_item(message: InboundMessage, at: datetime) -> Json:
    """A user's own message for the page."""
    return {
        "type": "said",
        "id": message.id,
        "cm": message.platform_message_id,
        "at": at.isoformat(),
        "text": message.text_raw or message.text,
        "pressed": bool(message.action),
        "files": [
            {
                "name": attachment.name,
                "kind": attachment.kind,
                "size": attachment.size,
                "href": f"/chat/uploads/{attachment.ref.rpartition('/')[2]}",
            }
            for attachment in message.attachments
        ],
    }


def posted_item(posted: Posted, trees: MarkdownTree) -> Json:
    """A reply for the page."""
    message = posted.message
    return {
        "type": "posted",
        "id": message.id,
        "seq": posted.seq,
        "re": message.in_reply_to,
        "at": posted.at.isoformat(),
        "agent": message.agent,
        "speaker": message.speaker,
        "blocks": [
            _block(part, f"/chat/files/{posted.seq}/{number}", trees)
            for number, part in enumerate(message.parts)
        ],
    }


def preview_item(message: OutboundMessage, trees: MarkdownTree) -> Json:
    """A reply as far as it is written; a line of progress replaces nothing but itself."""
    progress = [part.text for part in message.parts if isinstance(part, Progress)]
    text = "\n\n".join(part.text for part in message.parts if isinstance(part, Markdown))
    item: Json = {
        "id": message.id,
        "re": message.in_reply_to,
        "agent": message.agent,
        "speaker": message.speaker,
        "blocks": [{"t": "text", "c": trees.parse(text)}] if text else [],
    }
    return {**item, "progress": progress[-1]} if progress else item


def _block(part: ReplyPart, href: str, trees: MarkdownTree) -> Json:
    match part:
        case Markdown(text=text) | Progress(text=text):
            return {"t": "text", "c": trees.parse(text)}
        case Buttons():
            choices = [_choice(button) for button in part.buttons]
            return {"t": "buttons", "c": trees.parse(part.text), "buttons": choices}
        case Image(ref=ref, alt=alt):
            link = safe_link(ref)
            kind = "link" if link else "image"
            return {"t": kind, "href": link or href, "name": alt or _last_name(ref)}
        case File(ref=ref, name=name):
            link = safe_link(ref)
            kind = "link" if link else "file"
            return {"t": kind, "href": link or href, "name": name or _last_name(ref)}


def _choice(button: Button) -> Json:
    """A button; the router's own, for a wrong answer, does not ask for attention."""
    quiet = {"quiet": True} if button.id.startswith(CORRECTION) else {}
    return {"id": button.id, "label": button.label, **quiet}


def _last_name(ref: str) -> str:
    return ref.rstrip("/").rpartition("/")[2] or ref


def event(name: str, item: Json, number: int | None = None) -> bytes:
    """One server-sent event; only what is numbered moves a reader's place."""
    head = b"" if number is None else b"id: %d\n" % number
    return head + b"event: %s\ndata: %s\n\n" % (name.encode(), msgspec.json.encode(item))


def merged(said: Sequence[Said], posted: Sequence[Posted]) -> list[Said | Posted]:
    """Both sides of a conversation by time; each side keeps its own order."""
    together: list[Said | Posted] = []
    waiting = list(posted)
    for one in said:
        while waiting and _came_before(waiting[0], one):
            together.append(waiting.pop(0))
        together.append(one)
    return together + waiting


def _came_before(posted: Posted, said: Said) -> bool:
    """Whether a reply stands above what was said; at the same time, if it answers another."""
    answers = posted.message.in_reply_to == said.message.platform_message_id
    return posted.at < said.at or (posted.at == said.at and not answers)


def history_of(
    page: Sequence[Said | Posted], before: Cursor, *, more: bool, trees: MarkdownTree
) -> Json:
    """A page of the conversation with where the next older one begins."""
    said = [one.seq for one in page if isinstance(one, Said)]
    posted = [one.seq for one in page if isinstance(one, Posted)]
    older = Cursor(
        said=said[0] if said else before.said, posted=posted[0] if posted else before.posted
    )
    return {
        "items": [
            said_item(one.message, one.at) if isinstance(one, Said) else posted_item(one, trees)
            for one in page
        ],
        "before": older.text() if more else "",
        "seq": max(posted, default=0),
    }
