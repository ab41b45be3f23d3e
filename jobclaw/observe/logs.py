"""Where the process logs: a file in the workspace, and for a daemon standard error as well.

The file has one JSON object a line. Standard error is for people where it is a terminal, and
JSON otherwise (`logging.format`). A line carries the id of the message that it is about, and no
secret.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Mapping, MutableMapping
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

from jobclaw.observe.redaction import Redactor
from jobclaw.settings import Settings
from jobclaw.spi.trace import CURRENT_MESSAGE

FILE_BYTES = 10 * 1024 * 1024
FILES_KEPT = 5
QUIET = (
    "aiohttp",
    "asyncio",
    "httpx",
    "httpcore",
    "LiteLLM",
    "openai",
    "uvicorn",
    "watchfiles",
)
Render = Callable[[logging.LogRecord], str]
Event = MutableMapping[str, object]
Processor = Callable[[object, str, Event], Mapping[str, object] | str | bytes]


def log_file(workspace: Path) -> Path:
    """The newest log of a workspace."""
    return workspace / "logs" / "jobclaw.log"


class _PrivateFile(RotatingFileHandler):
    """A rotating file that only its owner reads."""

    def _open(self) -> TextIOWrapper:
        """Create the file for its owner alone, then open it as usual."""
        os.close(os.open(self.baseFilename, os.O_CREAT | os.O_WRONLY, 0o600))
        return super()._open()


class _Formatter(logging.Formatter):
    """Renders by structlog, which is loaded for the first line that is written."""

    def __init__(self, redactor: Redactor, build: Callable[[], Render]) -> None:
        super().__init__()
        self._redactor = redactor
        self._build = build
        self._render: Render | None = None

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record, without its secrets."""
        if self._render is None:
            self._render = self._build()
        return self._redactor.clean(self._render(record))


def log_to(
    settings: Settings, redactor: Redactor | None = None, *, screen: bool = False
) -> None:
    """Log to the workspace if it exists already; a command that only looks creates nothing.

    `screen`: to standard error as well.
    """
    redactor = redactor or Redactor()
    redactor.add(*settings.secrets())
    logging.raiseExceptions = False  # a full disk must not print on somebody's conversation
    root = logging.getLogger()
    for handler in root.handlers[:]:
        root.removeHandler(handler)
        handler.close()
    root.setLevel(settings.logging.level.upper())
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
    if screen:
        is_for_people = settings.logging.format == "human" or (
            settings.logging.format == "auto" and sys.stderr.isatty()
        )
        shown = logging.StreamHandler()
        shown.setFormatter(_Formatter(redactor, _for_people if is_for_people else _as_json))
        root.addHandler(shown)
    root.addHandler(_file_handler(settings.workspace, redactor))


def _file_handler(workspace: Path, redactor: Redactor) -> logging.Handler:
    if not workspace.is_dir():
        return logging.NullHandler()
    path = log_file(workspace)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    handler = _PrivateFile(
        path, maxBytes=FILE_BYTES, backupCount=FILES_KEPT, encoding="utf-8", delay=True
    )
    handler.setFormatter(_Formatter(redactor, _as_json))
    return handler


def _as_json() -> Render:
    import structlog  # noqa: PLC0415 - takes a tenth of a second, and few commands log anything

    return _rendered(
        structlog.processors.format_exc_info,
        structlog.processors.JSONRenderer(ensure_ascii=False),
    )


def _for_people() -> Render:
    import structlog  # noqa: PLC0415 - as above

    colors = sys.stderr.isatty() and "NO_COLOR" not in os.environ
    return _rendered(
        structlog.dev.ConsoleRenderer(
            colors=colors, exception_formatter=structlog.dev.plain_traceback
        )
    )


def _rendered(*last: Processor) -> Render:
    """A formatter for the records of the standard library."""
    from structlog import stdlib  # noqa: PLC0415 - as above
    from structlog.processors import TimeStamper  # noqa: PLC0415 - as above

    formatter = stdlib.ProcessorFormatter(
        foreign_pre_chain=[
            stdlib.add_log_level,
            stdlib.add_logger_name,
            stdlib.ExtraAdder(),
            _add_message,
            TimeStamper(fmt="iso", utc=True),
        ],
        processors=[stdlib.ProcessorFormatter.remove_processors_meta, *last],
    )
    return formatter.format


def _add_message(_logger: object, _method: str, event: Event) -> Event:
    message = CURRENT_MESSAGE.get()
    if message:
        event.setdefault("message", message)
    return event
