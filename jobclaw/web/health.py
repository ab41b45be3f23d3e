"""`/healthz`, `/readyz` and `/metrics`: for supervisors and scrapers.

Whoever is not on this machine and has no token learns the states: no reasons, no figures.
"""

from __future__ import annotations

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from jobclaw.observe.metrics import Metrics
from jobclaw.service.operations import Health, Operations
from jobclaw.web.authentication import Authenticator
from jobclaw.web.head import RequestHead, head_of
from jobclaw.web.hosts import is_local
from jobclaw.web.pages import Pages, json_of
from jobclaw.web.refusal import Refusal


class HealthRoutes:
    """The three paths."""

    def __init__(
        self,
        operations: Operations,
        metrics: Metrics,
        authenticator: Authenticator,
        pages: Pages,
    ) -> None:
        self._operations = operations
        self._metrics = metrics
        self._authenticator = authenticator
        self._pages = pages

    @property
    def routes(self) -> list[BaseRoute]:
        """The routes, to be mounted."""
        return [
            Route("/healthz", _live),
            Route("/readyz", self._ready),
            Route("/metrics", self._figures),
        ]

    async def _ready(self, request: Request) -> Response:
        head = head_of(request.scope)
        health = await self._operations.health()
        if self._refused(head) is not None:
            health = without_reasons(health)
        return json_of(health, 503 if health.state == "down" else 200)

    async def _figures(self, request: Request) -> Response:
        head = head_of(request.scope)
        refusal = self._refused(head)
        if refusal is not None:
            return self._pages.refuse(head, refusal)
        text, kind = self._metrics.text()
        return Response(text, headers={"Content-Type": kind})

    def _refused(self, head: RequestHead) -> Refusal | None:
        return None if is_local(head) else self._authenticator.check_bearer(head)


async def _live(_: Request) -> Response:
    return json_of({"state": "live"})


def without_reasons(health: Health) -> Health:
    """The states alone: reasons name files, accounts and addresses."""
    return msgspec.structs.replace(
        health,
        store=msgspec.structs.replace(health.store, reason=""),
        llm=msgspec.structs.replace(
            health.llm,
            models=tuple(msgspec.structs.replace(one, reason="") for one in health.llm.models),
        ),
        channels={
            name: msgspec.structs.replace(channel, reason="")
            for name, channel in health.channels.items()
        },
    )
