"""The table of roles: which channel identities may do more than everybody.

```yaml
admin: ["telegram:123456:987654"]      # channel:account:sender, always as quoted text
vip: []
```
Whoever is not listed, in a table that is empty, missing or malformed above all, has no role
from here.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from jobclaw.errors import ConfigError
from jobclaw.model import ROLES, Role
from jobclaw.settings.placeholders import Keys
from jobclaw.settings.sources import Source, dotted, place
from jobclaw.settings.yaml_files import read_yaml

_log = logging.getLogger(__name__)
_LISTED: tuple[Role, ...] = ("vip", "admin")
_PARTS = 3
_CHECK_SECONDS = 1.0
_LIMIT_BYTES = 4 * 1024 * 1024
Identity = tuple[str, str, str]


@dataclass(frozen=True)
class RoleTable:
    """Roles by (channel, account, sender)."""

    roles: Mapping[Identity, Role] = field(default_factory=dict[Identity, Role])

    def role_of(self, channel: str, account: str, sender: str) -> Role | None:
        """The role written for an identity, None if there is none."""
        return self.roles.get((channel, account, sender))


def load_roles(path: Path) -> RoleTable:
    """Read the table; a missing or empty file lists nobody.

    Raises:
        ConfigError: it cannot be read, or `config.invalid` with every problem and its line.
    """
    if not path.exists():
        return RoleTable()
    tree = read_yaml(path, limit_bytes=_LIMIT_BYTES)
    if not isinstance(tree, dict | None):
        raise ConfigError(
            "config.not-map", where=str(path), path=path.name, given=type(tree).__name__
        )
    source = Source(path, cast("dict[str, object]", tree or {}))
    roles: dict[Identity, Role] = {}
    problems: list[ConfigError] = []
    for keys, found in _entries(source.tree):
        if isinstance(found, ConfigError):
            found.values.update(where=place(source, keys), path=dotted(keys))
            problems.append(found)
        else:
            role = cast("Role", keys[0])
            known = roles.get(found, role)
            roles[found] = role if ROLES.index(role) > ROLES.index(known) else known
    if problems:
        raise ConfigError("config.invalid", problems=problems, n=len(problems), file=str(path))
    return RoleTable(roles)


def _entries(tree: Mapping[str, object]) -> Iterator[tuple[Keys, Identity | ConfigError]]:
    for role, ids in tree.items():
        if role not in _LISTED:
            yield (role,), ConfigError("config.unknown-key-of", known=", ".join(_LISTED))
        elif isinstance(ids, list):
            for at, one in enumerate(cast("list[object]", ids)):
                yield (role, at), _identity(one)
        elif ids is not None:
            yield (role,), ConfigError("config.not-list", given=repr(ids)[:60])


def _identity(text: object) -> Identity | ConfigError:
    if not isinstance(text, str):
        return ConfigError("config.id-not-text", given=repr(text)[:60])
    parts = text.split(":", _PARTS - 1)
    if len(parts) != _PARTS or any(not part.strip() or part == "*" for part in parts):
        return ConfigError("config.bad-identity", given=text[:60])
    channel, account, sender = parts
    return channel, account, sender


class RoleFile:
    """The table of a file, read again when the file has changed.

    A version that cannot be used is reported, as `problem` and in the log, and the last good
    table stays; before there was a good one, nobody has a role.
    """

    def __init__(self, path: Path, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._path = path
        self._monotonic = monotonic
        self._checked_at = float("-inf")
        self._stamp: tuple[int, int, int] | None = (-1, -1, -1)
        self._table = RoleTable()
        self.problem: ConfigError | None = None

    def role_of(self, channel: str, account: str, sender: str) -> Role | None:
        """The role written for an identity; looks at the file at most once a second."""
        now = self._monotonic()
        if now - self._checked_at >= _CHECK_SECONDS:
            self._checked_at = now
            self._refresh()
        return self._table.role_of(channel, account, sender)

    def _refresh(self) -> None:
        stamp = self._look()
        if stamp == self._stamp:
            return
        self._stamp = stamp
        try:
            self._table, self.problem = load_roles(self._path), None
        except ConfigError as error:
            self.problem = error
            details = "; ".join(str(one) for one in error.problems) or str(error)
            _log.warning("the roles in %s are not used: %s", self._path, details)

    def _look(self) -> tuple[int, int, int] | None:
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino
