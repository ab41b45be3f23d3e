"""Gathers what an agent says in a turn into messages for the outbox.

Consecutive `Markdown` parts append to one message; `Buttons`, `File` and `Image` close it. A
leading `<think>` block of a model is removed, also while it is still being written.
"""

from __future__ import annotations

import re

from jobclaw.model import (
    Buttons,
    InboundMessage,
    Markdown,
    Offer,
    OutboundMessage,
    Progress,
    ReplyPart,
)
from jobclaw.router.language import is_blank

_THOUGHT = re.compile(r"\A\s*<think>.*?</think>\s*", re.DOTALL)
_OPEN_THOUGHT = re.compile(r"\A\s*<think>")


def without_thought(text: str) -> str:
    """The text without a leading `<think>` block; empty while the block is open."""
    if "<think>" not in text:
        return text
    text = _THOUGHT.sub("", text, count=1)
    return "" if _OPEN_THOUGHT.match(text) else text


class Draft:
    """The messages of one turn, in order; ids are the inbound id, a dot, and the number."""

    def __init__(self, message: InboundMessage, notices: tuple[str, ...] = ()) -> None:
        self._message = message
        self._done: list[OutboundMessage] = []
        self._text = ""
        self._lead = "\n".join(notices)
        self._agent = self._speaker = ""
        self._spoken = False
        self.offers: tuple[Offer, ...] = ()

    def speak(self, agent: str, name: str = "") -> None:
        """What follows is said by this agent, `name` to people, in a message of its own."""
        if agent != self._agent:
            self._close(())
            self._agent, self._speaker = agent, name
        self._spoken = False

    def lead(self, notices: tuple[str, ...]) -> None:
        """Put sentences above what comes next."""
        if notices:
            self._lead = "\n".join([self._lead, *notices] if self._lead else notices)

    def add(self, part: ReplyPart) -> bool:
        """Take a part; True if the text of the message being written has grown."""
        match part:
            case Markdown(text=text):
                self._text += text
                return bool(text)
            case Progress():
                return False
            case Buttons(buttons=(), text=text):
                return self.add(Markdown(text))
            case Buttons():
                self.offers = tuple(
                    Offer(id=button.id, label=button.label, say=button.say, pick=button.pick)
                    for button in part.buttons
                )
                self._close((part,))
            case _:
                self._close((part,))
        return False

    def is_silent(self) -> bool:
        """Whether the present speaker has said nothing visible."""
        return not self._spoken and is_blank(without_thought(self._text))

    def end_thought(self) -> None:
        """What follows is said aloud, even if a `<think>` block was left open."""
        if not self._spoken:
            self._text = "" if self.is_silent() else without_thought(self._text)

    def current(self) -> OutboundMessage | None:
        """The first message as far as it is written, None while it is empty.

        Later messages of a turn are not shown early: they would stand before the first, which
        is delivered with the turn.
        """
        if self._done:
            return None
        text = self._visible()
        return self._outbound((Markdown(text),)) if text else None

    def close(self) -> tuple[OutboundMessage, ...]:
        """All messages of the turn."""
        self._close(())
        return tuple(self._done)

    def _visible(self) -> str:
        text = (self._text if self._spoken else without_thought(self._text)).strip()
        return f"{self._lead}\n\n{text}" if self._lead and text else text or ""

    def _close(self, closing: tuple[ReplyPart, ...]) -> None:
        text = self._visible()
        if not text and closing and self._lead:
            text = self._lead
        parts = (Markdown(text), *closing) if text else closing
        self._text = ""
        if parts:
            self._spoken = True
            self._lead = ""
            self._done.append(self._outbound(parts))

    def _outbound(self, parts: tuple[ReplyPart, ...]) -> OutboundMessage:
        message = self._message
        return OutboundMessage(
            id=f"{message.id}.{len(self._done)}",
            target=message.reply,
            parts=parts,
            agent=self._agent,
            speaker=self._speaker,
            in_reply_to=message.platform_message_id or message.id,
        )
