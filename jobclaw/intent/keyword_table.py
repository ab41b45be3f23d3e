"""All weighted keywords in an automaton: one scan of a text, whatever the size of the table.

Immutable: a changed table is built anew and put in its place. Nothing here judges a hit; that
is `keyword_tier`.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Mapping, Sequence
from typing import Self

import msgspec
from ahocorasick_rs import AhoCorasick, Implementation

from jobclaw.intent.normalise import NormalText, fold_keywords

Owners = tuple[tuple[str, float], ...]
"""The intents of a keyword, each with its weight, in order of their names."""


_PART_SIZE = 50_000


class Match(msgspec.Struct, frozen=True, gc=False):
    """A keyword at `start:end` of the normalised text."""

    start: int
    end: int
    owners: Owners


class KeywordTable:
    """The keywords of all intents.

    Keywords are not kept: the automaton knows them, and a hit reads its own from the text. Most
    share their `Owners` with many others. That keeps 100 000 keywords below 20 MB. Building is
    bound by memory access: patterns in order take half the time, and two automata of 50 000
    again less than one of 100 000.
    """

    __slots__ = ("_parts", "_size", "priorities", "revision")

    def __init__(
        self, owners: Mapping[str, Owners], priorities: Mapping[str, int], revision: str
    ) -> None:
        patterns = sorted(owners, reverse=True)
        cuts = range(0, len(patterns), _PART_SIZE)
        self._parts = [_part(patterns[cut : cut + _PART_SIZE], owners) for cut in cuts]
        self._size = len(patterns)
        self.priorities = dict(priorities)
        self.revision = revision

    @classmethod
    def build(
        cls, intents: Mapping[str, Mapping[str, float]], priorities: Mapping[str, int]
    ) -> Self:
        """Build from intent → keyword → weight (0 to 1), and agent priority by intent (else 0).

        A keyword that two intents name belongs to both; spellings that normalise to one keep
        the highest weight; one of weight 0 is left out.
        """
        owners: dict[str, Owners] = {}
        digest = hashlib.sha256(repr(sorted(priorities.items())).encode())
        for intent in sorted(intents):
            keywords = {word: weight for word, weight in intents[intent].items() if weight > 0}
            words, weights = fold_keywords(keywords), array("d", keywords.values())
            digest.update("\n".join((intent, *words, "")).encode() + weights.tobytes())
            _add(owners, intent, _heaviest(words, weights))
        owners.pop("", None)
        return cls(owners, priorities, digest.hexdigest()[:12])

    def __len__(self) -> int:
        """How many different keywords there are."""
        return self._size

    def scan(self, normal: NormalText) -> list[Match]:
        """All keywords in the text, also overlapping ones; Latin ones as whole words only."""
        text = normal.text
        return [
            Match(start, end, owners[number])
            for automaton, owners in self._parts
            for number, start, end in automaton.find_matches_as_indexes(text, overlapping=True)
            if _is_whole(text, start, end) and not normal.is_cut(start)
        ]


def _part(
    patterns: list[str], owners: Mapping[str, Owners]
) -> tuple[AhoCorasick, list[Owners]]:
    automaton = AhoCorasick(
        patterns, store_patterns=False, implementation=Implementation.ContiguousNFA
    )
    return automaton, [owners[pattern] for pattern in patterns]


def _heaviest(words: Sequence[str], weights: Sequence[float]) -> dict[str, float]:
    found = dict(zip(words, weights, strict=True))
    if len(found) < len(words):
        for word, weight in zip(words, weights, strict=True):
            found[word] = max(found[word], weight)
    return found


def _add(owners: dict[str, Owners], intent: str, keywords: Mapping[str, float]) -> None:
    """Add the keywords of an intent: whole maps at a time, which halves the time."""
    known = {word: owners[word] for word in owners.keys() & keywords.keys()}
    shared = {weight: ((intent, weight),) for weight in set(keywords.values())}
    owners.update(zip(keywords, map(shared.__getitem__, keywords.values()), strict=True))
    for word, others in known.items():
        owners[word] = others + owners[word]


def _is_whole(text: str, start: int, end: int) -> bool:
    """Whether the borders are borders of words, where the keyword's own edge is of a word."""
    if start > 0 and _is_word(text[start]) and _is_word(text[start - 1]):
        return False
    return not (end < len(text) and _is_word(text[end - 1]) and _is_word(text[end]))


def _is_word(char: str) -> bool:
    """Letters and digits of scripts that put spaces between words, unlike CJK or Thai."""
    return char.isalnum() and (char < "\u0e00" or "\u1e00" <= char < "\u2000")
