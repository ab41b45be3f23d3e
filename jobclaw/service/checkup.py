"""What `jobclaw doctor` looks at; each finding names the command that mends it."""

from __future__ import annotations

import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

from jobclaw.errors import ConfigError, JobclawError, PluginError, StorageError
from jobclaw.model import Value
from jobclaw.plugins import PluginHost
from jobclaw.registry.agents import AgentRegistry
from jobclaw.service.references import References
from jobclaw.settings import Settings, load_roles
from jobclaw.settings.keywords import load_keywords
from jobclaw.spi.llm import LlmError

OLDEST_PYTHON = (3, 11)


class Finding(Value, frozen=True):
    """One thing that was looked at; `fix` is a file mode to set, where that mends it."""

    check: str
    state: Literal["ok", "warning", "error"]
    text_id: str
    values: dict[str, str]
    path: str = ""
    mode: int = 0


def _finding(
    check: str,
    state: Literal["ok", "warning", "error"],
    text_id: str,
    /,
    **values: str,
) -> Finding:
    return Finding(check=check, state=state, text_id=text_id, values=values)


def check_python() -> Iterator[Finding]:
    """The interpreter is new enough."""
    version = ".".join(map(str, sys.version_info[:3]))
    good = sys.version_info >= OLDEST_PYTHON
    text_id = "doctor.python" if good else "doctor.python-old"
    yield _finding("python", "ok" if good else "error", text_id, version=version)


def check_tables(settings: Settings) -> Iterator[Finding | JobclawError]:
    """Keywords and roles can be read."""
    try:
        table = load_keywords(settings.intent.keywords_file, settings.keywords_overlay)
        count = str(sum(map(len, table.intents.values())))
        yield _finding("keywords", "ok", "doctor.keywords", count=count)
    except ConfigError as error:
        yield error
    try:
        load_roles(settings.roles.file)
        yield _finding("roles", "ok", "doctor.roles", file=str(settings.roles.file))
    except ConfigError as error:
        yield error


def check_plugins(
    settings: Settings, host: PluginHost[AgentRegistry]
) -> Iterator[Finding | JobclawError]:
    """Every plugin is loaded, and everything that the settings name is there."""
    for failure in host.failures:
        yield PluginError(failure.text_id, **failure.values)
    count = str(len(host.registry.all()))
    yield _finding("plugins", "ok", "doctor.agents", count=count)
    yield from References(settings, host).problems()


def check_model(
    settings: Settings, check_installed: Callable[[str], None]
) -> Iterator[Finding | JobclawError]:
    """A configured model can be asked at all; whether it answers, only a probe can tell."""
    models = (settings.llm.model, *settings.llm.fallbacks)
    if not settings.llm.model:
        yield _finding("model", "ok", "doctor.no-model")
        return
    try:
        check_installed(settings.llm.model)
    except ConfigError as error:
        yield error
    else:
        yield _finding("model", "ok", "doctor.model", models=", ".join(models))


def probe_finding(model: str, api_base: str, seconds: float, error: LlmError | None) -> Finding:
    """What asking a model once came to, with what to do next if it failed."""
    if error is None:
        return _finding("probe", "ok", "doctor.probe", model=model, seconds=f"{seconds:.1f}")
    return _finding(
        "probe",
        "error",
        f"doctor.probe-{error.why}",
        model=model,
        base=api_base or "-",
        seconds=f"{seconds:.0f}",
        detail=str(error.values.get("detail", "")),
    )


def check_workspace(
    workspace: Path, open_it: Callable[[], None]
) -> Iterator[Finding | JobclawError]:
    """The workspace is private and its store opens."""
    if not workspace.exists():
        yield _finding("workspace", "ok", "doctor.no-workspace", path=str(workspace))
        return
    for path in (workspace, *sorted(workspace.glob("*.db*")), *workspace.glob("*.token")):
        mode = stat.S_IMODE(path.stat().st_mode)
        wanted = mode & 0o700
        if mode != wanted:
            yield Finding(
                check="modes",
                state="warning",
                text_id="doctor.loose-mode",
                values={"path": str(path), "mode": f"{mode:o}", "wanted": f"{wanted:o}"},
                path=str(path),
                mode=wanted,
            )
    try:
        open_it()
        yield _finding("store", "ok", "doctor.store", path=str(workspace))
    except StorageError as error:
        yield error
