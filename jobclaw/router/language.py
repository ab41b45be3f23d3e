"""The language that a user is answered in: fixed by `/lang`, else the one they write in."""

from __future__ import annotations

import re

from jobclaw.intent.normalise import fold
from jobclaw.model import Locale, User

_HAN = re.compile(r"[㐀-鿿豈-﫿぀-ヿ]")
_LATIN_WORD = re.compile(r"[A-Za-zÀ-ɏ]{2,}")
_SENTENCE_WORDS = 3
_ENGLISH = re.compile(
    r"\b(a|about|an|any|are|at|can|could|do|does|find|for|from|give|have|hello|help|how|i|in|is|it"
    r"|jobs|look|looking|me|my|near|need|on|please|recommend|search|show|some|tell|thanks|that|the"
    r"|there|to|want|what|when|where|which|who|why|with|would|you|your)\b",
    re.IGNORECASE,
)
POSTPONE_WORDS = frozenset({"跳过", "稍后", "skip", "later"})


def locale_of(user: User, text: str, default: Locale) -> Locale:
    """The language to answer in.

    What turns a Chinese chat English is a sentence: some Latin words of which one is plain
    English. Names, skills and product words (`Python and SQL`) are written so in Chinese too.
    """
    if user.locale_fixed and user.locale is not None:
        return user.locale
    if _HAN.search(text):
        return "zh"
    known = user.locale
    words = _LATIN_WORD.findall(text)
    if words and known is None:
        return "en"
    if len(words) >= _SENTENCE_WORDS and _ENGLISH.search(text):
        return "en"
    return known or default


def is_blank(text: str) -> bool:
    """Whether nothing of a text can be seen: spaces, control and format characters only."""
    return not any(char.isprintable() and not char.isspace() for char in text)


def bare(text: str) -> str:
    """A short answer as keywords are compared, without spaces and punctuation around it."""
    folded = fold(text)
    start, end = 0, len(folded)
    while start < end and not folded[start].isalnum():
        start += 1
    while end > start and not folded[end - 1].isalnum():
        end -= 1
    return folded[start:end]
