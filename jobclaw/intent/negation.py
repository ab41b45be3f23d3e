"""Which keywords a text denies: 不要推荐, 订阅就不用了, don't recommend; but not 不仅要推荐.

A negator governs what follows it in its clause, up to a limit. Some close at once and look back
(不用了), some only qualify a noun (不加班的岗位), two in a row cancel out (不是不想), and much
that looks like one is none (是不是, 不错, 别忘了, not only). The words are in `negation_words`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate, pairwise
from operator import attrgetter, itemgetter

import msgspec

from jobclaw.intent import negation_words as words

Span = tuple[int, int]
BAN_REACH, PLAIN_REACH = 16, 6
"""How many words or CJK characters may stand between a negator and what it denies."""
_NEAREST = 4
"""How many negators before a keyword are looked at: keeps hostile repetition cheap."""


class Negator(msgspec.Struct, frozen=True, gc=False):
    """A word at `start:end` that denies what follows, up to `reach`.

    A ban denies more than what it stands before.
    """

    start: int
    end: int
    is_ban: bool
    reach: int


class Negation:
    """The negators of one text, asked about each keyword found in it."""

    __slots__ = ("_keywords", "_negators", "_patterns", "_text")

    def __init__(self, text: str, keywords: Sequence[Span]) -> None:
        """Find them; `keywords`: all that were found, in order.

        A negator inside a keyword is a part of it and denies nothing else, unless the words go
        on with another keyword that begins in it: 不要再推 and 推荐岗位 in 不要再推荐岗位.
        """
        self._text = text
        self._keywords = keywords
        self._patterns = [pattern for sign, pattern in words.NEGATORS if sign.search(text)]
        self._negators = _find_negators(text, self._patterns)
        if self._negators:
            ends = list(accumulate((end for _, end in keywords), max))
            self._negators = [
                kept
                for negator in self._negators
                if (kept := self._outside(negator, ends)) is not None
            ]

    def governs(self, start: int, end: int) -> bool:
        """Whether the keyword at `start:end` is denied."""
        if not self._patterns:
            return False
        if words.POSTPOSED_SIGN.search(self._text, end) and self._is_denied_afterwards(end):
            return True
        if not self._negators:
            return False
        last = bisect_left(self._negators, start, key=attrgetter("start"))
        for index in range(last - 1, max(last - 1 - _NEAREST, -1), -1):
            if self._reaches(self._negators[index], start):
                return self._count_in_row(index) % 2 == 1
        return False

    def _outside(self, negator: Negator, ends: Sequence[int]) -> Negator | None:
        """The negator as it acts outside the keyword that holds it, if any does."""
        end = _last_end(ends, self._index(negator.start + 1))
        if negator.end > end:
            return negator
        is_order = negator.is_ban and not words.STATED.match(self._text, negator.start)
        if not is_order or negator.end == end:
            return None
        return Negator(negator.start, end - 1, is_ban=True, reach=0)

    def _index(self, position: int) -> int:
        """The number of keywords that start before `position`."""
        return bisect_left(self._keywords, position, key=itemgetter(0))

    def _is_denied_afterwards(self, end: int) -> bool:
        found = words.POSTPOSED.match(self._text, end)
        if found is None:
            return False
        between = self._keywords[self._index(end) : self._index(found.end())]
        return not any(found.end() <= stop for _, stop in between)

    def _reaches(self, negator: Negator, start: int) -> bool:
        text, after = self._text, negator.end
        if after >= start:
            return True
        if words.BORDER.search(text, after, start):
            return False
        if self._distance(after, start) > negator.reach:
            return False
        light = words.LIGHT.match(text, after, start)
        if words.REQUEST.search(text, light.end() + 1 if light else after, start):
            return False
        return negator.is_ban or not self._only_qualifies(after, start)

    def _only_qualifies(self, after: int, start: int) -> bool:
        """Whether the scope ends with 的 (不加班的岗位) and no keyword stands before that."""
        end = self._text.rfind("的", after, start)
        return end > after and self._index(after) == self._index(end)

    def _count_in_row(self, last: int) -> int:
        """How many negators stand side by side up to `last`; one said twice counts once."""
        row = self._negators[max(0, last - _NEAREST) : last + 1]
        count = 1
        for later, earlier in pairwise(reversed(row)):
            is_border = words.BORDER.search(self._text, earlier.end, later.start)
            if is_border or self._distance(earlier.end, later.start) > 1:
                break
            count += self._word(earlier) != self._word(later)
        return count

    def _distance(self, start: int, end: int) -> int:
        return len(words.UNIT.findall(self._text, start, end))

    def _word(self, negator: Negator) -> str:
        return self._text[negator.start : negator.end]


def _last_end(ends: Sequence[int], count: int) -> int:
    return ends[count - 1] if count else 0


def _find_negators(text: str, patterns: Sequence[re.Pattern[str]]) -> list[Negator]:
    reach = {"ban": BAN_REACH, "plain": PLAIN_REACH}
    found = [
        Negator(token.start(), token.end(), kind == "ban", reach[kind])
        for pattern in patterns
        for token in pattern.finditer(text)
        if (kind := token.lastgroup) in reach and not _is_question(text, token.start())
    ]
    if len(patterns) > 1:
        found.sort(key=attrgetter("start"))
    return found


def _is_question(text: str, start: int) -> bool:
    """Whether a word stands on both sides: 是不是, 能不能, 要不要, 有没有, 推不推荐."""
    return (
        start > 0
        and text[start] in "不没"
        and text[start - 1 : start] == text[start + 1 : start + 2]
    )
