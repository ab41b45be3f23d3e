"""What goes wrong while a request is answered, as a status and a sentence.

What is the caller's fault is said; what is ours is an error id for the caller and a traceback
for the log.
"""

from __future__ import annotations

import logging
import secrets

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from jobclaw.errors import JobclawError, StorageError, UsageError
from jobclaw.service.refusals import (
    ConflictError,
    InvalidError,
    NoDaemonError,
    NotFoundError,
)
from jobclaw.web.head import head_of
from jobclaw.web.pages import Pages
from jobclaw.web.refusal import Refusal

_STATUS = (
    (NotFoundError, 404),
    (ConflictError, 409),
    (InvalidError, 422),
    (NoDaemonError, 503),
)
_BY_STATUS = {404: "http.not-found", 405: "http.wrong-method"}
_log = logging.getLogger(__name__)


def refusal_of(error: JobclawError) -> Refusal:
    """How an error is told to the caller."""
    if isinstance(error, UsageError):
        status = next((code for kind, code in _STATUS if isinstance(error, kind)), 400)
        values = {name: str(value) for name, value in error.values.items()}
        return Refusal(status, error.text_id, values)
    return internal(error)


def internal(error: BaseException) -> Refusal:
    """A fault of ours: its traceback goes to the log under the id that the caller gets."""
    error_id = secrets.token_hex(4)
    _log.error("error %s", error_id, exc_info=error)
    if isinstance(error, StorageError):
        return Refusal(
            503, "http.no-storage", {"id": error_id}, headers=(("Retry-After", "5"),)
        )
    return Refusal(500, "http.internal", {"id": error_id})


def refusal_of_status(status: int, headers: tuple[tuple[str, str], ...]) -> Refusal:
    """The refusal for a status that the framework decided on."""
    text_id = _BY_STATUS.get(status, "http.bad-request")
    return Refusal(status, text_id, headers=headers)


class Faults:
    """Turns what a route raises into an answer, if none has begun.

    Stands inside the framework's own net, which would answer in its own words.
    """

    def __init__(self, app: ASGIApp, pages: Pages) -> None:
        self._app = app
        self._pages = pages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        began = False

        async def noting(message: Message) -> None:
            nonlocal began
            began = True
            await send(message)

        try:
            await self._app(scope, receive, noting)
        except Exception as error:  # noqa: BLE001 - routes of channels are not ours
            refusal = internal(error)
            if not began and scope["type"] == "http":
                await self._pages.refuse(head_of(scope), refusal)(scope, receive, send)
