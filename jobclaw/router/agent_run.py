"""Runs one agent: async generators on the loop, plain ones on a thread of their own.

Whatever an agent does, the caller gets its parts one by one, or an `AgentFault` that says what
happened: it raised, it said nothing, it took too long, or it returned something that is no
reply. A thread that does not come back is left behind (a daemon thread, so it does not keep the
process alive either).
"""

from __future__ import annotations

import asyncio
import inspect
import threading
import traceback
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from typing import Any, cast

from jobclaw.model import Buttons, File, Image, Markdown, Progress, ReplyPart
from jobclaw.registry.agents import AgentEntry
from jobclaw.router.deadline import Deadlines, OutOfTimeError
from jobclaw.spi.agent import Agent, AgentRequest

_END = object()


class AgentFault(Exception):  # noqa: N818 - a report to its one caller
    """What went wrong with an agent; `trace` is for the operator."""

    def __init__(self, reason: str, trace: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.trace = trace


async def run_agent(
    entry: AgentEntry,
    request: AgentRequest,
    deadlines: Deadlines,
    take: Callable[[ReplyPart], object],
) -> None:
    """Run the agent to its end and hand each part to `take` as it comes.

    Raises:
        AgentFault: the agent raised, yielded no reply part, or took too long.
    """
    agent = entry.agent
    on_loop = entry.declared.on_loop
    parts: Any = agent.handle(request) if on_loop else _threaded_parts(agent, request)
    try:
        with deadlines.start():
            async for part in parts:
                take(_checked(part))
    except OutOfTimeError as error:
        reason = f"took longer than {deadlines.timeout_s:g} s"
        raise AgentFault(reason, traceback.format_exc()) from error
    except AgentFault:
        raise
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        raise AgentFault("cancelled itself", traceback.format_exc()) from error
    except (Exception, SystemExit) as error:
        raise AgentFault(repr(error), traceback.format_exc()) from error


def _checked(part: object) -> ReplyPart:
    if not isinstance(part, Markdown | Buttons | Image | File | Progress):
        raise AgentFault(f"yielded {type(part).__name__}, which is no reply part")
    return part


class _Thread:
    """A plain `handle` on its own thread; its parts come through a queue of the loop."""

    def __init__(self, agent: Agent, request: AgentRequest) -> None:
        self._agent = agent
        self._request = request
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[Callable[[], object]] = asyncio.Queue()
        self._gone = threading.Event()

    def start(self) -> None:
        name = f"agent {self._agent.intro.id}"
        threading.Thread(target=self._work, name=name, daemon=True).start()

    async def next(self) -> object:
        """The next part, or `_END`; raises what the agent raised."""
        return (await self._queue.get())()

    def abandon(self) -> None:
        """Take nothing more from the thread."""
        self._gone.set()

    def _put(self, item: Callable[[], object]) -> None:
        if not self._gone.is_set():
            self._loop.call_soon_threadsafe(self._queue.put_nowait, item)

    def _work(self) -> None:
        try:
            for part in _iterated(self._agent.handle(self._request)):
                if self._gone.is_set():
                    return
                self._put(partial(_given, part))
            self._put(partial(_given, _END))
        except BaseException as error:  # noqa: BLE001 - SystemExit belongs to the turn too
            trace = "".join(traceback.format_exception(error))
            fault = error if isinstance(error, AgentFault) else AgentFault(repr(error), trace)
            self._put(partial(_raise, fault))


async def _threaded_parts(agent: Agent, request: AgentRequest) -> AsyncIterator[object]:
    thread = _Thread(agent, request)
    thread.start()
    try:
        while (item := await thread.next()) is not _END:
            yield item
    finally:
        thread.abandon()


def _given(part: object) -> object:
    return part


def _raise(fault: AgentFault) -> object:
    raise fault


def _iterated(result: object) -> Iterator[object]:
    """What a plain `handle` returned, if it can be iterated here."""
    if isinstance(result, Iterator):
        return cast("Iterator[object]", result)
    if inspect.iscoroutine(result):
        result.close()
    raise AgentFault(f"handle returned {type(result).__name__}; it must yield reply parts")
