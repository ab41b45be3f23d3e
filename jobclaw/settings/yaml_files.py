"""Reading YAML that people write: safe, bounded, and strict about what hides mistakes.

The C loader where PyYAML has it. Refused, with the line: duplicate keys, anchors and aliases,
tags other than the plain ones, more than one document, a file over the size limit, text that is
not UTF-8.
"""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import Any, cast

import yaml

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


def _refuse_aliases(root: yaml.Node | None) -> None:
    """A node met twice is an alias: the C parser resolves them before anybody can ask."""
    seen: set[int] = set()
    stack: list[yaml.Node] = [] if root is None else [root]
    while stack:
        node = stack.pop()
        if id(node) in seen:
            raise yaml.MarkedYAMLError(
                problem="anchors and aliases are not allowed", problem_mark=node.start_mark
            )
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            stack.extend(part for pair in node.value for part in pair)
        elif isinstance(node, yaml.SequenceNode):
            stack.extend(node.value)


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
    loader = _StrictLoader(text)
    try:
        root: Any = loader.get_single_node()
        _refuse_aliases(root)
        return cast("object", None if root is None else loader.construct_document(root))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark is not None else 0
        problem = str(getattr(error, "problem", None) or error)
        raise ConfigError("yaml.broken", file=where, line=line, problem=problem) from error
    except (ValueError, RecursionError) as error:  # a date such as 2026-13-01, or deep nesting
        raise ConfigError("yaml.broken", file=where, line=0, problem=str(error)) from error
    finally:
        loader.dispose()


def read_yaml(path: Path, *, limit_bytes: int = TABLE_LIMIT_BYTES) -> object:
    """Parse a YAML file; a missing or unreadable one is a ConfigError (`file.unreadable`)."""
    try:
        size = path.stat().st_size
        data = path.read_bytes() if size <= limit_bytes else b""
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError("file.unreadable", file=str(path), reason=reason) from error
    if size > limit_bytes:
        raise ConfigError("yaml.too-large", file=str(path), size=size, limit=limit_bytes)
    return parse_yaml(data, str(path), limit_bytes=limit_bytes)


def dump_yaml(value: object) -> str:
    """Write a value as YAML for people, keys in their order."""
    return yaml.safe_dump(value, allow_unicode=True, sort_keys=False)
