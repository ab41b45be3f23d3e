"""`/route` and `/explain`: what would be decided, and any decision in words."""

from __future__ import annotations

import msgspec
from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict
from starlette.requests import Request
from starlette.responses import Response

from jobclaw.model import Locale, RouteDecision, from_json
from jobclaw.service.operations import Operations, Question
from jobclaw.service.refusals import InvalidError
from jobclaw.web.api.parameters import Explain
from jobclaw.web.api.schemas import (
    TEMPLATE,
    ExplainedDecision,
    Explanation,
    returns,
)
from jobclaw.web.pages import json_of

_DECISION_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": {"$ref": TEMPLATE.format(name="RouteDecision")}}
        },
    }
}


class RouteQuestion(BaseModel):
    """A text, who would say it, and in which role; nobody in particular by default."""

    model_config = ConfigDict(extra="forbid")
    text: str
    user: str = ""
    role: str = ""


def routing_router(operations: Operations) -> APIRouter:
    """The paths."""
    router = APIRouter(tags=["decisions"])

    @router.post("/route", responses=returns(ExplainedDecision))
    async def route(question: RouteQuestion, explain: Explain = None) -> Response:
        """What would be decided; changes nothing."""
        asked = Question(text=question.text, user=question.user, role=question.role)
        return await shown(operations, await operations.route(asked), explain)

    @router.post("/explain", responses=returns(Explanation), openapi_extra=_DECISION_BODY)
    async def explain_decision(request: Request, locale: Locale = "en") -> Response:
        """A decision, as another path gave it, in words."""
        try:
            decision = from_json(await request.body(), RouteDecision)
        except msgspec.DecodeError as error:
            raise InvalidError("http.no-decision") from error
        return json_of(Explanation(await operations.explain(decision, locale)))

    return router


async def shown(
    operations: Operations, decision: RouteDecision, explain: Locale | None
) -> Response:
    """The decision, with its explanation where a language is asked for."""
    if explain is None:
        return json_of(decision)
    explanation = await operations.explain(decision, explain)
    fields = {name: getattr(decision, name) for name in decision.__struct_fields__}
    return json_of(ExplainedDecision(**fields, explanation=explanation))
