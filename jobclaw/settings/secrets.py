"""What passes for a secret, and where secrets are in the settings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import cast

from pydantic import BaseModel, SecretStr

ISSUED_LENGTH = 8
CHOSEN_LENGTH = 16
_DEFAULTS = frozenset(
    {
        "changeme",
        "change-me",
        "change_me",
        "secret",
        "password",
        "passwd",
        "token",
        "default",
        "example",
        "test",
        "testing",
        "none",
        "null",
        "todo",
        "placeholder",
    }
)
_PLACEHOLDER = re.compile(
    r"<.*>|your[-_ ].*|.*(changeme|change-me|change_me).*|(.)\2*", re.DOTALL
)
_SECRET_NAME = re.compile(
    r"token|secret|key|passw(or)?d|credential|authorization", re.IGNORECASE
)


def is_default(secret: str) -> bool:
    """Whether it is what people leave standing: changeme, <token>, your-token, xxxxxxxx."""
    plain = secret.strip().lower()
    return plain in _DEFAULTS or _PLACEHOLDER.fullmatch(plain) is not None


def names_secret(name: str) -> bool:
    """Whether a key by its name holds something that must not be shown."""
    return _SECRET_NAME.search(name) is not None


def secret_values(value: object) -> Iterator[str]:
    """Find every secret in a piece of settings, for redaction; empty ones are left out."""
    if isinstance(value, SecretStr):
        if value.get_secret_value():
            yield value.get_secret_value()
        return
    parts: list[object] = []
    if isinstance(value, BaseModel):
        parts = [part for _, part in value]
    elif isinstance(value, Mapping):
        parts = list(cast("Mapping[str, object]", value).values())
    for part in parts:
        yield from secret_values(part)


def reveal(value: object) -> object:
    """The plain form of a piece of settings, secrets as text, as a channel is given it."""
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    if isinstance(value, BaseModel):
        return {name: reveal(part) for name, part in value}
    if isinstance(value, Mapping):
        items = cast("Mapping[str, object]", value).items()
        return {name: reveal(part) for name, part in items}
    return value
