"""Where the process logs: a file in the workspace, never the terminal of a conversation."""

from __future__ import annotations

import logging
import os
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

FILE_BYTES = 10 * 1024 * 1024
FILES_KEPT = 5
_FORMAT = "%(asctime)s %(levelname)s %(name)s %(message)s"


def log_file(workspace: Path) -> Path:
    """The newest log of a workspace."""
    return workspace / "logs" / "jobclaw.log"


class _PrivateFile(RotatingFileHandler):
    """A rotating file that only its owner reads."""

    def _open(self) -> TextIOWrapper:
        """Create the file for its owner alone, then open it as usual."""
        os.close(os.open(self.baseFilename, os.O_CREAT | os.O_WRONLY, 0o600))
        return super()._open()


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
