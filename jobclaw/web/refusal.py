"""Why a request is not answered: a value that checks return and pages show."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from msgspec import field

from jobclaw.web.head import RequestHead


class Refusal(msgspec.Struct, frozen=True):
    """A status with a sentence; `advice` is what to type or to write into a file."""

    status: int
    text_id: str
    values: dict[str, str] = field(default_factory=dict[str, str])
    headers: tuple[tuple[str, str], ...] = ()
    advice: str = ""


Check = Callable[[RequestHead], Refusal | None]


def wait(text_id: str, seconds: int) -> Refusal:
    """Too many requests: come back later."""
    return Refusal(
        429, text_id, {"seconds": str(seconds)}, headers=(("Retry-After", str(seconds)),)
    )
