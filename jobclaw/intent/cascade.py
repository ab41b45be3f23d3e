"""The cascade of tiers, cheapest first: the first one that is certain answers.

Tier 0, commands, is decided by the router before the binding. A learned tier follows after the
keywords, in `classify` below. The model, which may take seconds and must know who asks, is
asked by the router (`router/third_tier.py`) when this is not certain.
"""

from __future__ import annotations

from time import perf_counter

from jobclaw.intent.keyword_table import KeywordTable
from jobclaw.intent.keyword_tier import Verdict, judge
from jobclaw.intent.normalise import normalise
from jobclaw.model.decision import UNKNOWN, Classification, TierTrace


class Cascade:
    """Classifies texts; immutable, so that a new table means a new cascade.

    Confidence of `high` and more is reported as 1.0; from `medium` on it is used as it is; less
    is a guess. `margin`: how close two candidates must be for the clarification question.
    """

    __slots__ = ("_high", "_margin", "_medium", "_table")

    def __init__(
        self, table: KeywordTable, high: float = 0.9, medium: float = 0.7, margin: float = 0.15
    ) -> None:
        self._table = table
        self._high = high
        self._medium = medium
        self._margin = margin

    @property
    def revision(self) -> str:
        """Which keywords it knows."""
        return self._table.revision

    def classify(self, text: str) -> Classification:
        """Say what a text is about, and how that was found; never fails, whatever the text."""
        started = perf_counter()
        verdict = judge(self._table, normalise(text))
        outcome = self._outcome(verdict)
        elapsed_ms = round((perf_counter() - started) * 1000, 4)
        return self._classification(
            verdict, TierTrace(tier="keyword", outcome=outcome, ms=elapsed_ms)
        )

    def is_close(self, classification: Classification) -> bool:
        """Whether nothing is certain and the two best candidates are too close to guess."""
        margin = classification.margin
        return not classification.certain and margin is not None and margin <= self._margin

    def _outcome(self, verdict: Verdict) -> str:
        candidates = verdict.candidates
        if not candidates:
            return "none"
        best = candidates[0].confidence
        if best < self._medium:
            return "low"
        is_tie = len(candidates) > 1 and candidates[1].confidence == best
        return "tie" if is_tie and best < self._high else "hit"

    def _classification(self, verdict: Verdict, trace: TierTrace) -> Classification:
        candidates = verdict.candidates
        if not candidates:
            return Classification(
                intent=UNKNOWN,
                confidence=0.0,
                tier="none",
                certain=False,
                keywords=verdict.hits,
                tiers=(trace,),
            )
        best = candidates[0]
        second = candidates[1] if len(candidates) > 1 else None
        return Classification(
            intent=best.intent,
            confidence=1.0 if best.confidence >= self._high else best.confidence,
            tier="keyword",
            certain=trace.outcome == "hit",
            keywords=verdict.hits,
            candidates=candidates,
            runner_up=second,
            margin=round(best.confidence - second.confidence, 4) if second else None,
            tiers=(trace,),
        )
