"""Changes one section of `config/local.yaml`; the rest of the file stays as it was written.

The file is the user's, with their comments and order, so it is edited as text. What comes out
is read again and compared before it replaces the old file.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from jobclaw.errors import ConfigError
from jobclaw.settings.yaml_files import TABLE_LIMIT_BYTES, dump_yaml, parse_yaml, read_file

_INSIDE = re.compile(r"[ \t#}\]-]|\r?\n|\Z")
_LOOSE = re.compile(r"#|\r?\n|\Z")


def set_section(path: Path, name: str, values: Mapping[str, object]) -> None:
    """Set keys of a top-level section; its other keys stay, comments inside it do not.

    Raises:
        ConfigError: the file cannot be read, or is laid out so that it cannot be edited.
        OSError: it cannot be written.
    """
    text, tree = _read(path)
    old = tree.get(name)
    section = {**cast("dict[str, object]", old), **values} if isinstance(old, dict) else values
    wanted = {**tree, name: dict(section)}
    edited = _edited(text, name, dump_yaml({name: dict(section)}))
    if parse_yaml(edited.encode(), str(path)) != wanted:
        raise ConfigError("config.not-editable", file=str(path), section=name)
    _replace(path, edited)


def _read(path: Path) -> tuple[str, dict[str, object]]:
    if not path.exists():
        return "", {}
    data = read_file(path, TABLE_LIMIT_BYTES)
    tree = parse_yaml(data, str(path))
    if tree is None:
        tree = {}
    if not isinstance(tree, dict):
        raise ConfigError("config.not-editable", file=str(path), section="")
    return data.decode("utf-8-sig"), cast("dict[str, object]", tree)


def _edited(text: str, name: str, block: str) -> str:
    """The text with the section's lines replaced, or the section at its end."""
    lines = text.splitlines(keepends=True)
    head = re.compile(rf"[\"']?{re.escape(name)}[\"']?[ \t]*:")
    start = next((at for at, line in enumerate(lines) if head.match(line)), None)
    if start is None:
        gap = "" if not text or text.endswith("\n") else "\n"
        return f"{text}{gap}{block}"
    end = start + 1
    while end < len(lines) and _INSIDE.match(lines[end]):
        end += 1
    while end > start + 1 and _LOOSE.match(lines[end - 1]):  # they belong to what follows
        end -= 1
    return "".join(lines[:start]) + block + "".join(lines[end:])


def _replace(path: Path, text: str) -> None:
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    new = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        if path.exists():
            shutil.copymode(path, new)
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)
