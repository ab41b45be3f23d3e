"""The form in which texts and keywords are compared, and the way back to the original text.

NFKC, case-folded, Traditional written as Simplified, without format characters, runs of spaces
and tabs as one space. The agent never sees this form: it gets the original text.

Characters are simplified one by one, not by opencc's phrases: what a character becomes must not
depend on its neighbours, or a keyword alone and inside a text would differ (乾隆 and 隆).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import cache
from typing import cast
from unicodedata import category, normalize

import msgspec

LIMIT = 2000
"""Code points that are read; what follows cannot change the intent."""

# One code point in, one out, whatever stands beside it: most messages, and the fast path.
_PLAIN_CHARS = (
    r"\u4e00-\u9fff -~\t\r\n\u3000-\u3011\uff01-\uff5e“”‘’—·"
    r"\U0001f300-\U0001f6ff\U0001f900-\U0001faff"
)
_PLAIN = re.compile(f"[{_PLAIN_CHARS}]*")
# A run of them, without the last where another kind follows: that one may be joined to it.
_RUN = re.compile(f"[{_PLAIN_CHARS}]+(?=[{_PLAIN_CHARS}]|\\Z)")
# Category Cf, variation selectors and the grapheme joiner: invisible, and inside keywords only
# by accident or malice.
_INVISIBLE = re.compile(
    r"[\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f"
    r"\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffb\U000110bd"
    r"\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    r"\U000e0001\U000e0020-\U000e007f\U000e0100-\U000e01ef]"
)
_SURROGATE = re.compile(r"[\ud800-\udfff]")
# What joins the character before it: conjoining and half-width jamo, half-width voiced marks.
_JOINING = re.compile(r"[\u1160-\u11ff\u3131-\u318e\uff9e\uff9f\uffa0-\uffdc]")
_SPACES = re.compile(r" {2,}")


class NormalText(msgspec.Struct, frozen=True, gc=False):
    """A normalised text; `starts`: the original index of each character where they differ."""

    text: str
    starts: tuple[int, ...] | None = None

    def origin(self, index: int) -> int:
        """Where in the original text (code points) the character at `index` comes from."""
        return index if self.starts is None else self.starts[index]

    def is_cut(self, index: int) -> bool:
        """Whether `index` stands inside what one original character became, as the i of ﬁ."""
        return (
            self.starts is not None
            and index > 0
            and self.starts[index - 1] == self.starts[index]
        )


def normalise(text: str) -> NormalText:
    """Normalise the first `LIMIT` characters of a message."""
    text = text[:LIMIT].replace("\t", " ")
    if _PLAIN.fullmatch(text):
        folded = normalize("NFKC", text).lower()
        if "  " not in folded:
            return NormalText(_simplify(folded))
    return _by_cluster(text)


def fold(text: str) -> str:
    """The normalised form of a text of any length, without the way back."""
    text = text.replace("\t", " ")
    if _PLAIN.fullmatch(text):
        folded = normalize("NFKC", text).lower()
    else:
        folded = _fold(_SURROGATE.sub("\ufffd", _INVISIBLE.sub("", text)))
    return _simplify(_SPACES.sub(" ", folded))


def fold_keywords(keywords: Collection[str]) -> list[str]:
    """The normalised forms in order; a hundred thousand together take 30 ms."""
    folded = fold("\n".join(keywords))
    words = folded.split("\n")
    if len(words) != len(keywords):  # a keyword holds a line break
        words = [fold(keyword).strip() for keyword in keywords]
    elif "\n " in folded or " \n" in folded or folded != folded.strip(" "):
        words = [word.strip() for word in words]
    return words


def _fold(text: str) -> str:
    return normalize("NFKC", normalize("NFKC", text).casefold())


def _by_cluster(text: str) -> NormalText:
    """Normalise piece by piece, so that every character of the result knows its source."""
    pieces: list[str] = []
    starts: list[int] = []
    ends_in_space = False
    for start, piece in _pieces(text):
        folded = _SPACES.sub(" ", _fold(piece))
        is_run = len(folded) == len(piece) > 1 and _RUN.fullmatch(piece) is not None
        sources = range(start, start + len(piece)) if is_run else [start] * len(folded)
        skipped = 1 if ends_in_space and folded.startswith(" ") else 0
        if len(folded) > skipped:
            ends_in_space = folded.endswith(" ")
            pieces.append(folded[skipped:])
            starts.extend(sources[skipped:])
    return NormalText(_simplify("".join(pieces)), tuple(starts))


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """Runs of plain characters, and each other base with what joins it, by original index."""
    index = 0
    while index < len(text):
        run = _RUN.match(text, index)
        if run and "  " not in _fold(run[0]):
            yield index, run[0]
            index = run.end()
            continue
        start, index, cluster = _cluster(text, index)
        if cluster:
            yield start, cluster


def _cluster(text: str, start: int) -> tuple[int, int, str]:
    """The base at `start` with what joins it; the end; invisible characters left out."""
    index, cluster = start, ""
    while index < len(text):
        char = text[index]
        if not _INVISIBLE.match(char):
            kind = category(char)
            if cluster and kind[0] != "M" and not _JOINING.match(char):
                break
            start = start if cluster else index
            cluster += "\ufffd" if kind == "Cs" else char
        index += 1
    return start, index, cluster


def _simplify(text: str) -> str:
    table, traditional = _traditional()
    return traditional.sub(lambda found: table[found[0]], text)


@cache
def _traditional() -> tuple[dict[str, str], re.Pattern[str]]:
    """Traditional characters with their simplified forms, read once from opencc (10 ms)."""
    from opencc import OpenCC  # noqa: PLC0415 (not before the first text)

    ideographs = [chr(point) for point in range(0x3400, 0xA000)]
    # opencc ships no types
    simplified = cast("str", OpenCC("t2s").convert("\n".join(ideographs)))  # pyright: ignore[reportUnknownMemberType]
    pairs = zip(ideographs, simplified.split("\n"), strict=True)
    table = {old: new for old, new in pairs if old != new and len(new) == 1}
    return table, re.compile(f"[{''.join(table)}]")
