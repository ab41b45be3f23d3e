"""What is kept of a plugin's failure: a sentence for people, a traceback for its author."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

import pluggy

from jobclaw.errors import PluginError
from jobclaw.model import Value

_ERROR_SHOWN = 300
_OWN = (str(Path(__file__).parent), str(Path(pluggy.__file__).parent), "<frozen importlib")


class PluginFailure(Value, frozen=True):
    """Why a plugin, or its newest version, is not in use.

    `kept`: an earlier version still is. Holds text only, so that it keeps nothing alive.
    """

    plugin: str
    text_id: str
    values: Mapping[str, object]
    traceback: str = ""
    kept: bool = False


def failure_of(plugin: str, error: BaseException, text_id: str) -> PluginFailure:
    """Describe what a plugin raised; a PluginError brings its own sentence."""
    if isinstance(error, PluginError):
        cause = error.__cause__
        return PluginFailure(
            plugin=plugin,
            text_id=error.text_id,
            values=error.values,
            traceback="" if cause is None else _traceback(cause),
        )
    values: dict[str, object] = {"plugin": plugin, "error": describe(error)}
    return PluginFailure(
        plugin=plugin, text_id=text_id, values=values, traceback=_traceback(error)
    )


def describe(error: BaseException) -> str:
    """One line: where it was raised, its kind, what it says."""
    frames = traceback.extract_tb(error.__traceback__)
    said = " ".join(str(error).split())
    line = f"{type(error).__name__}: {said}" if said else type(error).__name__
    if frames and not isinstance(error, SyntaxError) and not _is_ours(frames[-1].filename):
        line = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}: {line}"
    return line if len(line) <= _ERROR_SHOWN else f"{line[:_ERROR_SHOWN]}…"


def _is_ours(filename: str) -> bool:
    return filename.startswith(_OWN)


def _traceback(error: BaseException) -> str:
    """The traceback from the plugin's own first line on."""
    frames: TracebackType | None = error.__traceback__
    while frames is not None and _is_ours(frames.tb_frame.f_code.co_filename):
        frames = frames.tb_next
    return "".join(traceback.format_exception(type(error), error, frames)).rstrip()
