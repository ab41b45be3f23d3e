"""Hides what is secret in settings that are shown, wherever people put it.

Fields that are secrets by their type are masked before; this finds the others: a password in
an address, a token in a query or on a command line, a variable such as `API_KEY=…`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import cast

from jobclaw.settings.secrets import names_secret

MASK = "**********"
_USER = re.compile(r"(?<=://)[^/?#\s]*@")
_PAIR = re.compile(r"([A-Za-z0-9_.-]+)(=)([^&\s;,#]+)")
_HEADER = re.compile(r"\b(authorization|x-api-key|api-key)(:\s*)\S.*", re.IGNORECASE)
_BEARER = re.compile(r"\b(bearer|basic)(\s+)\S+", re.IGNORECASE)
_FLAG = re.compile(r"--?[A-Za-z][A-Za-z0-9_.-]*")
_WORDS = re.compile(r"(--?[A-Za-z][A-Za-z0-9_.-]*)(\s+)([^-\s]\S*)")


def masked(value: object) -> object:
    """The same JSON value with secrets in its texts and lists replaced."""
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list):
        return list(_words(cast("list[object]", value)))
    if isinstance(value, dict):
        items = cast("dict[str, object]", value).items()
        return {name: masked(part) for name, part in items}
    return value


def masked_by_name(value: object) -> object:
    """As `masked`, and everything under a name of a secret: for settings without a schema."""
    if isinstance(value, dict):
        items = cast("dict[str, object]", value).items()
        return {
            name: MASK if names_secret(name) and part else masked_by_name(part)
            for name, part in items
        }
    if isinstance(value, list | tuple):
        return [masked_by_name(part) for part in cast("Sequence[object]", value)]
    return value


def _text(text: str) -> str:
    text = _USER.sub(f"{MASK}@", text)
    text = _HEADER.sub(rf"\1\2{MASK}", text)
    text = _BEARER.sub(rf"\1\2{MASK}", text)
    for pattern in (_PAIR, _WORDS):
        text = pattern.sub(_hide, text)
    return text


def _hide(found: re.Match[str]) -> str:
    name, between, _ = found.groups()
    return f"{name}{between}{MASK}" if names_secret(name) else found[0]


def _words(words: Sequence[object]) -> Iterator[object]:
    """A list, which may be a command line: what follows `--token` is one."""
    hide = False
    for word in words:
        yield MASK if hide and isinstance(word, str) else masked(word)
        hide = isinstance(word, str) and bool(_FLAG.fullmatch(word)) and names_secret(word)
