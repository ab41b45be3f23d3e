"""Why an operator's request is refused, so that the API can tell which kind it is."""

from __future__ import annotations

from jobclaw.errors import UsageError


class NotFoundError(UsageError):
    """What the request names is not there."""


class ConflictError(UsageError):
    """The request fits several things, or contradicts an earlier one."""


class InvalidError(UsageError):
    """The request asks for what cannot be."""


class NoDaemonError(UsageError):
    """The request needs a running daemon."""
