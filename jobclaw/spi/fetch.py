"""The port through which agents fetch what an address names, wherever the address came from."""

from __future__ import annotations

from typing import Literal, Protocol

from jobclaw.errors import AgentError
from jobclaw.model import Value

BYTES_MOST = 5 * 1024 * 1024
DEADLINE_S = 15.0
Refused = Literal[
    "address", "scheme", "private", "redirects", "size", "timeout", "encoding", "network"
]


class Fetched(Value, frozen=True):
    """What was there: the last address asked, its status, its media type, its bytes."""

    url: str
    status: int
    media_type: str
    body: bytes


class FetchError(AgentError):
    """It was not fetched; `why` says whether the address or the network is to blame."""

    def __init__(self, why: Refused, url: str) -> None:
        super().__init__(f"fetch.{why}", url=url)
        self.why: Refused = why


class Fetcher(Protocol):
    """Fetches from public hosts and those of `fetch.allow_hosts`, never from this network."""

    async def get(
        self, url: str, *, bytes_most: int = BYTES_MOST, deadline_s: float = DEADLINE_S
    ) -> Fetched:
        """Read an address.

        Raises:
            FetchError: it may not be asked, or did not answer within bounds.
        """
        ...
