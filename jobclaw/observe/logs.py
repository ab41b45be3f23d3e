"""Where the process logs: a file in the workspace, never the terminal of a conversation."""

from __future__ import annotations

import logging
import os
from logging.handlers import RotatingFileHandler
from pathlib import Path

FILE_BYTES = 10 * 1024 * 1024
FILES_KEPT = 5
_FORMAT = "%(asctime)s %(levelname)s %(name)s %(message)s"


def log_file(workspace: Path) -> Path:
    """The newest log of a workspace."""
    return workspace / "logs" / "jobclaw.log"


def _opener(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


class _PrivateFile(RotatingFileHandler):
    """A rotating file that only its owner reads."""

    def _open(self):  # noqa: ANN202 - the type is the base's
        return open(  # noqa: PTH123 - only this one takes an opener
            self.baseFilename, self.mode, encoding=self.encoding, opener=_opener
        )


def log_to(workspace: Path, level: str) -> None:
    """Log to the workspace if it exists already; a command that only looks creates nothing."""
    logging.raiseExceptions = False  # a full disk must not print on somebody's conversation
    root = logging.getLogger()
    for handler in root.handlers[:]:
        root.removeHandler(handler)
        handler.close()
    root.setLevel(level.upper())
    if not workspace.is_dir():
        root.addHandler(logging.NullHandler())
        return
    path = log_file(workspace)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    handler = _PrivateFile(
        path, maxBytes=FILE_BYTES, backupCount=FILES_KEPT, encoding="utf-8", delay=True
    )
    handler.setFormatter(logging.Formatter(_FORMAT))
    root.addHandler(handler)
