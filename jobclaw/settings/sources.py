"""The files that the configuration is read from, and which of them said what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import yaml

from jobclaw.errors import ConfigError
from jobclaw.settings.placeholders import Keys
from jobclaw.settings.yaml_files import read_yaml

OVERLAY = "local.yaml"
_FOLDER = "config"
_NAME = "jobclaw.yaml"
_LIMIT_BYTES = 1024 * 1024


def defaults_folder() -> Path:
    """Where the shipped tables are: in the package, or in `config/` of a source tree."""
    packaged = Path(__file__).parent / "defaults"
    return packaged if packaged.is_dir() else Path(__file__).parents[2] / _FOLDER


@dataclass(frozen=True)
class Source:
    """One configuration file as it stands."""

    path: Path
    tree: Mapping[str, object]

    def line_of(self, keys: Keys) -> int:
        """The line of a key, or of the nearest key above it that is there; 0 if none is.

        Reads the file again: this is for complaints only.
        """
        base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        try:
            loader = base(self.path.read_text("utf-8-sig"))
        except (OSError, ValueError):
            return 0
        node: yaml.Node | None = loader.get_single_node()
        loader.dispose()
        line = 0
        for key in keys:
            found = _child(node, key)
            if found is None:
                break
            line, node = found
        return line


def _child(node: yaml.Node | None, key: str | int) -> tuple[int, yaml.Node] | None:
    """The line and the value of one key of a node."""
    if isinstance(node, yaml.MappingNode):
        for name, value in node.value:
            if isinstance(name, yaml.ScalarNode) and name.value == str(key):
                return name.start_mark.line + 1, value
    if isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
        value = node.value[key]
        return value.start_mark.line + 1, value
    return None


def read_source(path: Path) -> Source:
    """Read one file; keys without a value are as if they were not there.

    Raises:
        ConfigError: it cannot be read, is no YAML, or is no map of texts.
    """
    tree = read_yaml(path, limit_bytes=_LIMIT_BYTES)
    if not isinstance(tree, dict | None):
        raise ConfigError(
            "config.not-map", where=str(path), path=path.name, given=type(tree).__name__
        )
    source = Source(path, cast("dict[str, object]", tree or {}))
    problems = [
        ConfigError(
            "config.key-not-text",
            where=place(source, keys),
            path=dotted(keys[:-1]) or path.name,
            key=keys[-1],
        )
        for keys in _other_keys(source.tree, ())
    ]
    if problems:
        raise ConfigError("config.invalid", problems=problems, n=len(problems), file=str(path))
    return Source(path, cast("dict[str, object]", _without_blanks(source.tree)))


def _other_keys(value: object, keys: Keys) -> Iterable[Keys]:
    if isinstance(value, dict):
        for name, part in cast("dict[str | int, object]", value).items():
            if not isinstance(name, str):
                yield (*keys, name)
            yield from _other_keys(part, (*keys, name))
    elif isinstance(value, list):
        for at, part in enumerate(cast("list[object]", value)):
            yield from _other_keys(part, (*keys, at))


def _without_blanks(value: object) -> object:
    if isinstance(value, dict):
        items = cast("dict[str, object]", value).items()
        return {name: _without_blanks(part) for name, part in items if part is not None}
    return value


def find_sources(config: Path | None, env: Mapping[str, str]) -> tuple[Path, list[Path]]:
    """Find the root and the files: the named one or else the usual one, then its overlay.

    The root is the folder that holds `config/`; a file that is in no folder of that name makes
    its own folder the root. Without any file the shipped defaults count and the root is the
    current folder, whose `config/local.yaml` still overlays them.
    """
    named = config or (Path(env["JOBCLAW_CONFIG"]) if env.get("JOBCLAW_CONFIG") else None)
    main = (named or Path(_FOLDER) / _NAME).expanduser().absolute()
    folder = main.parent
    root = folder.parent if folder.name == _FOLDER else folder
    if named is None and not main.exists():
        main = defaults_folder() / _NAME
    overlay = folder / OVERLAY
    return root, [main, overlay] if overlay.exists() and overlay != main else [main]


def merge(below: Mapping[str, object], above: Mapping[str, object]) -> dict[str, object]:
    """Lay one tree over another: maps merge, everything else replaces."""
    merged = dict(below)
    for name, value in above.items():
        known = merged.get(name)
        if isinstance(known, dict) and isinstance(value, dict):
            merged[name] = merge(
                cast("dict[str, object]", known), cast("dict[str, object]", value)
            )
        else:
            merged[name] = value
    return merged


def dotted(keys: Keys) -> str:
    """A path as people write it: channels.telegram.allow[0]."""
    text = ""
    for key in keys:
        text += f"[{key}]" if isinstance(key, int) else f".{key}"
    return text.removeprefix(".")


def place(source: Source, keys: Keys) -> str:
    """Where a key stands, as editors understand it: file:line."""
    line = source.line_of(keys)
    return f"{source.path}:{line}" if line else str(source.path)


def said_by(sources: list[Source], keys: Keys) -> Source:
    """The file that said what counts for a key: the last one that has most of its path."""

    def depth(source: Source) -> int:
        node: object = source.tree
        for at, key in enumerate(keys):
            if isinstance(node, dict) and key in node:
                node = cast("dict[str | int, object]", node)[key]
            elif isinstance(node, list) and isinstance(key, int):
                parts = cast("list[object]", node)
                node = parts[key] if key < len(parts) else None
            else:
                return at
        return len(keys)

    return max(reversed(sources), key=depth)
