"""Who is logged in to the console: random ids, kept here, that die with the token.

An id is kept as its hash, so that what is in memory is no cookie.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections import OrderedDict
from dataclasses import dataclass

from jobclaw.spi.clock import Clock

LIFE_S = 12 * 3600.0
LOGINS_MOST = 100


@dataclass(frozen=True)
class Login:
    """One browser that showed the token; `csrf` goes into every form."""

    csrf: str
    generation: bytes
    ends_at: float


class Logins:
    """Keeps logins for twelve hours, the newest hundred."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._logins: OrderedDict[bytes, Login] = OrderedDict()
        self._key = secrets.token_bytes(32)

    def begin(self, generation: bytes) -> str:
        """Log in under the token of that generation; returns the id for the cookie."""
        login_id = secrets.token_urlsafe(32)
        ends_at = self._clock.monotonic() + LIFE_S
        self._logins[_hash(login_id)] = Login(secrets.token_urlsafe(32), generation, ends_at)
        if len(self._logins) > LOGINS_MOST:
            self._logins.popitem(last=False)
        return login_id

    def find(self, login_id: str, generation: bytes) -> Login | None:
        """The login of a cookie, if it lives and its token is still in use."""
        login = self._logins.get(_hash(login_id))
        if login is None:
            return None
        if login.ends_at <= self._clock.monotonic() or login.generation != generation:
            self.end(login_id)
            return None
        return login

    def end(self, login_id: str) -> None:
        """Log out."""
        self._logins.pop(_hash(login_id), None)

    def form_token(self, browser: str) -> str:
        """What the login form carries for a browser that is not logged in."""
        return hmac.new(self._key, browser.encode(), hashlib.sha256).hexdigest()


def is_same(given: str, expected: str) -> bool:
    """Compare secrets in constant time; an empty one is never the same."""
    return bool(expected) and hmac.compare_digest(given.encode(), expected.encode())


def _hash(login_id: str) -> bytes:
    return hashlib.sha256(login_id.encode("utf-8", "surrogatepass")).digest()
