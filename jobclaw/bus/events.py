"""The in-process event bus: typed topics, each subscriber on its own.

A subscriber has a bounded queue and a task; one that raises is logged and goes on with the next
event, one that hangs fills its own queue and then misses events, which are counted and reported
once. Nothing that must survive a crash relies on the bus: it is in the journal before it is
here.

Attached listeners are for the core alone: plain functions called at once, in order, which must
not block.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

E = TypeVar("E")
_log = logging.getLogger(__name__)
QUEUE_LIMIT = 1000


@dataclass(frozen=True)
class Topic(Generic[E]):
    """A named stream of events of one type."""

    name: str


class Subscription(Generic[E]):
    """One subscriber's queue and task."""

    def __init__(
        self, name: str, subscriber: Callable[[E], Awaitable[None]], limit: int
    ) -> None:
        self.name = name
        self.handled = 0
        self.missed = 0
        self._subscriber = subscriber
        self._queue: asyncio.Queue[E] = asyncio.Queue(limit)
        self._task = asyncio.create_task(self._run(), name=f"subscriber {name}")

    def offer(self, event: E) -> None:
        """Queue an event, or count it as missed when the subscriber is too far behind."""
        try:
            self._queue.put_nowait(event)
        except asyncio.QueueFull:
            self.missed += 1
            if self.missed == 1:
                _log.warning("subscriber %s is too slow and misses events", self.name)

    async def close(self) -> None:
        """Stop at once."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def idle(self) -> None:
        """Return when everything offered so far has been handled."""
        await self._queue.join()

    async def _run(self) -> None:
        while True:
            event = await self._queue.get()
            try:
                await self._subscriber(event)
                self.handled += 1
            except Exception:  # noqa: BLE001 - a subscriber may raise anything; the others must not notice
                _log.exception("subscriber %s raised", self.name)
            finally:
                self._queue.task_done()


class EventBus:
    """Publishes events to those who asked for their topic."""

    def __init__(self) -> None:
        self._subscriptions: defaultdict[str, list[Subscription[Any]]] = defaultdict(list)
        self._listeners: defaultdict[str, list[Callable[[Any], None]]] = defaultdict(list)

    def subscribe(
        self,
        topic: Topic[E],
        name: str,
        subscriber: Callable[[E], Awaitable[None]],
        *,
        limit: int = QUEUE_LIMIT,
    ) -> Subscription[E]:
        """Deliver the topic's events to a coroutine function, in order, one at a time."""
        subscription = Subscription(name, subscriber, limit)
        self._subscriptions[topic.name].append(subscription)
        return subscription

    def attach(self, topic: Topic[E], listener: Callable[[E], None]) -> None:
        """Call a plain function of the core with every event, before `publish` returns."""
        self._listeners[topic.name].append(listener)

    def publish(self, topic: Topic[E], event: E) -> None:
        """Hand an event to everybody; never blocks, never raises for a listener's fault."""
        for listener in self._listeners.get(topic.name, ()):
            try:
                listener(event)
            except Exception:  # noqa: BLE001 - as above
                _log.exception("listener of %s raised", topic.name)
        for subscription in self._subscriptions.get(topic.name, ()):
            subscription.offer(event)

    async def close(self) -> None:
        """Stop every subscriber."""
        for subscriptions in self._subscriptions.values():
            for subscription in subscriptions:
                await subscription.close()
        self._subscriptions.clear()
        self._listeners.clear()
