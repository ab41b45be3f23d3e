"""Counts what the daemon does, for Prometheus, in a registry of its own.

The only door to prometheus_client. Names of labels come from people's files (agents, channels),
so each label keeps a bounded number of values and calls the rest `other`.
"""

from __future__ import annotations

import platform
from collections import OrderedDict
from collections.abc import Callable, Iterator

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Info,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from jobclaw import __version__
from jobclaw.model import OutboundMessage, RouteDecision
from jobclaw.spi.clock import Clock
from jobclaw.spi.llm import ModelState
from jobclaw.spi.store import InboxRow, Store

ACCEPTED_KEPT = 10_000
CHANNELS_MOST, AGENTS_MOST = 50, 200
OTHER = "other"
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)
_LAG = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5)


class Bounded:
    """Values of a label: the first `most` are themselves, all others are one."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: set[str] = set()

    def __call__(self, value: str) -> str:
        """The value, or `other`."""
        if value not in self._known:
            if len(self._known) >= self._most:
                return OTHER
            self._known.add(value)
        return value


class Stored:
    """What is read when it is asked for: queues, models' usage of this month, breakers."""

    def __init__(
        self, store: Store, clock: Clock, models: Callable[[], tuple[ModelState, ...]]
    ) -> None:
        self._store = store
        self._clock = clock
        self._models = models

    def collect(self) -> Iterator[Metric]:
        """See prometheus_client's Collector."""
        waiting = self._store.waiting()
        queues = GaugeMetricFamily("jobclaw_queue", "Rows that wait.", labels=["queue"])
        queues.add_metric(["inbox"], waiting.inbox)
        queues.add_metric(["outbox"], waiting.outbox)
        queues.add_metric(["dead"], waiting.dead)
        yield queues
        yield from self._usage()
        state = GaugeMetricFamily(
            "jobclaw_llm_up", "Whether a model is asked.", labels=["model", "state"]
        )
        for model in self._models():
            state.add_metric([model.model, model.state], float(model.state == "ok"))
        yield state

    def _usage(self) -> Iterator[Metric]:
        calls = CounterMetricFamily(
            "jobclaw_llm_calls", "Calls this month (UTC).", labels=["model"]
        )
        tokens = CounterMetricFamily(
            "jobclaw_llm_tokens", "Tokens this month (UTC).", labels=["model"]
        )
        cost = CounterMetricFamily(
            "jobclaw_llm_cost_usd", "US dollars this month (UTC).", labels=["model"]
        )
        for used in self._store.usage(f"{self._clock.now():%Y-%m}"):
            calls.add_metric([used.model], used.calls)
            tokens.add_metric([used.model], used.tokens)
            cost.add_metric([used.model], used.cost_usd)
        yield from (calls, tokens, cost)


class Metrics:
    """Fed by the bus and by `Stored`; `text` is what a scraper reads."""

    def __init__(self, clock: Clock, stored: Stored) -> None:
        self._clock = clock
        self._accepted: OrderedDict[str, float] = OrderedDict()
        self._channel, self._agent = Bounded(CHANNELS_MOST), Bounded(AGENTS_MOST)
        self._registry = CollectorRegistry()
        self._registry.register(stored)
        ProcessCollector(registry=self._registry)
        self._messages = Counter(
            "jobclaw_messages",
            "Messages handled.",
            ("channel", "step", "tier", "agent", "outcome"),
            registry=self._registry,
        )
        self._answers = Histogram(
            "jobclaw_answer_seconds",
            "From accepted to handled, and to delivered.",
            ("channel", "until"),
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._replies = Counter(
            "jobclaw_replies",
            "Messages that left, or were given up.",
            ("channel", "outcome"),
            registry=self._registry,
        )
        self._lag = Histogram(
            "jobclaw_event_loop_lag_seconds",
            "How late the event loop runs what is due.",
            buckets=_LAG,
            registry=self._registry,
        )
        started = Gauge(
            "jobclaw_start_time_seconds", "When it started.", registry=self._registry
        )
        started.set(clock.now().timestamp())
        build = Info("jobclaw_build", "What runs.", registry=self._registry)
        build.info({"version": __version__, "python": platform.python_version()})

    def received(self, row: InboxRow) -> None:
        """A message is on disk."""
        self._accepted[row.message.id] = self._clock.monotonic()
        if len(self._accepted) > ACCEPTED_KEPT:
            self._accepted.popitem(last=False)

    def handled(self, decision: RouteDecision) -> None:
        """A message is handled."""
        channel = self._channel(decision.session.partition(":")[0])
        agent = self._agent(decision.agent or "none")
        self._messages.labels(
            channel, decision.step, decision.tier, agent, decision.outcome
        ).inc()
        self._observe(decision.message, channel, "handled")

    def delivered(self, message: OutboundMessage, *, ok: bool) -> None:
        """A reply has left, or is given up; the first of a message counts as its answer."""
        channel = self._channel(message.target.channel)
        self._replies.labels(channel, "sent" if ok else "dead").inc()
        answered = message.id.partition(".")[0]  # of a push there is no such message
        if ok and answered in self._accepted:
            self._observe(answered, channel, "delivered")
            del self._accepted[answered]

    def lagged(self, seconds: float) -> None:
        """The event loop ran something so much later than it was due."""
        self._lag.observe(seconds)

    def text(self) -> tuple[bytes, str]:
        """All of it in Prometheus' text form, with its content type."""
        return generate_latest(self._registry), CONTENT_TYPE_LATEST

    def _observe(self, message_id: str, channel: str, until: str) -> None:
        accepted = self._accepted.get(message_id)
        if accepted is not None:
            self._answers.labels(channel, until).observe(self._clock.monotonic() - accepted)
