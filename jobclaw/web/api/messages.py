"""`/messages`: text that is sent to a chat, and what became of it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header
from pydantic import BaseModel, ConfigDict
from starlette.responses import Response

from jobclaw.service.operations import Operations, Push, PushStatus
from jobclaw.service.refusals import ConflictError
from jobclaw.web.api.schemas import returns
from jobclaw.web.pages import json_of


class PushOrder(BaseModel):
    """A message to a chat that has written before.

    `user`, if given, must be who writes there (a direct chat). `id`, or the header
    Idempotency-Key, makes it safe to repeat: the same id is sent once.
    """

    model_config = ConfigDict(extra="forbid")
    channel: str
    conversation: str
    text: str
    account: str = "default"
    user: str = ""
    id: str = ""


def messages_router(operations: Operations) -> APIRouter:
    """The paths."""
    router = APIRouter(prefix="/messages", tags=["messages"])

    @router.post("", status_code=202, responses=returns(PushStatus, 404, 409, 503, status=202))
    async def push(
        order: PushOrder,
        idempotency_key: Annotated[str, Header()] = "",
    ) -> Response:
        """Send a text; answered when it is on disk."""
        if order.id and idempotency_key and order.id != idempotency_key:
            raise ConflictError("push.two-ids")
        push = Push(
            channel=order.channel,
            account=order.account,
            conversation=order.conversation,
            user=order.user,
            text=order.text,
            id=order.id or idempotency_key,
        )
        return json_of(await operations.push(push), 202)

    @router.get("/{push_id}", responses=returns(PushStatus, 404))
    async def show_status(push_id: str) -> Response:
        """What became of a message that was sent here."""
        return json_of(await operations.message_status(push_id))

    return router
