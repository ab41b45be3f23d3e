"""Tells when files may have changed, while the process runs.

What changed is told by looking at the files, not by the events, which only say when to look;
where the system reports none (network mounts), looking once a second does the same.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path

_log = logging.getLogger(__name__)
_LOOK_MS = 1000
_DEBOUNCE_MS = 150
_STEP_MS = 50


class FileWatch:
    """Some files as they were when this was made."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = tuple(paths)
        self._seen = self._look()

    async def run(
        self, stop: asyncio.Event, on_change: Callable[[], Awaitable[object]]
    ) -> None:
        """Await `on_change` whenever one is written, made or removed, until `stop`."""
        folders = sorted({path.parent for path in self._paths})
        async for _ in moments(stop, folders, recursive=False):
            now = self._look()
            if now != self._seen:
                self._seen = now
                await on_change()

    def _look(self) -> list[tuple[int, int, int] | None]:
        return [_stamp(path) for path in self._paths]


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


async def moments(
    stop: asyncio.Event, folders: Sequence[Path], *, recursive: bool
) -> AsyncIterator[None]:
    """Come up whenever it is time to look: at a change, and once a second."""
    from watchfiles import (  # noqa: PLC0415  (needed only by a process that watches)
        awatch,  # pyright: ignore[reportUnknownVariableType]
    )

    present = [folder for folder in folders if folder.is_dir()]
    if present:
        events = awatch(
            *present,
            stop_event=stop,
            recursive=recursive,
            debounce=_DEBOUNCE_MS,
            step=_STEP_MS,
            rust_timeout=_LOOK_MS,
            yield_on_timeout=True,
        )
        try:
            async for _ in events:
                yield
        except OSError as error:
            _log.warning("changes are looked for once a second: %s", error)
    while not stop.is_set():
        yield
        await _sleep(stop)


async def _sleep(stop: asyncio.Event) -> None:
    try:
        async with asyncio.timeout(_LOOK_MS / 1000):
            await stop.wait()
    except TimeoutError:
        return
