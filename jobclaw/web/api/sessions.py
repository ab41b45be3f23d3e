"""`/sessions`: who is bound to which agent."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from jobclaw.model import Session
from jobclaw.service.operations import Operations
from jobclaw.web.api.parameters import Before, Limit, link_to_next
from jobclaw.web.api.schemas import listed, returns
from jobclaw.web.pages import json_of


def sessions_router(operations: Operations) -> APIRouter:
    """The paths."""
    router = APIRouter(prefix="/sessions", tags=["sessions"])

    @router.get("", responses=returns(list[Session]))
    async def list_sessions(
        request: Request, limit: Limit = 50, before: Before = ""
    ) -> Response:
        """Sessions, most recently used first."""
        found = await operations.sessions(limit, before)
        last = found[-1].key if found else ""
        return listed(found, limit, link_to_next(request, last))

    @router.post("/{key:path}/reset", responses=returns(Session, 404))
    async def reset_session(key: str) -> Response:
        """Unbind a session; seen at its next message."""
        return json_of(await operations.reset_session(key))

    @router.get("/{key:path}", responses=returns(Session, 404))
    async def show_session(key: str) -> Response:
        """One session with its newest classifications."""
        return json_of(await operations.session(key))

    return router
