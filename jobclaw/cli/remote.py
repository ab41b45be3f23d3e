"""Talks to the API of the daemon that holds the workspace."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TypeVar

import aiohttp
import msgspec
from yarl import URL

from jobclaw.errors import ConfigError, JobclawError, UsageError
from jobclaw.model import Locale, from_json
from jobclaw.settings import Settings
from jobclaw.web.pages import Problem
from jobclaw.web.token import OperatorToken

T = TypeVar("T")
PREFIX = "/api/v1"
CALL_S = 30.0
REFUSED = 400
LINE_MOST = 64 * 1024 * 1024


class Remote:
    """Calls of one command to the daemon, with the operator's token."""

    def __init__(self, session: aiohttp.ClientSession, address: str) -> None:
        self._session = session
        self._address = address

    async def call(
        self,
        method: str,
        path: str,
        kind: type[T],
        *,
        query: Mapping[str, str] | None = None,
        body: bytes | None = None,
    ) -> T:
        """Ask once.

        Raises:
            UsageError: the daemon refused, with its sentence.
            JobclawError: it cannot be reached.
        """
        timeout = aiohttp.ClientTimeout(CALL_S)
        try:
            async with self._request(method, path, query, body, timeout) as response:
                data = await response.read()
                _check(response.status, data)
        except (aiohttp.ClientError, TimeoutError) as error:
            raise JobclawError("cli.remote.unreachable", address=self._address) from error
        return from_json(data or b"null", kind)

    async def lines(self, path: str, body: bytes) -> AsyncIterator[bytes]:
        """Read a stream of lines until the daemon ends it.

        Raises:
            UsageError: the daemon refused.
            JobclawError: it cannot be reached, or went away.
        """
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=CALL_S, sock_read=CALL_S * 2)
        try:
            async with self._request("POST", path, None, body, timeout) as response:
                if response.status >= REFUSED:
                    _check(response.status, await response.read())
                async for line in response.content:
                    yield line
        except (aiohttp.ClientError, TimeoutError) as error:
            raise JobclawError("cli.remote.unreachable", address=self._address) from error

    def _request(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None,
        body: bytes | None,
        timeout: aiohttp.ClientTimeout,
    ) -> AbstractAsyncContextManager[aiohttp.ClientResponse]:
        headers = {} if body is None else {"Content-Type": "application/json"}
        return self._session.request(
            method,
            URL(f"{self._address}{PREFIX}{path}", encoded=True),  # a name may be `..`
            params=query,
            data=body,
            headers=headers,
            timeout=timeout,
            allow_redirects=False,
        )


def _check(status: int, data: bytes) -> None:
    if status < REFUSED:
        return
    try:
        sentence = from_json(data, Problem).error
    except msgspec.DecodeError:
        sentence = f"HTTP {status}"
    raise UsageError("cli.remote.refused", problem=sentence)


@asynccontextmanager
async def connected(settings: Settings, address: str, locale: Locale) -> AsyncGenerator[Remote]:
    """A connection to the daemon.

    Raises:
        ConfigError: this user cannot read the operator's token.
    """
    token = _token(settings, settings.workspace)
    headers = {
        "Authorization": f"Bearer {token}",
        "Accept": "application/json",
        "Accept-Language": locale,
    }
    async with aiohttp.ClientSession(
        headers=headers, read_bufsize=LINE_MOST, trust_env=False
    ) as session:
        yield Remote(session, address)


def _token(settings: Settings, workspace: Path) -> str:
    configured = settings.web.operator_token.get_secret_value()
    token = OperatorToken(configured, workspace).prepare()
    if not token:
        raise ConfigError("http.token-file", file=str(workspace), problem="empty")
    return token
