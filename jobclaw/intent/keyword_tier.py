"""The keyword tier: which hits count, and which intent they speak for.

The order of intents is total and the same in every process: weight, longest match, number of
distinct keywords, agent priority, name.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from jobclaw.intent.keyword_table import KeywordTable, Match
from jobclaw.intent.negation import Negation
from jobclaw.intent.normalise import NormalText
from jobclaw.intent.quotation import find_quotations
from jobclaw.model.decision import DiscountReason, KeywordHit, RunnerUp


class Verdict(msgspec.Struct, frozen=True):
    """All hits in the order of the text, and the intents of those that count, best first."""

    hits: tuple[KeywordHit, ...]
    candidates: tuple[RunnerUp, ...]


class _Claim(msgspec.Struct, gc=False):
    """What speaks for an intent: its best keyword, and all that count."""

    best: tuple[float, int]
    keywords: set[str]


def judge(table: KeywordTable, normal: NormalText) -> Verdict:
    """Scan a text and weigh what was found."""
    matches = table.scan(normal)
    if not matches:
        return Verdict((), ())
    matches.sort(key=_position)
    reasons = _discounts(normal.text, matches)
    hits: list[KeywordHit] = []
    claims: dict[str, _Claim] = {}
    for match, why in zip(matches, reasons, strict=True):
        keyword = normal.text[match.start : match.end]
        start = normal.origin(match.start)
        for intent, weight in match.owners:
            hits.append(
                KeywordHit(
                    keyword=keyword,
                    intent=intent,
                    weight=weight,
                    start=start,
                    counted=not why,
                    why=why,
                )
            )
            if not why:
                _support(claims, intent, keyword, weight)
    return Verdict(tuple(hits), _ranking(claims, table))


def _support(claims: dict[str, _Claim], intent: str, keyword: str, weight: float) -> None:
    best = (weight, len(keyword))
    claim = claims.get(intent)
    if claim is None:
        claims[intent] = _Claim(best, {keyword})
        return
    claim.keywords.add(keyword)
    claim.best = max(claim.best, best)


def _position(match: Match) -> tuple[int, int]:
    return match.start, -match.end


def _discounts(text: str, matches: Sequence[Match]) -> list[DiscountReason]:
    """Why each match does not count, empty where it does; `matches` in order of position."""
    quotations = find_quotations(text)
    negation = Negation(text, [(match.start, match.end) for match in matches])
    reasons: list[DiscountReason] = []
    reached = 0
    for match in matches:
        start, end = match.start, match.end
        if quotations and any(quotation.covers(start, end) for quotation in quotations):
            reasons.append("quoted")
        elif end <= reached:  # an earlier match starts no later, and is longer
            reasons.append("inside")
        else:
            reasons.append("negated" if negation.governs(start, end) else "")
        reached = max(reached, end)
    return reasons


def _ranking(claims: dict[str, _Claim], table: KeywordTable) -> tuple[RunnerUp, ...]:
    if len(claims) == 1:
        ((intent, claim),) = claims.items()
        return (RunnerUp(intent=intent, confidence=claim.best[0]),)
    ranked = sorted(
        (
            -claim.best[0],
            -claim.best[1],
            -len(claim.keywords),
            -table.priorities.get(intent, 0),
            intent,
        )
        for intent, claim in claims.items()
    )
    return tuple(RunnerUp(intent=rank[4], confidence=-rank[0]) for rank in ranked)
