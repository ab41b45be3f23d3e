"""What every command shows and how: sentences in the reader's language, JSON, errors."""

from __future__ import annotations

import logging
import os
import sys
import tempfile
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from jobclaw.errors import ConfigError, JobclawError
from jobclaw.texts import Catalogue, Locale, core_folder, reader_locale

_log = logging.getLogger(__name__)
INTERNAL_ERROR = 1
INTERRUPTED = 130


class Terminal:
    """The reader's language and the two output streams."""

    def __init__(self) -> None:
        self.locale: Locale = reader_locale(os.environ)
        self._texts = Catalogue([core_folder()])
        logging.getLogger().addHandler(logging.NullHandler())

    def say(self, text_id: str, /, **values: object) -> str:
        """A sentence in the reader's language."""
        return self._texts.say(self.locale, text_id, **values)

    def show(self, text: str) -> None:
        """Write a line to standard output."""
        sys.stdout.write(f"{text}\n")

    def show_json(self, value: object) -> None:
        """Write a value as JSON, readable and in UTF-8."""
        import msgspec  # noqa: PLC0415 - not needed for help

        data = msgspec.json.format(msgspec.json.encode(value), indent=2)
        sys.stdout.write(f"{data.decode()}\n")

    def complain(self, text: str) -> None:
        """Write a line to standard error."""
        sys.stderr.write(f"{text}\n")

    def error(self, error: JobclawError) -> str:
        """The sentences of an error, one a line."""
        lines = [self.say(error.text_id, **error.values)]
        if isinstance(error, ConfigError):
            lines += [f"  - {self.error(problem)}" for problem in error.problems]
        return "\n".join(lines)

    def table(self, rows: Sequence[Sequence[str]]) -> None:
        """Write rows with aligned columns; a Chinese character is two columns wide."""
        widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            cells = [
                cell + " " * (width - _width(cell))
                for cell, width in zip(row, widths, strict=True)
            ]
            self.show("  ".join(cells).rstrip())


def _width(text: str) -> int:
    from unicodedata import east_asian_width  # noqa: PLC0415 - not needed for help

    return sum(2 if east_asian_width(char) in "WF" else 1 for char in text)


def guarded(terminal: Terminal, command: Callable[[], int]) -> int:
    """Run a command; whatever it raises becomes a sentence and an exit code."""
    try:
        return command()
    except JobclawError as error:
        terminal.complain(terminal.error(error))
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader, such as `head`, has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return INTERNAL_ERROR
    except Exception:  # noqa: BLE001 - a fault of ours: the person gets a file's name
        path = _keep_trace(traceback.format_exc())
        terminal.complain(terminal.say("cli.internal-error", file=path))
        return INTERNAL_ERROR


def _keep_trace(trace: str) -> str:
    """Write a traceback to a private file of its own and return its path."""
    _log.error("internal error: %s", trace)
    handle, path = tempfile.mkstemp(prefix="jobclaw-error-", suffix=".log")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(trace)
    return path


ConfigOption = Annotated[
    Path | None, typer.Option("--config", help="cli.option.config", show_default=False)
]
JsonOption = Annotated[bool, typer.Option("--json", help="cli.option.json")]
