"""Shows a message as far as a channel can: what it cannot is said in text, never dropped."""

from __future__ import annotations

import msgspec

from jobclaw.model import (
    CORRECTION,
    Buttons,
    File,
    Image,
    Markdown,
    OutboundMessage,
    Progress,
    ReplyPart,
)
from jobclaw.spi.channel import Capabilities


def numbered(buttons: Buttons) -> str:
    """Choices as numbered lines; the router takes the number for the button."""
    lines = [buttons.text] if buttons.text else []
    number = 0
    for button in buttons.buttons:
        is_choice = not button.id.startswith(CORRECTION)
        number += is_choice
        lines.append(f"{number if is_choice else 0}. {button.label}")
    return "\n".join(lines)


def _as_text(part: ReplyPart) -> str:
    match part:
        case Markdown(text=text) | Progress(text=text):
            return text
        case Buttons():
            return numbered(part)
        case Image(ref=ref, alt=alt):
            return f"{alt}：{ref}" if alt else ref
        case File(ref=ref, name=name):
            return f"{name}：{ref}" if name else ref


def plain_text(message: OutboundMessage) -> str:
    """The whole message as text, choices numbered."""
    return "\n\n".join(text for part in message.parts if (text := _as_text(part)))


def render(message: OutboundMessage, capabilities: Capabilities) -> OutboundMessage:
    """The message with its buttons as numbered lines where the channel has none."""
    if capabilities.buttons or not any(isinstance(part, Buttons) for part in message.parts):
        return message
    return msgspec.structs.replace(message, parts=(Markdown(plain_text(message)),))
