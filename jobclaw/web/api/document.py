"""Builds the API and its OpenAPI document."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from jobclaw import __version__
from jobclaw.errors import JobclawError
from jobclaw.service.operations import Operations
from jobclaw.web.api.agents import agents_router
from jobclaw.web.api.decisions import decisions_router
from jobclaw.web.api.fields import refusal_of_fields
from jobclaw.web.api.messages import messages_router
from jobclaw.web.api.people import people_router
from jobclaw.web.api.routing import routing_router
from jobclaw.web.api.schemas import components
from jobclaw.web.api.sessions import sessions_router
from jobclaw.web.faults import refusal_of, refusal_of_status
from jobclaw.web.head import head_of
from jobclaw.web.pages import Pages, json_of

PREFIX = "/api/v1"
DOCUMENT = "/api/openapi.json"


def build_api(operations: Operations, pages: Pages) -> FastAPI:
    """The application with every path of the API, and errors as values of ours."""
    app = FastAPI(title="jobclaw", version=__version__, openapi_url=None)
    for router in (
        agents_router(operations, pages),
        people_router(operations),
        sessions_router(operations),
        decisions_router(operations),
        routing_router(operations),
        messages_router(operations),
    ):
        app.include_router(router, prefix=PREFIX)
    _show_errors(app, pages)
    document = describe(app)

    @app.get(DOCUMENT, include_in_schema=False)
    async def show_document() -> Response:
        """The OpenAPI document, for everybody: it holds nothing of this deployment."""
        return json_of(document)

    return app


def describe(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document: FastAPI's paths, our values' schemas, the bearer token."""
    document = get_openapi(title=app.title, version=app.version, routes=app.routes)
    parts = document["components"]
    parts["schemas"] |= components()
    for name in ("HTTPValidationError", "ValidationError"):  # ours is Problem
        parts["schemas"].pop(name, None)
    parts["securitySchemes"] = {"operator": {"type": "http", "scheme": "bearer"}}
    document["security"] = [{"operator": []}]
    return document


def _show_errors(app: FastAPI, pages: Pages) -> None:
    @app.exception_handler(JobclawError)
    async def _ours(request: Request, error: JobclawError) -> Response:
        return pages.refuse(head_of(request.scope), refusal_of(error))

    @app.exception_handler(RequestValidationError)
    async def _invalid(request: Request, error: RequestValidationError) -> Response:
        head = head_of(request.scope)
        return pages.refuse(head, refusal_of_fields(error, pages, pages.locale(head)))

    @app.exception_handler(HTTPException)
    async def _status(request: Request, error: HTTPException) -> Response:
        headers = tuple((error.headers or {}).items())
        refusal = refusal_of_status(error.status_code, headers)
        return pages.refuse(head_of(request.scope), refusal)
