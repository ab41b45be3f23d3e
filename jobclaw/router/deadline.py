"""One timer for all running turns: each has the same time, so the oldest is due first.

`asyncio.timeout` would arm and cancel a timer of the event loop for every message, a fifth of
the cost of a whole turn (bench/route.py).
"""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Self


class OutOfTimeError(Exception):
    """The time of a turn is up."""


class Deadline:
    """Cancels its task when its time is up, and then raises OutOfTimeError."""

    __slots__ = ("_due", "_expired", "_owner", "_task")

    def __init__(self, owner: Deadlines, task: asyncio.Task[object], due: float) -> None:
        self._owner = owner
        self._task = task
        self._due = due
        self._expired = False

    def __enter__(self) -> Self:
        self._owner.running[self] = self._due
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._owner.running.pop(self, None)
        if self._expired and self._task.uncancel() <= 0 and kind is asyncio.CancelledError:
            raise OutOfTimeError from error

    def expire(self) -> None:
        """Cancel the task."""
        self._expired = True
        self._task.cancel()


class Deadlines:
    """The turns that run now, oldest first; a timer is armed while there are any."""

    def __init__(self, timeout_s: float) -> None:
        self.timeout_s = timeout_s
        self.running: dict[Deadline, float] = {}
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> Deadline:
        """A deadline for the present task, `timeout_s` from now."""
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a deadline belongs to a task")
        loop = task.get_loop()
        due = loop.time() + self.timeout_s
        if self._timer is None:
            self._timer = loop.call_at(due, self._look, loop)
        return Deadline(self, task, due)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        """Expire what is due and arm the timer for the next one."""
        self._timer = None
        now = loop.time()
        for deadline, due in list(self.running.items()):
            if due > now:
                self._timer = loop.call_at(due, self._look, loop)
                return
            del self.running[deadline]
            deadline.expire()
