"""The two languages of jobclaw, and which one a person at a terminal reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Locale = Literal["zh", "en"]
LOCALES: tuple[Locale, ...] = ("zh", "en")
_VARIABLES = ("JOBCLAW_LANG", "LC_ALL", "LC_MESSAGES", "LANG")


def reader_locale(env: Mapping[str, str]) -> Locale:
    """Tell the language of the command line: the first of the four variables that is set."""
    for name in _VARIABLES:
        value = env.get(name, "").strip()
        if value:
            return "zh" if value.lower().startswith("zh") else "en"
    return "en"
