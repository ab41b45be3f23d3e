"""What every value shares: frozen, compared by value, JSON in both directions.

msgspec structs rather than dataclasses: a message makes about a dozen of them, and both
building and JSON are several times cheaper (bench/README.md).
"""

from __future__ import annotations

from typing import TypeVar

import msgspec

T = TypeVar("T")
_ENCODER = msgspec.json.Encoder()


class Value(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=False):
    """Base of the frozen values; fields are given by keyword."""


def to_json(value: object) -> bytes:
    """Encode a value, or a tuple of them, as JSON (UTF-8)."""
    return _ENCODER.encode(value)


def from_json(data: bytes | str, kind: type[T]) -> T:
    """Decode JSON as `kind`, strictly typed; unknown fields of a newer version are ignored.

    Raises:
        msgspec.DecodeError: the text is not JSON, or (as msgspec.ValidationError) of another
        shape.
    """
    return msgspec.json.decode(data, type=kind)
