"""Loads the HTTP client when the first agent fetches something: few do."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from jobclaw.spi.fetch import BYTES_MOST, DEADLINE_S, Fetched, Fetcher


class LateFetcher:
    """See `spi.Fetcher`; over `guarded.GuardedFetcher`."""

    def __init__(self, allow_hosts: Sequence[str]) -> None:
        self._allow_hosts = tuple(allow_hosts)
        self._fetcher: Fetcher | None = None

    async def get(
        self, url: str, *, bytes_most: int = BYTES_MOST, deadline_s: float = DEADLINE_S
    ) -> Fetched:
        """See `spi.Fetcher.get`."""
        if self._fetcher is None:
            self._fetcher = await asyncio.to_thread(self._load)
        return await self._fetcher.get(url, bytes_most=bytes_most, deadline_s=deadline_s)

    def _load(self) -> Fetcher:
        from jobclaw.fetch.guarded import GuardedFetcher  # noqa: PLC0415 - takes a third of a second

        return GuardedFetcher(self._allow_hosts)
