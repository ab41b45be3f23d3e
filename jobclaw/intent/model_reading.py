"""Finds the answer in what a model wrote: fences, prose and thoughts around it do not matter.

What counts is the last complete JSON object with an "intent" outside of `<think>` blocks: a
model that corrects itself does so further down. Python's `NaN` and `Infinity` are no JSON.
Cut-off objects, trailing commas and single quotes stay unreadable; guessing at them would be
guessing at the user's wish.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import NoReturn, cast
from unicodedata import category

READ_MOST = 64 * 1024
STARTS_MOST = 200
_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_THOUGHT_END = re.compile(r"\A.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_BREAKS = str.maketrans("\r\n\t", "   ")
Found = Mapping[str, object]


def read_answer(text: str) -> Found | None:
    """The object that holds the answer, None if there is none in the first 64 KiB."""
    said = _THOUGHT.sub(" ", text[:READ_MOST])
    said = _THOUGHT_END.sub(" ", said)  # some servers leave the opening tag out
    found = None
    for one in _objects(said):
        if "intent" in one:
            found = one
    return found


def legible(text: str, most: int) -> str:
    """A text of the model as it may be stored and shown: bounded, no control characters."""
    spaced = text[: 2 * most].translate(_BREAKS)
    return "".join(char for char in spaced if category(char)[0] != "C")[:most]


def _objects(text: str) -> Iterator[Found]:
    """The JSON objects in a text, in order; one inside another is part of it."""
    decoder = json.JSONDecoder(parse_constant=_refuse)
    at = text.find("{")
    for _ in range(STARTS_MOST):
        if at < 0:
            return
        end = at + 1
        try:
            value, end = cast("tuple[Found, int]", decoder.raw_decode(text, at))
            yield value
        except (ValueError, RecursionError):  # no JSON here, or nested without end
            end = at + 1
        at = text.find("{", end)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)
