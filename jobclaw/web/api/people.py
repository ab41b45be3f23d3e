"""`/users`: people, their roles, and codes that give a role."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from jobclaw.service.operations import Operations, Person
from jobclaw.web.api.parameters import Before, Limit, link_to_next
from jobclaw.web.api.schemas import listed, returns
from jobclaw.web.pages import json_of

_MOST_DAYS = 3650
Days = Annotated[int, Field(ge=1, le=_MOST_DAYS)]


class RoleChange(BaseModel):
    """A role (free, vip, admin), for days or without an end."""

    model_config = ConfigDict(extra="forbid")
    role: str
    days: Days | None = None


class CodeOrder(BaseModel):
    """How many redeem codes, and what each gives."""

    model_config = ConfigDict(extra="forbid")
    role: str = "vip"
    days: Days = 31
    count: Annotated[int, Field(ge=1, le=1000)] = 1


def people_router(operations: Operations) -> APIRouter:
    """The paths."""
    router = APIRouter(prefix="/users", tags=["users"])

    @router.get("", responses=returns(list[Person]))
    async def list_users(request: Request, limit: Limit = 50, before: Before = "") -> Response:
        """Users, newest first."""
        found = await operations.users(limit, before)
        last = found[-1].user.id if found else ""
        return listed(found, limit, link_to_next(request, last))

    @router.post("/codes", status_code=201, responses=returns(list[str], status=201))
    async def create_codes(order: CodeOrder) -> Response:
        """Make redeem codes; they are shown only now."""
        codes = await operations.create_codes(order.role, order.days, order.count)
        return json_of(codes, 201)

    @router.put("/{named:path}/role", responses=returns(Person, 404, 409))
    async def set_role(named: str, change: RoleChange) -> Response:
        """Give a role; it counts from the user's next message."""
        user = await operations.set_role(named, change.role, change.days)
        return json_of(await operations.user(user.id))

    @router.get("/{named:path}", responses=returns(Person, 404, 409))
    async def show_user(named: str) -> Response:
        """One user, by id, `channel:account:sender` or sender id."""
        return json_of(await operations.user(named))

    return router
