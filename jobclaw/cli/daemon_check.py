"""What `jobclaw doctor` asks of the daemon that runs, if one does."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from typing import Literal

from jobclaw.cli.session import daemon_address
from jobclaw.errors import JobclawError
from jobclaw.service.checkup import Finding
from jobclaw.service.operations import Health
from jobclaw.settings import Settings
from jobclaw.texts import reader_locale

_CUT_OFF = frozenset({"down", "needs_login"})


def check_daemon(settings: Settings) -> Iterator[Finding | JobclawError]:
    """The daemon answers, and each of its parts is well."""
    address = daemon_address(settings)
    if not address:
        yield _finding("ok", "doctor.no-daemon")
        return
    try:
        health = asyncio.run(_ask(settings, address))
    except JobclawError as error:
        yield error
        return
    yield _finding("ok", "doctor.daemon", address=address)
    yield from _troubles(health)


def _troubles(health: Health) -> Iterator[Finding]:
    if health.store.state == "down":
        yield _finding("error", "doctor.daemon-store", reason=health.store.reason)
    if health.store.dead:
        yield _finding("warning", "doctor.daemon-dead", count=str(health.store.dead))
    for name, channel in health.channels.items():
        if channel.state in _CUT_OFF:
            yield _finding(
                "error", "doctor.daemon-channel", channel=name, reason=channel.reason or "-"
            )
    for model in health.llm.models:
        if model.state != "ok":
            reason = model.reason or model.state
            yield _finding("warning", "doctor.daemon-model", model=model.model, reason=reason)


async def _ask(settings: Settings, address: str) -> Health:
    from jobclaw.cli.remote import connected  # noqa: PLC0415 - an HTTP client, if there is need
    from jobclaw.cli.remote_operations import RemoteOperations  # noqa: PLC0415 - as above

    async with connected(settings, address, reader_locale(os.environ)) as remote:
        return await RemoteOperations(remote).health()


def _finding(
    state: Literal["ok", "warning", "error"], text_id: str, /, **values: str
) -> Finding:
    return Finding(check="daemon", state=state, text_id=text_id, values=values)
