"""Loads the configuration: find the files, overlay, fill in, check, report everything wrong."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from pydantic import ValidationError

from jobclaw.errors import ConfigError
from jobclaw.settings.fields import Origin
from jobclaw.settings.placeholders import Filling, Keys
from jobclaw.settings.problems import complaints
from jobclaw.settings.schema import Settings
from jobclaw.settings.sources import (
    Source,
    defaults_folder,
    dotted,
    find_sources,
    merge,
    place,
    read_source,
    said_by,
)


def load_settings(
    config: Path | None,
    env: Mapping[str, str],
    changes: Mapping[str, object] | None = None,
    *,
    assume: bool = False,
) -> Settings:
    """Load `config`, else $JOBCLAW_CONFIG, else config/jobclaw.yaml, else the shipped defaults.

    `local.yaml` beside the file overlays it, and `changes` (of a command line) overlay both.
    `${ENV}` and `file:PATH` are filled in. Relative paths start from the folder that holds
    `config/`, or from the file's own folder when that has another name. With `assume` a
    variable that is not set is no mistake: for commands that use no secret.

    Raises:
        ConfigError: a file cannot be read, or `config.invalid` with one of `problems` for each
        thing that is wrong.
    """
    root, paths = find_sources(config, env)
    sources = [read_source(path) for path in paths]
    tree: dict[str, object] = {}
    for source in sources:
        tree = merge(tree, source.tree)
    tree = merge(tree, dict(changes or {}))
    filling = Filling(env, root, assume=assume)
    filled = filling.fill(tree)
    found = list(filling.problems.items())
    origin = Origin(root=root, shipped=defaults_folder(), files=tuple(paths))
    try:
        settings = Settings.model_validate(filled, context=origin)
    except ValidationError as error:
        found += [item for item in complaints(error) if item[0] not in filling.problems]
    else:
        if not found:
            return settings
    raise _invalid(sources, found)


def _invalid(sources: list[Source], found: list[tuple[Keys, ConfigError]]) -> ConfigError:
    problems: list[ConfigError] = []
    for keys, problem in found:
        source = said_by(sources, keys)
        problem.values.update(where=place(source, keys), path=dotted(keys) or source.path.name)
        problems.append(problem)
    files = ", ".join(str(source.path) for source in sources)
    return ConfigError("config.invalid", problems=problems, n=len(problems), file=files)


def check_channels(settings: Settings, provided: Collection[str]) -> None:
    """Check that a plugin provides every enabled channel.

    Raises:
        ConfigError: `config.invalid`, with one problem a channel.
    """
    known = ", ".join(sorted(provided))
    problems = [
        ConfigError("config.no-such-channel", channel=name, known=known)
        for name in settings.channels.enabled()
        if name not in provided
    ]
    if problems:
        files = ", ".join(str(path) for path in settings.files)
        raise ConfigError("config.invalid", problems=problems, n=len(problems), file=files)
