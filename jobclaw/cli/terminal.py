"""What every command shows and how: sentences in the reader's language, JSON, errors."""

from __future__ import annotations

import contextlib
import errno
import io
import logging
import os
import sys
import tempfile
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, TextIO

import typer

from jobclaw.errors import ConfigError, JobclawError
from jobclaw.texts import Catalogue, Locale, core_folder, reader_locale

_log = logging.getLogger(__name__)
INTERNAL_ERROR = 1
INTERRUPTED = 130
EXIT_IO = 74
MOST_ROWS = 1_000_000
CELL_WIDTH = 72
LAST_CELL_WIDTH = 400
_OF_OUTPUT = frozenset({errno.ENOSPC, errno.EIO, errno.EBADF, errno.EDQUOT, errno.EFBIG})


class Terminal:
    """The reader's language and the two output streams, which carry UTF-8 in every locale."""

    def __init__(self) -> None:
        for stream in (sys.stdin, sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                errors = "replace" if stream is sys.stdin else "backslashreplace"
                stream.reconfigure(encoding="utf-8", errors=errors)
        self.locale: Locale = reader_locale(os.environ)
        self._texts = Catalogue([core_folder()])
        logging.getLogger().addHandler(logging.NullHandler())

    def say(self, text_id: str, /, **values: object) -> str:
        """A sentence in the reader's language."""
        return self._texts.say(self.locale, text_id, **values)

    def show(self, text: str) -> None:
        """Write a line to standard output."""
        self._write(f"{text}\n")

    def is_screen(self) -> bool:
        """Whether a person looks at what is shown."""
        return _is_open(sys.stdout) and sys.stdout.isatty()

    def settle(self) -> None:
        """Bring out what others wrote there, such as help; a closed output has nothing.

        Raises:
            BrokenPipeError: whoever read it has gone.
            JobclawError: the output refuses (exit 74).
        """
        if _is_open(sys.stdout):
            self._write("")

    def show_json(self, value: object) -> None:
        """Write a value as JSON, readable and in UTF-8."""
        import msgspec  # noqa: PLC0415 - not needed for help

        data = msgspec.json.format(msgspec.json.encode(value), indent=2)
        self._write(f"{data.decode()}\n")

    def complain(self, text: str) -> None:
        """Write a line to standard error; the exit code tells where that is shut as well."""
        with contextlib.suppress(OSError):
            if _is_open(sys.stderr):
                sys.stderr.write(f"{text}\n")
                sys.stderr.flush()

    def _write(self, text: str) -> None:
        try:
            out = _output()
            out.write(text)
            out.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise _refused(error) from error

    def error(self, error: JobclawError) -> str:
        """The sentences of an error, one a line."""
        lines = [self.say(error.text_id, **error.values)]
        if isinstance(error, ConfigError):
            lines += [f"  - {self.error(problem)}" for problem in error.problems]
        return "\n".join(lines)

    def table(self, rows: Sequence[Sequence[str]]) -> None:
        """Write rows with aligned columns, long cells cut; a Chinese character is two wide."""
        short = [
            [*(_cut(cell, CELL_WIDTH) for cell in row[:-1]), _cut(row[-1], LAST_CELL_WIDTH)]
            for row in rows
        ]
        widths = [max(map(_width, column)) for column in zip(*short, strict=True)]
        for row in short:
            cells = [
                cell + " " * (width - _width(cell))
                for cell, width in zip(row, widths, strict=True)
            ]
            self.show("  ".join(cells).rstrip())


def _is_open(stream: TextIO | None) -> bool:
    """Whether a standard stream is there: Python has none where the shell closed it."""
    return stream is not None


def _output() -> TextIO:
    if not _is_open(sys.stdout):
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    return sys.stdout


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _width(text: str) -> int:
    from unicodedata import east_asian_width  # noqa: PLC0415 - not needed for help

    return sum(2 if east_asian_width(char) in "WF" else 1 for char in text)


def guarded(terminal: Terminal, command: Callable[[], int]) -> int:
    """Run a command; whatever it raises becomes a sentence and an exit code."""
    try:
        code = command()
        terminal.settle()
    except JobclawError as error:
        terminal.complain(terminal.error(error))
        _drop_output()
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader, such as `head`, has gone
        _drop_output()
        return INTERNAL_ERROR
    except OSError as error:
        if error.filename is None and error.errno in _OF_OUTPUT:  # help is written by typer
            terminal.complain(terminal.error(_refused(error)))
            _drop_output()
            return EXIT_IO
        return _internal_error(terminal)
    except Exception:  # noqa: BLE001 - a fault of ours: the person gets a file's name
        return _internal_error(terminal)
    else:
        return code


def _internal_error(terminal: Terminal) -> int:
    path = _keep_trace(traceback.format_exc())
    terminal.complain(terminal.say("cli.internal-error", file=path))
    return INTERNAL_ERROR


def _refused(error: OSError) -> JobclawError:
    failure = JobclawError("cli.output-failed", reason=error.strerror or str(error))
    failure.exit_code = EXIT_IO
    return failure


def _drop_output() -> None:
    """Let go what an output refused, or the interpreter tries it again when it ends."""
    if not _is_open(sys.stdout):
        return
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


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
LimitOption = Annotated[
    int, typer.Option("--limit", min=1, max=MOST_ROWS, help="cli.option.limit")
]
