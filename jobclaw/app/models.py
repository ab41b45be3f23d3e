"""Wires language models: the client over litellm, and the classifier's third tier over it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from jobclaw.bus.events import EventBus
from jobclaw.bus.topics import OPERATOR_NOTICE, Notice
from jobclaw.intent.model_tier import ModelRules, ModelTier
from jobclaw.llm.client import LitellmClient, Probe, open_client
from jobclaw.llm.library import check_installed
from jobclaw.observe.redaction import Redactor
from jobclaw.settings import Settings
from jobclaw.spi.clock import Clock
from jobclaw.spi.llm import LlmClient, ModelState
from jobclaw.spi.store import ModelUsage, UsageBook

SECONDS_A_MINUTE = 60.0


@dataclass(frozen=True)
class Models:
    """The models of one process; without a configured one there is nothing in it."""

    client: LitellmClient | None = None
    tier: ModelTier | None = None

    async def prepare(self) -> None:
        """Import what the first question would else wait for."""
        if self.client is not None:
            await self.client.prepare()

    async def warm(self) -> None:
        """As `prepare`, and ask local models one tiny question, so that they load."""
        if self.client is not None:
            await self.client.warm()

    def states(self) -> tuple[ModelState, ...]:
        """How each model is."""
        return () if self.client is None else self.client.states()

    async def aclose(self) -> None:
        """Close connections."""
        if self.client is not None:
            await self.client.aclose()


def open_models(
    settings: Settings, book: UsageBook, clock: Clock, bus: EventBus, redactor: Redactor
) -> Models:
    """The models of a configuration; nothing heavy is imported yet."""

    def notify(text_id: str, values: Mapping[str, str]) -> None:
        bus.publish(OPERATOR_NOTICE, Notice(text_id=text_id, values=dict(values)))

    client = open_client(settings.llm, book, clock, notify, redactor.clean)
    return Models(client, model_tier(settings, client, clock))


def model_tier(settings: Settings, client: LlmClient | None, clock: Clock) -> ModelTier | None:
    """The third tier over a client, None without one."""
    if client is None:
        return None
    rules = ModelRules(
        deadline_s=settings.llm.timeout_s,
        threshold=settings.intent.llm_threshold,
        cache_s=settings.llm.cache_minutes * SECONDS_A_MINUTE,
    )
    return ModelTier(client, rules, clock)


class _Uncounted:
    """A usage book for a probe, which needs no workspace."""

    def usage(self, month: str) -> tuple[ModelUsage, ...]:  # noqa: ARG002 - the port's
        return ()

    async def add_usage(self, usage: ModelUsage) -> None:
        """Forget it: a probe is a few tokens."""


async def probe_models(settings: Settings, clock: Clock) -> tuple[Probe, ...]:
    """Ask each configured model once; empty without one.

    Raises:
        LlmError: the library cannot be loaded.
    """
    client = open_client(settings.llm, _Uncounted(), clock, lambda _id, _values: None, str)
    if client is None:
        return ()
    try:
        return await client.probe()
    finally:
        await client.aclose()


def check_models(settings: Settings) -> None:
    """Refuse to start with a model that cannot be asked.

    Raises:
        ConfigError: litellm is not installed.
    """
    check_installed(settings.llm.model)
