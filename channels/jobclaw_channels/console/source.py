"""Reads standard input on a thread of its own, so that no form of it can block the loop.

`os.read` rather than `sys.stdin`: a daemon thread that waits in a buffered reader stops the
interpreter from ending.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import AsyncIterator

_log = logging.getLogger(__name__)
LINE_LIMIT_BYTES = 1024 * 1024
_CHUNK = 65536


class LineSource:
    """The lines of a descriptor; one over the limit comes cut to one byte more than it."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._room = threading.Semaphore(4096)

    async def lines(self) -> AsyncIterator[bytes]:
        """Yield lines without their end, until the input ends."""
        threading.Thread(target=self._read, name="console input", daemon=True).start()
        while (line := await self._queue.get()) is not None:
            self._room.release()
            yield line

    def _chunk(self) -> bytes:
        """What there is to read; an input that fails (it is closed, say) is at its end."""
        try:
            return os.read(self._descriptor, _CHUNK)
        except OSError as error:
            _log.warning("the input cannot be read any more: %s", error)
            return b""

    def _put(self, line: bytes | None) -> None:
        self._room.acquire()
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._queue.put_nowait, line)

    def _read(self) -> None:
        rest = b""
        while chunk := self._chunk():
            *whole, rest = (rest + chunk).split(b"\n")
            for line in whole:
                self._put(line[: LINE_LIMIT_BYTES + 1])
            if len(rest) > LINE_LIMIT_BYTES + _CHUNK:
                rest = rest[: LINE_LIMIT_BYTES + 1]
        if rest.strip():
            self._put(rest)
        self._put(None)
