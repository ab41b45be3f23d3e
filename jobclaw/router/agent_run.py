"""Runs one agent: async generators on the loop, plain ones on a thread of their own.

Whatever an agent does, the caller gets its parts one by one, or an `AgentFault` that says what
happened: it raised, it said nothing, it took too long, or it returned something that is no
reply. A thread that does not come back is left behind (a daemon thread, so it does not keep the
process alive either); a task that does not let go is for its lane to leave behind.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
import traceback
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from jobclaw.model import ReplyPart
from jobclaw.registry.agents import AgentEntry
from jobclaw.router.deadline import Deadlines, OutOfTimeError, Task
from jobclaw.router.reply_parts import NoReplyError, checked
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
    stuck: Callable[[AgentFault, Task], None],
) -> None:
    """Run the agent to its end and hand each part to `take` as it comes.

    `stuck` hears of an agent that swallowed its cancellation: this call may then never return.

    Raises:
        AgentFault: the agent raised, yielded no reply part, or took too long.
    """
    agent = entry.agent
    on_loop = entry.declared.on_loop
    parts: Any = agent.handle(request) if on_loop else _threaded_parts(agent, request)
    try:
        with deadlines.start(partial(_left, parts, deadlines, stuck)):
            async for part in parts:
                take(checked(part))
    except OutOfTimeError as error:
        raise AgentFault(_late(deadlines), traceback.format_exc()) from error
    except NoReplyError as error:
        raise AgentFault(str(error)) from error
    except AgentFault:
        raise
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        raise AgentFault("cancelled itself", traceback.format_exc()) from error
    except BaseException as error:  # SystemExit and its like belong to the turn
        raise AgentFault(repr(error), traceback.format_exc()) from error


def _late(deadlines: Deadlines) -> str:
    return f"took longer than {deadlines.timeout_s:g} s"


def _left(
    parts: object, deadlines: Deadlines, stuck: Callable[[AgentFault, Task], None], task: Task
) -> None:
    """Report an agent that did not end, with the line where it waits."""
    frame = getattr(parts, "ag_frame", None)
    trace = "" if frame is None else "".join(traceback.format_stack(frame, 1))
    stuck(AgentFault(f"{_late(deadlines)} and swallowed its cancellation", trace), task)


@dataclass(frozen=True)
class _OnLoop:
    """What a plain `handle` handed back to be iterated on the loop."""

    parts: AsyncIterator[object]


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
        work = partial(contextvars.copy_context().run, self._work)
        threading.Thread(target=work, name=name, daemon=True).start()

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
            result = self._agent.handle(self._request)
            if isinstance(result, AsyncIterator):
                self._put(partial(_given, _OnLoop(result)))
                return
            for part in _iterated(result):
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
            if isinstance(item, _OnLoop):
                async for part in item.parts:
                    yield part
                return
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
