"""Runs a plugin's code within a time limit, and lets nothing that it raises get further."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from jobclaw.errors import PluginError
from jobclaw.plugins.failure import PluginFailure, failure_of

T = TypeVar("T")
_PATIENCE_S = 0.5


class _GivenUp(BaseException):
    """Raised inside a plugin that took too long, so that a loop of its own ends."""


@dataclass
class Outcome(Generic[T]):
    """How a trial ended: one result, or a failure; neither while it runs."""

    results: list[T] = field(default_factory=list[T])
    failure: PluginFailure | None = None


class Trial(Generic[T]):
    """One plugin on trial in a thread of its own."""

    def __init__(self, plugin: str, work: Callable[[], T]) -> None:
        self.plugin = plugin
        self.outcome = Outcome[T]()
        self._work = work
        self._started_at = 0.0
        self._thread = threading.Thread(
            target=self._run, args=(self.outcome,), name=f"plugin-{plugin}", daemon=True
        )

    def start(self) -> None:
        """Begin."""
        self._started_at = time.monotonic()
        self._thread.start()

    def wait(self, limit_s: float) -> bool:
        """Wait until it ends, or `limit_s` seconds from its start have passed."""
        self._thread.join(max(0.0, self._started_at + limit_s - time.monotonic()))
        return not self._thread.is_alive()

    def give_up(self, limit_s: float) -> None:
        """Record that it took too long, and end what it does if that is Python code."""
        values: dict[str, object] = {"plugin": self.plugin, "seconds": f"{limit_s:g}"}
        self.outcome = Outcome[T](
            failure=PluginFailure(plugin=self.plugin, text_id="plugins.too-slow", values=values)
        )
        if self._thread.ident is not None:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(self._thread.ident), ctypes.py_object(_GivenUp)
            )

    def _run(self, outcome: Outcome[T]) -> None:
        """Fill `outcome`, which nobody looks at any more once the trial is given up."""
        try:
            outcome.results.append(self._work())
        except _GivenUp:
            return
        except PluginError as error:
            outcome.failure = failure_of(self.plugin, error, error.text_id)
        except BaseException as error:  # noqa: BLE001  (SystemExit too; the host logs it)
            outcome.failure = failure_of(self.plugin, error, "plugins.import-failed")


def run_trials(trials: Sequence[Trial[T]], limit_s: float) -> None:
    """Run them one after another, without waiting long for a slow one before the next.

    Afterwards each has results or a failure; it takes little more than `limit_s` seconds
    however many are slow.
    """
    for trial in trials:
        trial.start()
        trial.wait(min(_PATIENCE_S, limit_s))
    for trial in trials:
        if not trial.wait(limit_s):
            trial.give_up(limit_s)
