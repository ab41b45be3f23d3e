"""Opens what a command needs: settings, the store, the wired core."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

from jobclaw.app.core import Core, SystemClock, build_core, load_plugins, load_texts
from jobclaw.observe.logs import log_to
from jobclaw.settings import Settings, load_settings
from jobclaw.spi.store import Store
from jobclaw.storage import open_store

T = TypeVar("T")


def settings_of(config: Path | None) -> Settings:
    """Load the settings and log where they say."""
    settings = load_settings(config, os.environ)
    log_to(settings)
    return settings


@asynccontextmanager
async def reading(settings: Settings) -> AsyncGenerator[Store]:
    """The store to look at, also beside a running process; empty if there is none."""
    store = open_store(settings.workspace, SystemClock(), read_only=True)
    try:
        yield store
    finally:
        await store.close()


@asynccontextmanager
async def writing(settings: Settings) -> AsyncGenerator[Store]:
    """The store for one small change, also while another process works with it."""
    store = open_store(settings.workspace, SystemClock(), dedup_days=settings.bus.dedup_days)
    try:
        yield store
    finally:
        await store.close()


def core_over(settings: Settings, store: Store) -> Core:
    """Everything that decides, over a store."""
    texts = load_texts(settings)
    return build_core(settings, store, SystemClock(), texts, load_plugins(settings, texts))


def with_store(
    config: Path | None,
    opened: Callable[[Settings], object],
    work: Callable[[Settings, Store], Awaitable[T]],
) -> T:
    """Run a piece of work over the store of a configuration."""
    settings = settings_of(config)

    async def go() -> T:
        context = reading(settings) if opened is reading else writing(settings)
        async with context as store:
            return await work(settings, store)

    return asyncio.run(go())
