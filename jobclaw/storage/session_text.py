"""A session binding as the YAML that people read and edit (spec/router.md §4).

Writing is done here rather than by PyYAML: every string comes out quoted, so that no id turns
into a number, and it takes microseconds of the interpreter lock instead of milliseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from jobclaw.errors import ConfigError
from jobclaw.model import HISTORY_LIMIT, HistoryEntry, Session
from jobclaw.settings.yaml_files import parse_yaml

LIMIT_BYTES = 64 * 1024
_Time = Annotated[datetime, Meta(tz=True)]
_ESCAPES = {'"': '\\"', "\\": "\\\\"}
_LATIN = 0xFF
_BASIC = 0xFFFF


class _Entry(msgspec.Struct, forbid_unknown_fields=True):
    at: _Time
    intent: str
    confidence: Annotated[float, Meta(ge=0, le=1)]
    tier: str
    agent: str


class Shown(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """What a file shows; UNSET for what it leaves out, except that no agent means unbound."""

    session_id: str
    bound_agent_id: str | None = None
    bound_at: _Time | UnsetType | None = UNSET
    expires_at: _Time | UnsetType | None = UNSET
    default_until: _Time | UnsetType | None = UNSET
    intent_history: tuple[_Entry, ...] | UnsetType | None = UNSET


def _quoted(text: str) -> str:
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    code = ord(character)
    if code <= _LATIN:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= _BASIC else f"\\U{code:08x}"


def _time(at: datetime | None) -> str:
    if at is None:
        return "null"
    return at.astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat() + "Z"


def _number(value: float) -> str:
    text = f"{value:.4f}".rstrip("0")
    return f"{text}0" if text.endswith(".") else text


def render(session: Session) -> bytes:
    """The file of a session."""
    lines = [
        f"sessionId: {_quoted(session.key)}",
        f"boundAgentId: {_quoted(session.bound_agent) if session.bound_agent else 'null'}",
        f"boundAt: {_time(session.bound_at)}",
        f"expiresAt: {_time(session.expires_at)}",
    ]
    if session.default_until is not None:
        lines.append(f"defaultUntil: {_time(session.default_until)}")
    lines.append("intentHistory:" if session.history else "intentHistory: []")
    lines += [
        f"- {{at: {_time(entry.at)}, intent: {_quoted(entry.intent)},"
        f" confidence: {_number(entry.confidence)}, tier: {_quoted(entry.tier)},"
        f" agent: {_quoted(entry.agent)}}}"
        for entry in session.history[-HISTORY_LIMIT:]
    ]
    return ("\n".join(lines) + "\n").encode()


def parse(data: bytes, key: str, where: str) -> Shown:
    """Read the file of the session `key`.

    Raises:
        ConfigError: `yaml.*`, `storage.session-shape` or `storage.session-other`.
    """
    document = parse_yaml(data, where, limit_bytes=LIMIT_BYTES)
    try:
        shown = msgspec.convert(document, Shown)
    except msgspec.ValidationError as error:
        raise ConfigError("storage.session-shape", file=where, problem=str(error)) from error
    if shown.session_id != key:
        raise ConfigError("storage.session-other", file=where, session=shown.session_id)
    return shown


def merged(session: Session, shown: Shown, bases: Sequence[Shown]) -> Session:
    """The session with a person's changes.

    A field is the person's when it differs from every one of `bases`, the texts that were
    written for the person to edit; the others stay, as the row may be newer than the file.
    """
    changes: dict[str, object] = {}
    if all(shown.bound_agent_id != base.bound_agent_id for base in bases):
        changes["bound_agent"] = shown.bound_agent_id or ""
    for name in ("bound_at", "expires_at", "default_until"):
        value = getattr(shown, name)
        if value is not UNSET and all(value != getattr(base, name) for base in bases):
            changes[name] = value if value is None else value.astimezone(UTC)
    history = shown.intent_history
    if history is not UNSET and all(history != base.intent_history for base in bases):
        changes["history"] = tuple(map(_entry, history or ()))[-HISTORY_LIMIT:]
    if changes.get("bound_agent") == "":
        changes |= {"bound_at": None, "expires_at": None}
    return msgspec.structs.replace(session, **changes)


def _entry(entry: _Entry) -> HistoryEntry:
    return HistoryEntry(
        at=entry.at.astimezone(UTC),
        intent=entry.intent,
        confidence=entry.confidence,
        tier=entry.tier,
        agent=entry.agent,
    )
