"""The small posting file that the first agents answer from, and how it is searched.

The words of a request are compared with skills, titles, companies and places: Latin words as
whole words, Chinese by shared pairs of characters. A place or a skill that is named must be
met.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from importlib.resources import files

import msgspec

_LATIN = re.compile(r"[a-z][a-z0-9+#.]*[a-z0-9+#]|[a-z]")
_HAN_RUN = re.compile(r"[㐀-鿿]{2,}")
# Cut out before pairs are made, so that none spans them: 推荐几个岗位 names nothing.
_FILLER = re.compile(
    r"有什么|有没有|适合我的|合适的|推荐|看看|给我|帮我|几个|几份|一些|一点|什么|哪些|随便"
    r"|岗位|工作|职位|招聘|吗|吧|呢|啊|呀|我|的"
)
_REMOTE = frozenset({"远程", "remote"})


class Posting(msgspec.Struct, frozen=True, kw_only=True):
    """One posting; salaries in `salary_unit`, the currency and period as written there."""

    id: str
    company: str
    company_type: str
    title: str
    locations: tuple[str, ...]
    recruitment_type: str
    target: str
    salary_min: int
    salary_max: int
    salary_unit: str
    salary_months: int | None
    skills: tuple[str, ...]
    description: str
    link: str

    @property
    def salary(self) -> str:
        """The salary as people write it, such as 20-35K·14薪 or 65000-85000 EUR/year."""
        if self.salary_unit == "CNY":
            text = f"{self.salary_min / 1000:g}-{self.salary_max / 1000:g}K"
        else:
            text = f"{self.salary_min}-{self.salary_max} {self.salary_unit}"
        return f"{text}·{self.salary_months}薪" if self.salary_months else text


class Match(msgspec.Struct, frozen=True):
    """A posting with the words that speak for it."""

    posting: Posting
    score: int
    words: tuple[str, ...]


def load_postings() -> tuple[Posting, ...]:
    """Read the postings shipped with the package, in file order."""
    text = (files("jobclaw_jobs") / "data" / "postings.jsonl").read_text("utf-8")
    return tuple(msgspec.json.decode(line, type=Posting) for line in text.splitlines())


def _general_words() -> frozenset[str]:
    """Words of requests and titles that tell no posting from another."""
    text = (files("jobclaw_jobs") / "data" / "general_words.txt").read_text("utf-8")
    return frozenset(text.split())


def _place_names() -> tuple[tuple[re.Pattern[str], str], ...]:
    """English names of places, each with the name that postings use."""
    text = (files("jobclaw_jobs") / "data" / "places.txt").read_text("utf-8")
    pairs = (line.split() for line in text.splitlines())
    return tuple((re.compile(rf"\b{english}\b"), name) for english, name in pairs)


_GENERAL = _general_words()
_PLACES = _place_names()


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _translated(text: str) -> str:
    """The text with English names of places in the spelling of the postings."""
    folded = _fold(text)
    for english, name in _PLACES:
        folded = english.sub(name, folded)
    return folded


def _words(text: str) -> set[str]:
    """The Latin words and Chinese character pairs of a text that say something."""
    folded = _fold(text)
    latin = {word for word in _LATIN.findall(folded) if word not in _GENERAL}
    runs = _HAN_RUN.findall(_FILLER.sub(" ", folded))
    pairs = {run[i : i + 2] for run in runs for i in range(len(run) - 1)}
    return latin | (pairs - _GENERAL)


def _named(text: str, values: Iterable[str]) -> set[str]:
    """Which of the values a text names, folded."""
    folded, words = _fold(text), _words(text)
    found: set[str] = set()
    for value in map(_fold, values):
        whole_word = value in words or (not value.isascii() and value in folded)
        if whole_word or (" " in value and value in folded):
            found.add(value)
    return found


class PostingIndex:
    """Finds postings by what people say."""

    def __init__(self, postings: Sequence[Posting]) -> None:
        self._postings = tuple(postings)
        self._by_id = {posting.id: posting for posting in postings}
        self._places = {place for posting in postings for place in posting.locations}
        self._skills = {skill for posting in postings for skill in posting.skills}

    def get(self, posting_id: str) -> Posting | None:
        """One posting by id."""
        return self._by_id.get(posting_id)

    def is_unspecific(self, text: str) -> bool:
        """Whether a text names nothing that a posting could meet or miss."""
        text = _translated(text)
        return not (_words(text) or _named(text, self._places) or _named(text, self._skills))

    def newest(self) -> tuple[Match, ...]:
        """All postings, for somebody who named nothing."""
        return tuple(Match(posting, 0, ()) for posting in self._postings)

    def find(self, text: str) -> tuple[Match, ...]:
        """Postings that meet what the text names, best first; none if it names nothing."""
        text = _translated(text)
        places = _named(text, self._places)
        if _named(text, _REMOTE):
            places |= _REMOTE
        skills = _named(text, self._skills)
        words = _words(text) - places - skills
        matches = (self._match(posting, places, skills, words) for posting in self._postings)
        found = [match for match in matches if match is not None]
        return tuple(sorted(found, key=lambda match: (-match.score, match.posting.id)))

    def _match(
        self, posting: Posting, places: set[str], skills: set[str], words: set[str]
    ) -> Match | None:
        here = places & {_fold(place) for place in posting.locations}
        has = skills & {_fold(skill) for skill in posting.skills}
        if (places and not here) or (skills and not has):
            return None
        about = f"{posting.title} {posting.company} {posting.company_type}"
        said = words & _words(f"{about} {posting.recruitment_type} {posting.target}")
        score = 3 * len(has) + 2 * len(here) + len(said)
        if not score or (words and not (here or has or said)):
            return None
        said_so = has | here
        named = (
            word for word in (*posting.skills, *posting.locations) if _fold(word) in said_so
        )
        return Match(posting, score, tuple(named))
