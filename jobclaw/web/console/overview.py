"""The console's first page: how everything is, and what was decided last."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from jobclaw.model import Locale, RouteDecision, Value
from jobclaw.service.operations import Operations
from jobclaw.spi.store import DecisionFilter
from jobclaw.web.console.entrance import HOME, LOGIN, Entrance
from jobclaw.web.head import head_of
from jobclaw.web.pages import Pages

DECISIONS_SHOWN = 20


class DecisionLine(Value, frozen=True):
    """One decision as a row of the page; `why` is one plain sentence."""

    decision: RouteDecision
    why: str


class Console:
    """The pages."""

    def __init__(self, operations: Operations, entrance: Entrance, pages: Pages) -> None:
        self._operations = operations
        self._entrance = entrance
        self._pages = pages

    @property
    def routes(self) -> list[BaseRoute]:
        """The routes, to be mounted."""
        return [
            Route(HOME, self._overview),
            Route(LOGIN, self._entrance.show, methods=["GET"]),
            Route(LOGIN, self._entrance.log_in, methods=["POST"]),
            Route(f"{HOME}/logout", self._entrance.log_out, methods=["POST"]),
        ]

    async def _overview(self, request: Request) -> Response:
        login = self._entrance.login_of(request)
        if login is None:
            return RedirectResponse(LOGIN, 303)
        locale = self._pages.locale(head_of(request.scope))
        agents = await self._operations.agents(locale)
        values: dict[str, object] = {
            "csrf": login.csrf,
            "health": await self._operations.health(),
            "agents": [line for line in agents if not line.error],
            "failed": [line for line in agents if line.error],
            "lines": await self._lines(locale),
        }
        return self._pages.page("overview.html", locale, values)

    async def _lines(self, locale: Locale) -> list[DecisionLine]:
        found = await self._operations.decisions(DecisionFilter(limit=DECISIONS_SHOWN))
        return [
            DecisionLine(decision=one, why=await self._sentence(one, locale)) for one in found
        ]

    async def _sentence(self, decision: RouteDecision, locale: Locale) -> str:
        explanation = await self._operations.explain(decision, locale)
        return explanation.partition("\n")[0]
