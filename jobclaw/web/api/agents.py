"""`/agents` and `/health`: what is there and how it is."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from jobclaw.service.operations import AgentLine, Health, Operations
from jobclaw.web.api.schemas import returns
from jobclaw.web.head import head_of
from jobclaw.web.pages import Pages, json_of


def agents_router(operations: Operations, pages: Pages) -> APIRouter:
    """The paths."""
    router = APIRouter(tags=["agents"])

    @router.get("/agents", responses=returns(list[AgentLine]))
    async def list_agents(request: Request) -> Response:
        """Agents by priority, then plugins that could not be loaded and why."""
        locale = pages.locale(head_of(request.scope))
        return json_of(await operations.agents(locale))

    @router.get("/health", responses=returns(Health))
    async def show_health() -> Response:
        """How store, models and channels are; 200 whatever they are."""
        return json_of(await operations.health())

    return router
