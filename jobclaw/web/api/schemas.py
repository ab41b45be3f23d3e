"""Describes msgspec values in the OpenAPI document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from starlette.responses import Response

from jobclaw.model import RouteDecision, Session, User
from jobclaw.service.operations import AgentLine, Health, Person, PushStatus
from jobclaw.web.pages import Problem, json_of

TEMPLATE = "#/components/schemas/{name}"
Responses = dict[int | str, dict[str, Any]]


class ExplainedDecision(RouteDecision, frozen=True):
    """A decision with its explanation in words, where that was asked for."""

    explanation: str = ""


class Explanation(msgspec.Struct, frozen=True):
    """A decision in words, as Markdown."""

    explanation: str


DESCRIBED: tuple[type, ...] = (
    AgentLine,
    ExplainedDecision,
    Explanation,
    Health,
    Person,
    Problem,
    PushStatus,
    RouteDecision,
    Session,
    User,
)


def components() -> dict[str, Any]:
    """The schemas of all values, by name."""
    return msgspec.json.schema_components(DESCRIBED, ref_template=TEMPLATE)[1]


def returns(kind: object, *errors: int, status: int = 200) -> Responses:
    """What a path answers: one kind of value, or a problem."""
    [[schema], _] = msgspec.json.schema_components([kind], ref_template=TEMPLATE)
    problem = {"schema": {"$ref": TEMPLATE.format(name="Problem")}}
    failures: Responses = {
        code: {"description": "Refused", "content": {"application/problem+json": problem}}
        for code in (401, 422, 429, *errors)
    }
    good = {"description": "Done", "content": {"application/json": {"schema": schema}}}
    return {status: good, **failures}


def listed(items: Sequence[object], limit: int, link: str) -> Response:
    """A plain array; when it is full, its Link header leads on to `link`."""
    response = json_of(items)
    if len(items) == limit:
        response.headers["Link"] = f'<{link}>; rel="next"'
    return response
