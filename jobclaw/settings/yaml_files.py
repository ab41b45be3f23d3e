"""Reading YAML that people write: safe, bounded, and strict about what hides mistakes.

The C loader where PyYAML has it. Refused, with the line: duplicate keys, anchors and aliases,
tags other than the plain ones, more than one document, a file over the size limit, text that is
not UTF-8.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Any, cast

import yaml
from yaml.reader import Reader, ReaderError

from jobclaw.errors import ConfigError

TABLE_LIMIT_BYTES = 32 * 1024 * 1024
_BASE: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _StrictLoader(_BASE):
    """A safe loader that refuses duplicate keys."""

    def construct_mapping(  # the signature is PyYAML's
        self,
        node: yaml.MappingNode,
        deep: bool = False,  # noqa: FBT001, FBT002
    ) -> dict[Hashable, Any]:
        seen: set[object] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, Hashable) or key in seen:
                raise yaml.MarkedYAMLError(
                    problem=f"the key {key!r} stands twice", problem_mark=key_node.start_mark
                )
            seen.add(key)
        parent: Any = super()
        return cast("dict[Hashable, Any]", parent.construct_mapping(node, deep=deep))


def _nodes(root: yaml.Node | None) -> Iterator[yaml.Node]:
    """Every node below and with `root`."""
    stack: list[yaml.Node] = [] if root is None else [root]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, yaml.MappingNode):
            stack.extend(part for pair in node.value for part in pair)
        elif isinstance(node, yaml.SequenceNode):
            stack.extend(node.value)


def _refuse_aliases(root: yaml.Node | None) -> None:
    """A node met twice is an alias: the C parser resolves them before anybody can ask."""
    seen: set[int] = set()
    for node in _nodes(root):
        if id(node) in seen:
            raise yaml.MarkedYAMLError(
                problem="anchors and aliases are not allowed", problem_mark=node.start_mark
            )
        seen.add(id(node))


def parse_yaml(data: bytes, where: str, *, limit_bytes: int = TABLE_LIMIT_BYTES) -> object:
    """Parse one YAML document; `where` names the file in errors.

    Raises:
        ConfigError: `yaml.too-large`, `yaml.not-text` or `yaml.broken` with file, line and
        problem.
    """
    if len(data) > limit_bytes:
        raise ConfigError("yaml.too-large", file=where, size=len(data), limit=limit_bytes)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError("yaml.not-text", file=where, position=error.start) from error
    return _document(text, where)


def _document(text: str, where: str) -> object:
    loader: Any = None
    root: Any = None
    try:
        loader = _StrictLoader(text)
        root = loader.get_single_node()
        _refuse_aliases(root)
        return cast("object", None if root is None else loader.construct_document(root))
    except ReaderError as error:
        found = Reader.NON_PRINTABLE.search(text)
        at = found.start() if found else 0  # the two loaders count differently
        raise _broken(where, text.count("\n", 0, at), str(error).splitlines()[0]) from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = str(getattr(error, "problem", None) or error)
        raise _broken(where, None if mark is None else mark.line, problem) from error
    except ValueError as error:  # a date such as 2026-13-01
        raise _broken(where, _bad_scalar(loader, root), str(error)) from error
    except RecursionError as error:  # deep nesting
        raise _broken(where, None, str(error)) from error
    finally:
        if loader is not None:
            loader.dispose()


def _broken(where: str, line: int | None, problem: str) -> ConfigError:
    """The error for a line, counted from 0, or for the whole file."""
    if line is None:
        return ConfigError("yaml.unusable", file=where, problem=problem)
    return ConfigError("yaml.broken", file=where, line=line + 1, problem=problem)


def _bad_scalar(loader: Any, root: yaml.Node | None) -> int | None:  # noqa: ANN401 - PyYAML is untyped
    """The line of the first value that cannot be made of its text."""
    loader.recursive_objects.clear()  # left over from the attempt that failed
    for node in _nodes(root):
        try:
            if isinstance(node, yaml.ScalarNode):
                loader.construct_object(node)
        except ValueError:
            return node.start_mark.line
    return None


def read_yaml(path: Path, *, limit_bytes: int = TABLE_LIMIT_BYTES) -> object:
    """Parse a YAML file; a missing or unreadable one is a ConfigError (`file.unreadable`)."""
    return parse_yaml(read_file(path, limit_bytes), str(path), limit_bytes=limit_bytes)


def read_file(path: Path, limit_bytes: int) -> bytes:
    """Read a plain file; a pipe or a device, which may never end, is refused.

    Raises:
        ConfigError: `file.unreadable`, `file.not-plain` or `file.too-large`.
    """
    try:
        found = path.stat()
        plain = stat.S_ISREG(found.st_mode)
        data = path.read_bytes() if plain and found.st_size <= limit_bytes else b""
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError("file.unreadable", file=str(path), reason=reason) from error
    if stat.S_ISDIR(found.st_mode):
        reason = os.strerror(errno.EISDIR)
        raise ConfigError("file.unreadable", file=str(path), reason=reason)
    if not plain:
        raise ConfigError("file.not-plain", file=str(path))
    if found.st_size > limit_bytes:
        raise ConfigError(
            "yaml.too-large", file=str(path), size=found.st_size, limit=limit_bytes
        )
    return data


def dump_yaml(value: object) -> str:
    """Write a value as YAML for people, keys in their order."""
    return yaml.safe_dump(value, allow_unicode=True, sort_keys=False)
