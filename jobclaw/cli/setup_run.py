"""The work behind `jobclaw init` and `jobclaw config`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from jobclaw.app.core import load_plugins, load_texts
from jobclaw.cli.setup_model import ModelOptions, check_options, set_up_model
from jobclaw.cli.terminal import EXIT_IO, Terminal
from jobclaw.errors import JobclawError
from jobclaw.service.references import References, refuse
from jobclaw.settings import load_roles, load_settings
from jobclaw.settings.keywords import load_keywords
from jobclaw.settings.sources import defaults_folder
from jobclaw.settings.yaml_files import dump_yaml

T = TypeVar("T")
COPIED = ("jobclaw.yaml", "roles.yaml", "keywords.yaml")


def init(terminal: Terminal, folder: Path, options: ModelOptions) -> int:
    """Write the documented defaults into `folder` and set up a model, if one is wanted.

    Nothing that exists is touched, but the model in `config/local.yaml`.
    """
    check_options(options)
    target = folder / "config"
    _write(target, lambda: target.mkdir(parents=True, exist_ok=True))
    agents = folder / "agents"
    _write(agents, lambda: agents.mkdir(exist_ok=True))
    for name in COPIED:
        path = target / name
        if path.exists():
            terminal.show(terminal.say("init.kept", file=str(path)))
        else:
            _write(path, partial(shutil.copyfile, defaults_folder() / name, path))
            terminal.show(terminal.say("init.written", file=str(path)))
    local = target / "local.yaml"
    config = target / "jobclaw.yaml"
    code = _write(local, lambda: set_up_model(terminal, config, options))
    terminal.show(terminal.say("init.next"))
    return code


def _write(path: Path, work: Callable[[], T]) -> T:
    try:
        return work()
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        problem = getattr(error, "strerror", None) or str(error)
        failure = JobclawError("init.failed", file=str(path), problem=problem)
        failure.exit_code = EXIT_IO
        raise failure from error


def check_config(terminal: Terminal, config: Path | None) -> int:
    """Read everything that people write; a mistake raises with its place."""
    settings = load_settings(config, os.environ)
    keywords = load_keywords(settings.intent.keywords_file, settings.keywords_overlay)
    load_roles(settings.roles.file)
    texts = load_texts(settings)
    refuse(settings, References(settings, load_plugins(settings, texts)).problems())
    count = sum(map(len, keywords.intents.values()))
    files = ", ".join(map(str, settings.files)) or terminal.say("config.defaults")
    terminal.show(terminal.say("config.good", files=files, n=count))
    return 0


def show_config(terminal: Terminal, config: Path | None, *, as_json: bool) -> int:
    """Show the effective settings, secrets masked."""
    settings = load_settings(config, os.environ)
    if as_json:
        terminal.show_json(settings.show())
    else:
        terminal.show(dump_yaml(settings.show()).rstrip())
    return 0
