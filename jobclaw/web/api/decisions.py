"""`/decisions`: what was decided, and why."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from jobclaw.model import RouteDecision
from jobclaw.service.operations import Operations
from jobclaw.spi.store import DecisionFilter
from jobclaw.web.api.parameters import MOST, Explain, link_to_next
from jobclaw.web.api.routing import shown
from jobclaw.web.api.schemas import ExplainedDecision, listed, returns


class DecisionQuery(BaseModel):
    """Which decisions to list; what is left out does not narrow."""

    model_config = ConfigDict(extra="forbid")
    user: str = ""
    session: str = ""
    agent: str = ""
    tier: str = ""
    since: datetime | None = None
    before: str = ""
    limit: Annotated[int, Field(ge=1, le=MOST)] = 50

    def narrowed(self) -> DecisionFilter:
        """The same for the store; a time without a zone is UTC."""
        since = self.since
        if since is not None and since.tzinfo is None:
            since = since.replace(tzinfo=UTC)
        return DecisionFilter(
            user=self.user,
            session=self.session,
            agent=self.agent,
            tier=self.tier,
            since=since,
            before=self.before,
            limit=self.limit,
        )


def decisions_router(operations: Operations) -> APIRouter:
    """The paths."""
    router = APIRouter(tags=["decisions"])

    @router.get("/decisions", responses=returns(list[RouteDecision], 404))
    async def list_decisions(
        request: Request, query: Annotated[DecisionQuery, Query()]
    ) -> Response:
        """Recorded decisions, newest first."""
        narrowed = query.narrowed()
        found = await operations.decisions(narrowed)
        last = found[-1].message if found else ""
        return listed(found, narrowed.limit, link_to_next(request, last))

    @router.get("/decisions/newest", responses=returns(ExplainedDecision, 404))
    async def show_newest(
        user: Annotated[str, Query(description="Only of this user.")] = "",
        explain: Explain = None,
    ) -> Response:
        """The newest decision that was no command."""
        return await shown(operations, await operations.decision("", user), explain)

    @router.get("/decisions/{message:path}", responses=returns(ExplainedDecision, 404))
    async def show_decision(
        message: str,
        user: Annotated[str, Query(description="Only if this user wrote it.")] = "",
        explain: Explain = None,
    ) -> Response:
        """The decision about a message, by our id or the sender's."""
        return await shown(operations, await operations.decision(message, user), explain)

    return router
