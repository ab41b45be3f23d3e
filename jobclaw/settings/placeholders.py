"""Filling in what does not stand in the file itself: `${ENV}`, `${ENV:-default}`, `file:PATH`.

This is how secrets stay out of the configuration. `$${` is a plain `${`; a default is taken as
it is; a file's final line break is not part of the value.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from jobclaw.errors import ConfigError
from jobclaw.settings.fields import FilledIn

Keys = tuple[str | int, ...]
_PLACEHOLDER = re.compile(r"\$(\$\{)|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_FILE = "file:"
_FILE_LIMIT_BYTES = 64 * 1024


class Filling:
    """Fills in every text of a tree; what fails is left out and kept in `problems` by path.

    `assume`: a variable that is not set gets a value that stands for it; whoever asks for that
    must not use secrets.
    """

    def __init__(self, env: Mapping[str, str], root: Path, *, assume: bool = False) -> None:
        self._env = env
        self._root = root
        self._assume = assume
        self.problems: dict[Keys, ConfigError] = {}

    def fill(self, value: object, keys: Keys = ()) -> object:
        """The same tree with its texts filled in."""
        if isinstance(value, str):
            return self._text(value, keys)
        if isinstance(value, dict):
            items = cast("dict[str, object]", value).items()
            filled = {name: self.fill(part, (*keys, name)) for name, part in items}
            return {
                name: part
                for name, part in filled.items()
                if (*keys, name) not in self.problems
            }
        if isinstance(value, list):
            parts = cast("list[object]", value)
            return [self.fill(part, (*keys, at)) for at, part in enumerate(parts)]
        return value

    def _text(self, text: str, keys: Keys) -> str:
        missing: list[str] = []

        def put(found: re.Match[str]) -> str:
            literal, name, default = found.groups()  # an empty variable is as good as none
            if literal:
                return literal
            value = self._env.get(name, "")
            if not value and default is not None:
                return default
            if name not in self._env:
                if self._assume:
                    return f"not-set-in-this-process-{name}"
                missing.append(name)
            return value

        filled = _PLACEHOLDER.sub(put, text)
        if missing:
            self.problems[keys] = ConfigError("config.env-missing", name=", ".join(missing))
            return ""
        if filled.startswith(_FILE):
            return self._file(filled.removeprefix(_FILE), keys)
        return text if filled == text else FilledIn(filled)

    def _file(self, name: str, keys: Keys) -> str:
        path = self._root / Path(name.strip()).expanduser()
        try:
            if not stat.S_ISREG(path.stat().st_mode) and not path.is_dir():
                self.problems[keys] = ConfigError("config.file-not-plain", file=str(path))
                return ""
            with path.open("rb") as file:
                data = file.read(_FILE_LIMIT_BYTES + 1)
            if len(data) > _FILE_LIMIT_BYTES:
                reason = f"> {_FILE_LIMIT_BYTES} bytes"
            else:
                return FilledIn(data.decode("utf-8-sig").rstrip("\r\n"))
        except OSError as error:
            reason = error.strerror or str(error)
        except ValueError as error:  # not UTF-8, or a NUL in the name
            reason = str(error)
        self.problems[keys] = ConfigError(
            "config.file-unreadable", file=str(path), reason=reason
        )
        return ""
