"""Opens what a command needs: settings, the store, the operations on it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from jobclaw.app.core import Core, SystemClock, build_core, load_plugins, load_texts
from jobclaw.errors import ConfigError
from jobclaw.observe.logs import log_to
from jobclaw.service.local_operations import LocalOperations
from jobclaw.service.operations import Operations
from jobclaw.service.roster import Roster
from jobclaw.settings import Settings, load_settings
from jobclaw.spi.store import Store
from jobclaw.storage import WorkspaceLock, open_store
from jobclaw.texts import reader_locale

T = TypeVar("T")


def settings_of(config: Path | None) -> Settings:
    """Load the settings and log where they say.

    Where a daemon runs it holds the secrets: here their variables need not be set.
    """
    try:
        settings = load_settings(config, os.environ)
    except ConfigError:
        settings = load_settings(config, os.environ, assume=True)
        if not daemon_address(settings):
            raise
    log_to(settings)
    return settings


class Loaded:
    """What a command loads once it turns out to need it."""

    def __init__(self, settings: Settings, store: Store) -> None:
        self._settings = settings
        self._store = store

    @cached_property
    def roster(self) -> Roster:
        """The plugins and the sentences."""
        texts = load_texts(self._settings)
        return Roster(load_plugins(self._settings, texts), texts)

    @cached_property
    def core(self) -> Core:
        """Everything that decides."""
        texts, plugins = self.roster.texts, self.roster.plugins
        return build_core(self._settings, self._store, SystemClock(), texts, plugins)


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


def looking(config: Path | None, work: Callable[[Operations], Awaitable[T]]) -> T:
    """Run what changes nothing: through the daemon if one runs, else on the store."""
    return _run(settings_of(config), reading, work)


def changing(config: Path | None, work: Callable[[Operations], Awaitable[T]]) -> T:
    """Run one small change: through the daemon if one runs, else on the store."""
    return _run(settings_of(config), writing, work)


def _run(
    settings: Settings,
    opened: Callable[[Settings], AbstractAsyncContextManager[Store]],
    work: Callable[[Operations], Awaitable[T]],
) -> T:
    address = daemon_address(settings)
    if address:
        return asyncio.run(_through_daemon(settings, address, work))

    async def go() -> T:
        async with opened(settings) as store:
            return await work(_operations(settings, store))

    return asyncio.run(go())


async def _through_daemon(
    settings: Settings, address: str, work: Callable[[Operations], Awaitable[T]]
) -> T:
    from jobclaw.cli.remote import connected  # noqa: PLC0415 - an HTTP client, if there is need
    from jobclaw.cli.remote_operations import RemoteOperations  # noqa: PLC0415 - as above

    async with connected(settings, address, reader_locale(os.environ)) as remote:
        return await work(RemoteOperations(remote))


def daemon_address(settings: Settings) -> str:
    """Where the API of the daemon of a workspace is, empty if none runs."""
    lock = WorkspaceLock(settings.workspace)
    holder = lock.holder()
    if holder is None or not holder.address or not lock.is_held():
        return ""
    return holder.address


def _operations(settings: Settings, store: Store) -> LocalOperations:
    loaded = Loaded(settings, store)
    return LocalOperations(store, SystemClock(), lambda: loaded.roster, lambda: loaded.core)
