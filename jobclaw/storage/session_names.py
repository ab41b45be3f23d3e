"""Names of session files: any two ids give two names, on any disk.

Percent-encoding of the UTF-8 bytes, all but `[a-z0-9.-]`; also of what some file system would
not take or would fold: a first dot or dash, a last dot, a dot after a dot, and the first letter
of a name that Windows reserves. What would grow too long is cut and given its SHA-256 behind
`%h`, which no encoding contains. Nothing is ever decoded.
"""

from __future__ import annotations

import hashlib

_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789.-")
_RESERVED = frozenset(
    ["con", "prn", "aux", "nul", "clock"]
    + [f"{device}{number}" for device in ("com", "lpt") for number in range(10)]
)
_LONGEST = 190  # with `session-`, `.yaml` and `.broken-…` under 255 bytes
_KEPT = 120
_ENCODED = [chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in range(256)]


def encode_name(text: str) -> str:
    """A name of at most 190 characters of `[a-z0-9.%A-Fh-]`, another for every text."""
    data = text.encode("utf-8", "surrogatepass")
    name = "".join(map(_ENCODED.__getitem__, data)).replace("..", ".%2E")
    if name.endswith("."):
        name = f"{name[:-1]}%2E"
    if name[:1] in {".", "-", ""} or name.partition(".")[0] in _RESERVED:
        name = f"%{data[0]:02X}{name[1:]}" if data else "%"
    if len(name) <= _LONGEST:
        return name
    return f"{name[:_KEPT]}%h{hashlib.sha256(data).hexdigest()}"


def file_name(key: str) -> str:
    """The file name of a session."""
    return f"session-{encode_name(key)}.yaml"
