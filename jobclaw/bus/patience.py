"""Waits for a disk that refuses to be written, so that work goes on when it has room again.

What was accepted must be answered without a restart, and in order; so whoever writes the
journal on its behalf stays where it is and asks again, rather than let later work pass.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from jobclaw.errors import StorageError

_log = logging.getLogger(__name__)
PASSING = frozenset({"storage.full", "storage.busy", "storage.io"})
FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 5.0
R = TypeVar("R")


class Patience:
    """Asks again while a trouble may pass, until it is told to stop."""

    def __init__(self) -> None:
        self._over = asyncio.Event()

    def end(self) -> None:
        """From now on the first refusal counts; who waits is woken, and asks a last time."""
        self._over.set()

    async def until_done(self, write: Callable[[], Awaitable[R]]) -> R:
        """What `write` returns in the end.

        Raises:
            StorageError: this will not pass, or nobody waits any longer.
        """
        pause = FIRST_PAUSE_S
        while True:
            try:
                return await write()
            except StorageError as error:
                if error.text_id not in PASSING or self._over.is_set():
                    raise
                _log.warning("the store refuses (%s); asked again in %.1f s", error, pause)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._over.wait()
            pause = min(LONGEST_PAUSE_S, 2 * pause)
