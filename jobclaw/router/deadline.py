"""One timer for all running turns: each has the same time, so the oldest is due first.

`asyncio.timeout` would arm and cancel a timer of the event loop for every message, a fifth of
the cost of a whole turn (bench/route.py).

A task that does not end within `LET_GO_S` of being cancelled (it swallowed that) is reported as
stuck, for only its owner can go on without it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Self

LET_GO_S = 1.0
Task = asyncio.Task[object]


class OutOfTimeError(Exception):
    """The time of a turn is up."""


class Deadline:
    """Cancels its task when its time is up, and then raises OutOfTimeError."""

    __slots__ = ("_due", "_expired", "_owner", "_stuck", "_task")

    def __init__(
        self, owner: Deadlines, task: Task, due: float, stuck: Callable[[Task], None]
    ) -> None:
        self._owner = owner
        self._task = task
        self._due = due
        self._stuck = stuck
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
        self._owner.expired.discard(self)
        if self._expired and self._task.uncancel() <= 0 and kind is asyncio.CancelledError:
            raise OutOfTimeError from error

    def expire(self) -> None:
        """Cancel the task."""
        self._expired = True
        self._task.cancel()

    def give_up(self) -> None:
        """Report the task as stuck."""
        self._stuck(self._task)


class Deadlines:
    """The turns that run now, oldest first; a timer is armed while there are any."""

    def __init__(self, timeout_s: float) -> None:
        self.timeout_s = timeout_s
        self.running: dict[Deadline, float] = {}
        self.expired: set[Deadline] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self, stuck: Callable[[Task], None]) -> Deadline:
        """A deadline for the present task, `timeout_s` from now; `stuck`: it did not end."""
        loop = self._loop
        if loop is None:  # kept, since asking which loop runs is a system call in Python 3.11
            loop = self._loop = asyncio.get_running_loop()
        task = asyncio.current_task(loop)
        if task is None:
            raise RuntimeError("a deadline belongs to a task")
        due = loop.time() + self.timeout_s
        if self._timer is None:
            self._timer = loop.call_at(due, self._look, loop)
        return Deadline(self, task, due, stuck)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        """Expire what is due and arm the timer for the next one."""
        self._timer = None
        now = loop.time()
        for deadline, due in list(self.running.items()):
            if due > now:
                self._timer = loop.call_at(due, self._look, loop)
                return
            del self.running[deadline]
            self.expired.add(deadline)
            deadline.expire()
            loop.call_later(LET_GO_S, self._check, deadline)

    def _check(self, deadline: Deadline) -> None:
        if deadline in self.expired:
            self.expired.discard(deadline)
            deadline.give_up()
