"""Which keywords a text denies: 不要推荐, 订阅就不用了, don't recommend; but not 不仅要推荐.

A negator governs what follows it in its clause, up to a limit. Some close at once and look back
(不用了), some only qualify a noun (不加班的岗位), two in a row cancel out (不是不想), and much
that looks like one is none (是不是, 不错, 别忘了, not only). The words are in `negation_words`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from operator import attrgetter

import msgspec

from jobclaw.intent import negation_words as words

Span = tuple[int, int]
BAN_REACH, PLAIN_REACH = 16, 6
"""How many words or CJK characters may stand between a negator and what it denies."""


class Negator(msgspec.Struct, frozen=True, gc=False):
    """A word at `start:end` that denies what follows; a ban more than what it stands before."""

    start: int
    end: int
    is_ban: bool


class Negation:
    """The negators of one text, asked about each keyword found in it."""

    __slots__ = ("_keywords", "_negators", "_patterns", "_text")

    def __init__(self, text: str, keywords: Sequence[Span]) -> None:
        """Find them; `keywords`: all that were found. A negator inside one denies nothing."""
        self._text = text
        self._keywords = keywords
        self._patterns = [pattern for sign, pattern in words.NEGATORS if sign.search(text)]
        self._negators = [
            negator
            for negator in _find_negators(text, self._patterns)
            if not any(start <= negator.start and negator.end <= end for start, end in keywords)
        ]

    def governs(self, start: int, end: int) -> bool:
        """Whether the keyword at `start:end` is denied."""
        if not self._patterns:
            return False
        if self._is_denied_afterwards(end):
            return True
        before = [
            one for one in self._negators if one.start < start and self._reaches(one, start)
        ]
        return bool(before) and self._count_in_row(before[-1]) % 2 == 1

    def _is_denied_afterwards(self, end: int) -> bool:
        found = words.POSTPOSED.match(self._text, end)
        return found is not None and not any(
            start >= end and start < found.end() <= stop for start, stop in self._keywords
        )

    def _reaches(self, negator: Negator, start: int) -> bool:
        text, after = self._text, negator.end
        if after >= start:
            return True
        reach = BAN_REACH if negator.is_ban else PLAIN_REACH
        if words.BORDER.search(text, after, start) or self._distance(after, start) > reach:
            return False
        light = words.LIGHT.match(text, after, start)
        if words.REQUEST.search(text, light.end() + 1 if light else after, start):
            return False
        return negator.is_ban or not self._only_qualifies(after, start)

    def _only_qualifies(self, after: int, start: int) -> bool:
        """Whether the scope ends with 的 (不加班的岗位) and no keyword stands before that."""
        end = self._text.rfind("的", after, start)
        return end > after and not any(after <= one < end for one, _ in self._keywords)

    def _count_in_row(self, last: Negator) -> int:
        """How many negators stand side by side up to `last`; one said twice counts once."""
        row = self._negators[: self._negators.index(last) + 1]
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


def _find_negators(text: str, patterns: Sequence[re.Pattern[str]]) -> list[Negator]:
    found = [
        Negator(token.start(), token.end(), token.lastgroup == "ban")
        for pattern in patterns
        for token in pattern.finditer(text)
        if token.lastgroup in ("ban", "plain") and not _is_question(text, token.start())
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
