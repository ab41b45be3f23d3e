"""Removes secrets from text: those that the deployment holds, and what looks like one.

A secret is found as it is, base64 or URL-encoded, and as it stands inside a JSON string.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator
from urllib.parse import quote, quote_plus

MASK = "[redacted]"
LEAST = 6
_PATTERNS = (
    r"xox[abeprs]-[A-Za-z0-9-]{10,}",  # Slack
    r"xapp-[A-Za-z0-9-]{10,}",
    r"\d{6,12}:[A-Za-z0-9_-]{30,}",  # Telegram
    r"\bsk-[A-Za-z0-9_-]{16,}",  # OpenAI and its like
    r"(?i:(?<=bearer )|(?<=basic ))[A-Za-z0-9._~+/=-]{8,}",
    r"(?<=://)[^/?#\s\"@:]+:[^/?#\s\"@]+(?=@)",
)


class Redactor:
    """Replaces secrets; ones that become known later are added."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._known: set[str] = set()
        self._pattern = re.compile("|".join(_PATTERNS))
        self.add(*secrets)

    def add(self, *secrets: str) -> None:
        """Hide these from now on; shorter ones than `LEAST` characters are no secrets."""
        for secret in secrets:
            if len(secret) >= LEAST:
                self._known.update(_forms(secret))
        longest_first = sorted(self._known, key=len, reverse=True)
        parts = [re.escape(form) for form in longest_first]
        self._pattern = re.compile("|".join([*parts, *_PATTERNS]))

    def clean(self, text: str) -> str:
        """The text without secrets."""
        return self._pattern.sub(MASK, text)


def _forms(secret: str) -> Iterator[str]:
    yield secret
    yield quote(secret, safe="")
    yield quote_plus(secret)
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]
    yield repr(secret)[1:-1]
    yield from _encoded(secret.encode())


def _encoded(data: bytes) -> Iterator[str]:
    """What stays the same of the base64 form, wherever in a longer text the secret stood."""
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        for lead in range(3):
            text = encode(b"\0" * lead + data).decode().rstrip("=")
            whole = text[(0, 2, 3)[lead] : len(text) - (1 if (len(data) + lead) % 3 else 0)]
            if len(whole) >= LEAST:
                yield whole
