"""The keyword table as people write it: keywords.yaml, and what keywords.local.yaml changes.

    intents: {RECOMMEND: {推荐岗位: 1.0}}
    commands: {/recommend: RECOMMEND}

An overlay has the same form and is merged keyword by keyword; null or 0 takes one out. Anything
that is not of this form is refused with file, place and value: a table that half works sends
people to the wrong agent in silence.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import cast
from unicodedata import category, normalize

from jobclaw.errors import ConfigError
from jobclaw.model import UNKNOWN, Value, to_json
from jobclaw.settings.yaml_files import read_yaml

_INTENT = re.compile(r"[A-Z][A-Z0-9_]*")
_COMMAND = re.compile(r"/[a-z0-9][a-z0-9_-]*")
_SECTIONS = ("intents", "commands")
_VALUE_LIMIT = 60

Weights = dict[str, dict[str, float]]


class KeywordFile(Value, frozen=True):
    """The merged table: intent → keyword → weight, and command (with its slash) → intent.

    `revision` changes with the content.
    """

    intents: dict[str, dict[str, float]]
    commands: dict[str, str]
    revision: str


def load_keywords(path: Path, overlay: Path | None = None) -> KeywordFile:
    """Read a table and its overlay, if there is such a file.

    Raises:
        ConfigError: a file cannot be read, is no YAML, or something in it is wrong
            (`keywords.*`, with file, key and value).
    """
    sections = _read_sections(path)
    intents = _present(read_weights(sections["intents"], str(path)))
    commands = _read_commands(sections["commands"], str(path))
    if overlay is not None and overlay.exists():
        changes = _read_sections(overlay)
        intents = _merged(
            intents, read_weights(changes["intents"], str(overlay), may_remove=True)
        )
        commands |= _read_commands(changes["commands"], str(overlay), may_remove=True)
    commands = {name: intent for name, intent in commands.items() if intent}
    content = to_json((_sorted(intents), sorted(commands.items())))
    return KeywordFile(
        intents=intents, commands=commands, revision=hashlib.sha256(content).hexdigest()[:12]
    )


def read_weights(section: object, where: str, *, may_remove: bool = False) -> Weights:
    """Check intent → keyword → weight, also as an agent declares it; `where` names the source.

    With `may_remove`, null stands for 0.

    Raises:
        ConfigError: see `load_keywords`.
    """
    weights: Weights = {}
    for intent, keywords in _mapping(section, where, "intents").items():
        if not isinstance(intent, str) or not _INTENT.fullmatch(intent) or intent == UNKNOWN:
            raise ConfigError(
                "keywords.bad-intent", file=where, key=f"intents.{_shown(intent)}"
            )
        key = f"intents.{intent}"
        weights[intent] = {
            _keyword(word, where, key): _weight(
                weight, where, f"{key}.{word}", may_remove=may_remove
            )
            for word, weight in _mapping(keywords, where, key).items()
        }
    return weights


def _read_sections(path: Path) -> dict[str, object]:
    content = _mapping(read_yaml(path), str(path), "")
    for key in content:
        if key not in _SECTIONS:
            raise ConfigError("keywords.unknown-section", file=str(path), key=_shown(key))
    return {name: content.get(name) for name in _SECTIONS}


def _read_commands(section: object, where: str, *, may_remove: bool = False) -> dict[str, str]:
    commands: dict[str, str] = {}
    for name, intent in _mapping(section, where, "commands").items():
        key = f"commands.{_shown(name)}"
        if not isinstance(name, str) or not _COMMAND.fullmatch(name):
            raise ConfigError("keywords.bad-command", file=where, key=key)
        target = "" if may_remove and intent is None else intent
        if not isinstance(target, str) or (target and not _INTENT.fullmatch(target)):
            raise ConfigError("keywords.bad-target", file=where, key=key, value=_shown(intent))
        commands[name] = target
    return commands


def _mapping(value: object, where: str, key: str) -> Mapping[object, object]:
    """A map, or nothing; a text must not pass for a list of keywords, nor a list for a map."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ConfigError("keywords.not-a-map", file=where, key=key or "-", value=_shown(value))
    return cast("Mapping[object, object]", value)


def _keyword(word: object, where: str, key: str) -> str:
    if not isinstance(word, str):  # YAML reads no, on and 985 as something else
        raise ConfigError("keywords.not-text", file=where, key=key, value=_shown(word))
    if not any(category(char)[0] in "LNPS" for char in word):
        raise ConfigError("keywords.empty", file=where, key=key, value=_shown(word))
    return word.strip()


def _weight(value: object, where: str, key: str, *, may_remove: bool) -> float:
    if value is None and may_remove:
        return 0.0
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ConfigError("keywords.bad-weight", file=where, key=key, value=_shown(value))
    return float(value)


def _merged(table: Weights, changes: Weights) -> Weights:
    """The table with the changes; spellings that differ in case or width are one keyword."""
    merged = {intent: dict(keywords) for intent, keywords in table.items()}
    for intent, keywords in changes.items():
        changed = {_spelling(word) for word in keywords}
        kept = {
            word: weight
            for word, weight in merged.get(intent, {}).items()
            if _spelling(word) not in changed
        }
        merged[intent] = kept | keywords
    return _present(merged)


def _present(table: Weights) -> Weights:
    return {
        intent: {word: weight for word, weight in keywords.items() if weight > 0}
        for intent, keywords in table.items()
    }


def _spelling(word: str) -> str:
    return normalize("NFKC", word).casefold()


def _sorted(table: Weights) -> list[tuple[str, list[tuple[str, float]]]]:
    return [(intent, sorted(table[intent].items())) for intent in sorted(table)]


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _VALUE_LIMIT else text[:_VALUE_LIMIT] + "…"
