"""Says what is wrong with the fields of a request, in the reader's language."""

from __future__ import annotations

from collections.abc import Iterator

from fastapi.exceptions import RequestValidationError

from jobclaw.model import Locale
from jobclaw.web.pages import Pages
from jobclaw.web.refusal import Refusal

_BOUNDS = ("greater_than", "less_than", "too_short", "too_long")
_PARTS = ("body", "query", "path", "header")


def refusal_of_fields(error: RequestValidationError, pages: Pages, locale: Locale) -> Refusal:
    """Name the fields that are wrong; what was sent is not repeated."""
    told = dict.fromkeys(_told(error, pages, locale))
    separator = pages.say(locale, "field.separator")
    return Refusal(422, "http.bad-field", {"field": separator.join(told)})


def _told(error: RequestValidationError, pages: Pages, locale: Locale) -> Iterator[str]:
    for problem in error.errors():
        place = [str(part) for part in problem["loc"]]
        if len(place) > 1 and place[0] in _PARTS:
            del place[0]
        yield pages.say(locale, _sentence(problem["type"]), field=".".join(place))


def _sentence(kind: str) -> str:
    if kind == "missing":
        return "field.missing"
    if kind == "extra_forbidden":
        return "field.unknown"
    if kind == "json_invalid":
        return "field.no-json"
    return (
        "field.out-of-range" if any(kind.startswith(one) for one in _BOUNDS) else "field.wrong"
    )
