"""Reads the first token of a text as a command, in every form that phones produce.

A command is the first token, exactly a registered name. Full-width letters and slashes count as
the plain ones, format characters and the byte-order mark are ignored, no-break and ideographic
spaces are spaces, case does not matter, and `_` is `-`. Paths, comments and fractions are text.
(Where a platform keeps `/` for itself, its adapter turns the `!` that stands for it into `/`.)
"""

from __future__ import annotations

import unicodedata

from jobclaw.model import Value

_OPENERS = frozenset("/／@＠")
_NAME = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")


class CommandToken(Value, frozen=True):
    """The token taken apart: `prefix` is `/` or `@`; `bot` is what stood after an inner `@`."""

    prefix: str
    name: str
    bot: str
    args: str | None


def _is_format(char: str) -> bool:
    return unicodedata.category(char) == "Cf"


def _skip(text: str) -> int:
    """Where the first character stands that is neither a space nor a format character."""
    for index, char in enumerate(text):
        if not char.isspace() and not _is_format(char):
            return index
    return len(text)


def fold(token: str) -> str:
    """The token as names are compared: NFKC, case-folded, no format characters, `-` for `_`."""
    plain = "".join(char for char in token if not _is_format(char))
    return unicodedata.normalize("NFKC", plain).casefold().replace("_", "-")


def read_command(text: str) -> CommandToken | None:
    """The leading command token of a text, or None if it is plain text.

    `name` is empty for a slash that stands alone (`/`, `/ help`).
    """
    start = _skip(text)
    if start == len(text) or text[start] not in _OPENERS:
        return None
    token, _, rest = _split(text[start:])
    folded = fold(token)
    prefix, (name, _, bot) = folded[0], folded[1:].partition("@")
    if "/" in folded[1:] or not set(name) <= _NAME:
        return None
    args = rest.strip() or None
    return CommandToken(prefix=prefix, name=name, bot=bot.replace("-", "_"), args=args)


def _split(text: str) -> tuple[str, str, str]:
    for index, char in enumerate(text):
        if char.isspace():
            return text[:index], char, text[index + 1 :]
    return text, "", ""
