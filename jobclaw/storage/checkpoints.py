"""Folds the write-ahead log into the database beside the writer, so that no batch waits for it.

The writer itself does it only when the log has grown to `BACKSTOP_PAGES`: under a load that
never pauses the log cannot start again from its beginning otherwise.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

from jobclaw.storage.database import connect

OPERATIONS = 2000
BACKSTOP_PAGES = 16_000


class Checkpoints:
    """A thread with a connection of its own; `on_error` is called in it."""

    def __init__(self, path: Path, on_error: Callable[[sqlite3.Error], None]) -> None:
        self._db = connect(path)
        self._on_error = on_error
        self._written = 0
        self._due = threading.Event()
        self._ended = False
        self._thread = threading.Thread(target=self._work, name="jobclaw-wal", daemon=True)
        self._thread.start()

    def wrote(self, operations: int) -> None:
        """Count what was committed; called by the writer."""
        self._written += operations
        if self._written >= OPERATIONS:
            self._written = 0
            self._due.set()

    def close(self) -> None:
        """End the thread and release the connection; blocks."""
        self._ended = True
        self._due.set()
        self._thread.join()
        self._db.close()

    def _work(self) -> None:
        while True:
            self._due.wait()
            self._due.clear()
            if self._ended:
                return
            try:
                self._db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            except sqlite3.Error as error:
                self._on_error(error)
