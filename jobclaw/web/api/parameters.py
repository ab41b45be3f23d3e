"""Parameters that several paths share."""

from __future__ import annotations

from typing import Annotated, Literal
from urllib.parse import urlencode

from fastapi import Query
from starlette.requests import Request

MOST = 1000
Limit = Annotated[int, Query(ge=1, le=MOST, description="How many at most.")]
Before = Annotated[str, Query(description="The id or key that came last: go on after it.")]
Explain = Annotated[
    Literal["zh", "en"] | None, Query(description="Add `explanation` in this language.")
]


def link_to_next(request: Request, last: str) -> str:
    """The address of the next part of a list: the same question, after `last`."""
    query = {**request.query_params, "before": last}
    return f"{request.url.path}?{urlencode(query)}"
