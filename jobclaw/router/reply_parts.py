"""Checks what an agent yields before anything relies on it.

The values of `spi` are plain structs that take whatever they are given; a number for a text
would only be noticed when the session is read back, by the next message.
"""

from __future__ import annotations

from typing import cast

from jobclaw.model import Button, Buttons, File, Image, Markdown, Progress, ReplyPart


class NoReplyError(Exception):
    """Something that is no reply part, or has a field of the wrong type."""


def repaired(text: str) -> str:
    """The text without lone surrogates, which no platform and no file can take."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def checked(part: object) -> ReplyPart:
    """The part, its texts fit to be stored.

    Raises:
        NoReplyError: it is none.
    """
    match part:
        case Markdown(text=text):
            return part if _is_sound(part, text) else Markdown(repaired(text))
        case Progress(text=text):
            return part if _is_sound(part, text) else Progress(repaired(text))
        case Buttons(buttons=buttons, text=text):
            if not isinstance(cast("object", buttons), tuple | list):
                raise NoReplyError(f"yielded Buttons of a {type(buttons).__name__}")
            return Buttons(tuple(map(_button, buttons)), _text(part, text))
        case Image(ref=ref, alt=alt):
            return Image(_text(part, ref), _text(part, alt))
        case File(ref=ref, name=name, mime=mime):
            return File(_text(part, ref), _text(part, name), _text(part, mime))
        case _:
            raise NoReplyError(f"yielded {type(part).__name__}, which is no reply part")


def _button(button: object) -> Button:
    if not isinstance(button, Button):
        raise NoReplyError(f"yielded Buttons with a {type(button).__name__}")
    return Button(
        id=_text(button, button.id),
        label=_text(button, button.label),
        say=_text(button, button.say),
        pick=_text(button, button.pick),
    )


def _text(part: object, value: str) -> str:
    return value if _is_sound(part, value) else repaired(value)


def _is_sound(part: object, value: object) -> bool:
    """Whether a text needs no repair."""
    if not isinstance(value, str):
        given, kind = type(value).__name__, type(part).__name__
        raise NoReplyError(f"yielded {kind} with {given} where a text belongs")
    return value.isascii()
