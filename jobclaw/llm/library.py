"""Imports litellm, once, late and silenced.

The import takes 3 to 8 seconds and 190 MB, so it happens on a thread when a model is first
needed. Set before it: the price list is the one in the package (else litellm downloads it while
it is imported), and a `.env` that happens to lie about is not read into our environment. After
it, whatever prints, reports, retries or calls back is switched off.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import importlib.util
import logging
import os
import threading
from collections.abc import Mapping
from typing import Protocol, cast

from jobclaw.errors import ConfigError
from jobclaw.spi.llm import LlmError

_log = logging.getLogger(__name__)
NAME = "litellm"
INSTALL = "make llm"
_BEFORE = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MODE": "PRODUCTION"}
_SILENCED = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "litellm", "httpx", "openai")
_NO_CALLBACKS = (
    "callbacks",
    "input_callback",
    "success_callback",
    "failure_callback",
    "_async_input_callback",
    "_async_success_callback",
    "_async_failure_callback",
)


class Litellm(Protocol):
    """What is used of litellm."""

    model_cost: Mapping[str, Mapping[str, object]]

    async def acompletion(self, **arguments: object) -> object:
        """Ask a model."""
        ...

    async def close_litellm_async_clients(self) -> None:
        """Close its connections."""
        ...


def is_installed(name: str = NAME) -> bool:
    """Whether litellm is there, without importing it."""
    return importlib.util.find_spec(name) is not None


def check_installed(model: str, name: str = NAME) -> None:
    """Refuse a configuration with a model but without litellm.

    Raises:
        ConfigError: `llm.not-installed`, with the command that mends it.
    """
    if model and not is_installed(name):
        raise ConfigError("llm.not-installed", model=model, command=INSTALL)


class Library:
    """litellm, imported at most once; several may wait for it at the same time.

    The import runs on a daemon thread of its own, not in the loop's pool: a program that ends
    meanwhile need not wait for it.
    """

    def __init__(self, name: str = NAME) -> None:
        self._name = name
        self._loaded: Litellm | None = None
        self._missing = False
        self._waiting: set[asyncio.Future[None]] = set()
        self._thread: threading.Thread | None = None

    @property
    def is_missing(self) -> bool:
        """Whether it was tried and is not there."""
        return self._missing

    @property
    def loaded(self) -> Litellm | None:
        """The library if it is imported."""
        return self._loaded

    async def load(self) -> Litellm:
        """Import it, or wait until it is imported; may be cancelled at any time.

        Raises:
            LlmError: it is not installed (missing), or cannot be imported.
        """
        if self._loaded is None and not self._missing:
            await self._wait()
        if self._loaded is None:
            raise LlmError("missing", detail=INSTALL)
        return self._loaded

    async def _wait(self) -> None:
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        self._waiting.add(done)
        if self._thread is None:
            self._thread = threading.Thread(
                target=self._import, args=(loop,), name="import litellm", daemon=True
            )
            self._thread.start()
        try:
            await done
        finally:
            self._waiting.discard(done)

    def _import(self, loop: asyncio.AbstractEventLoop) -> None:
        module: Litellm | None = None
        try:
            module = _imported(self._name)
        except Exception:  # noqa: BLE001 - thousands of modules that are not ours
            _log.exception("litellm cannot be imported; run: %s", INSTALL)
        with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(self._take, module)

    def _take(self, module: Litellm | None) -> None:
        self._loaded, self._missing = module, module is None
        for done in self._waiting:
            if not done.done():
                done.set_result(None)


def _imported(name: str) -> Litellm:
    os.environ.update(_BEFORE)
    for logger in _SILENCED:
        logging.getLogger(logger).setLevel(logging.CRITICAL)
    module = importlib.import_module(name)
    _quieten(module)
    if name == NAME:
        from jobclaw.llm.bounds import bound_answers  # noqa: PLC0415 - loads an HTTP client

        bound_answers()
    return cast("Litellm", module)


def _quieten(module: object) -> None:
    """Switch off what litellm prints, reports, retries and calls back."""
    settings: dict[str, object] = {
        "suppress_debug_info": True,
        "telemetry": False,
        "set_verbose": False,
        "num_retries": 0,
        "drop_params": True,
        "turn_off_message_logging": True,
    }
    for name, value in settings.items():
        setattr(module, name, value)
    for name in _NO_CALLBACKS:
        setattr(module, name, [])
