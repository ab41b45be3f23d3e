"""Judges what a model answered; strict, since users can make a model write anything.

A label counts if it is one of the choices, whatever its case and separators (`job search`,
`Job-Search`); all else, the names of commands included, is UNKNOWN. How confidence is read:

    0.83, "0.83"            as it is
    2 … 100, "95"           whole numbers are percent: 0.02 … 1.0
    1.01, -0.2, 250, 95.5   out of range: 0
    true, "high", null, []  no number: UNKNOWN
    1e999                   no finite number: UNKNOWN
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import cast

from jobclaw.intent.model_reading import Found
from jobclaw.model.decision import UNKNOWN, RunnerUp

_SEPARATORS = re.compile(r"[\s_-]+")
_NUMBER = re.compile(r"\s*([+-]?\d{1,9}(?:\.\d{1,20})?)\s*", re.ASCII)
LABEL_MOST = 100
PERCENT_LEAST, PERCENT_MOST = 2, 100


class Labels:
    """The permitted labels; exact ones first, then folded ones that mean only one."""

    def __init__(self, intents: Sequence[str]) -> None:
        self._exact = frozenset(intents)
        self._folded: dict[str, str] = {}
        for intent in intents:
            folded = _fold(intent)
            self._folded[folded] = UNKNOWN if folded in self._folded else intent

    def find(self, label: object) -> str:
        """The intent that a label names, UNKNOWN if it names none."""
        if not isinstance(label, str) or len(label) > LABEL_MOST:
            return UNKNOWN
        if label in self._exact:
            return label
        return self._folded.get(_fold(label), UNKNOWN)


def judge(found: Found, labels: Labels) -> tuple[str, float | None]:
    """The intent, and how sure the model is: None when that is no number."""
    confidence = read_confidence(found.get("confidence"))
    intent = labels.find(found.get("intent"))
    if intent == UNKNOWN or confidence is None:
        return UNKNOWN, None if confidence is None else 0.0
    return intent, confidence


def judge_runner_up(found: Found, labels: Labels, chosen: str) -> RunnerUp | None:
    """The second intent under the same rules; None if it is none, or the first again."""
    second = found.get("runner_up")
    if not isinstance(second, Mapping):
        return None
    intent, confidence = judge(cast("Found", second), labels)
    if intent in (UNKNOWN, chosen) or not confidence:
        return None
    return RunnerUp(intent=intent, confidence=confidence)


def read_confidence(value: object) -> float | None:
    """A confidence in [0, 1] by the table above, None for what is no finite number."""
    if isinstance(value, str):
        number = _NUMBER.fullmatch(value)
        value = None if number is None else float(number[1])
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if PERCENT_LEAST <= value <= PERCENT_MOST and value == int(value):
        return value / 100
    return float(value) if 0 <= value <= 1 else 0.0


def _fold(label: str) -> str:
    return _SEPARATORS.sub("", label.strip()).casefold()
