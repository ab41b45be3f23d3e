"""The language that a user is answered in: fixed by `/lang`, else the one they write in."""

from __future__ import annotations

import re
import unicodedata

from jobclaw.model import Locale, User

_HAN = re.compile(r"[㐀-鿿豈-﫿぀-ヿ]")
_LATIN_WORD = re.compile(r"[A-Za-zÀ-ɏ]{2,}")
_SENTENCE_WORDS = 3
POSTPONE_WORDS = frozenset({"跳过", "稍后", "skip", "later"})


def locale_of(user: User, text: str, default: Locale) -> Locale:
    """The language to answer in; a word or two of Latin do not turn a Chinese chat English."""
    if user.locale_fixed and user.locale is not None:
        return user.locale
    if _HAN.search(text):
        return "zh"
    known = user.locale
    words = len(_LATIN_WORD.findall(text))
    if words >= _SENTENCE_WORDS or (words and known is None):
        return "en"
    return known or default


def is_blank(text: str) -> bool:
    """Whether nothing of a text can be seen: spaces, control and format characters only."""
    return not any(char.isprintable() and not char.isspace() for char in text)


def bare(text: str) -> str:
    """A short answer without width, case, spaces and punctuation around it."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    start, end = 0, len(folded)
    while start < end and not folded[start].isalnum():
        start += 1
    while end > start and not folded[end - 1].isalnum():
        end -= 1
    return folded[start:end]
