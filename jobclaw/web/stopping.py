"""Sends away what is new while the daemon drains; senders repeat it after the restart."""

from __future__ import annotations

from collections.abc import Callable

from jobclaw.web.head import RequestHead
from jobclaw.web.refusal import Refusal

_GO_ON = ("/console", "/api/v1/terminals")
_AGAIN_S = "5"


class StoppingCheck:
    """Refuses changes once `accepts` says no; terminals still say what they have shown."""

    def __init__(self, accepts: Callable[[], bool]) -> None:
        self._accepts = accepts

    def __call__(self, head: RequestHead) -> Refusal | None:
        """See `refusal.Check`."""
        if self._accepts() or not head.changes or head.path.startswith(_GO_ON):
            return None
        return Refusal(503, "http.stopping", headers=(("Retry-After", _AGAIN_S),))
