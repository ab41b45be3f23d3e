"""Who is the operator: the bearer of the token, counted per address."""

from __future__ import annotations

from jobclaw.spi.clock import Clock
from jobclaw.web.head import RequestHead
from jobclaw.web.limiter import GuessLimiter
from jobclaw.web.refusal import Refusal, wait
from jobclaw.web.token import OperatorToken

_CHALLENGE = (("WWW-Authenticate", 'Bearer realm="jobclaw"'),)
_IN_ADDRESS = frozenset({"token", "access_token", "operator_token", "bearer"})


class Authenticator:
    """Tries tokens for an address, and refuses addresses that guess."""

    def __init__(self, token: OperatorToken, clock: Clock) -> None:
        self._token = token
        self._guesses = GuessLimiter(clock)

    def attempt(self, candidate: str, peer: str) -> Refusal | None:
        """None if the token is right."""
        blocked = self._guesses.blocked_s(peer)
        if blocked:
            return wait("http.too-many-guesses", blocked)
        if self._token.matches(candidate):
            return None
        self._guesses.failed(peer)
        return Refusal(401, "http.wrong-token", headers=_CHALLENGE)

    def generation(self) -> bytes:
        """Which token is in use; sessions of another one are over."""
        return self._token.generation()

    def check_bearer(self, head: RequestHead) -> Refusal | None:
        """Whether the request bears the token."""
        scheme, _, candidate = head.header("authorization").partition(" ")
        if scheme.lower() != "bearer" or not candidate.strip():
            return Refusal(401, "http.no-token", headers=_CHALLENGE)
        return self.attempt(candidate.strip(), head.peer)


class ApiCheck:
    """Asks for the token before anything of the API is looked at, its bodies included."""

    def __init__(self, authenticator: Authenticator, prefix: str) -> None:
        self._authenticator = authenticator
        self._prefix = prefix

    def __call__(self, head: RequestHead) -> Refusal | None:
        """See `refusal.Check`."""
        if not head.path.startswith(self._prefix):
            return None
        return self._authenticator.check_bearer(head)


def check_address(head: RequestHead) -> Refusal | None:
    """Refuse tokens in an address: those are kept in histories and logs."""
    if head.query and head.asks() & _IN_ADDRESS:
        return Refusal(400, "http.token-in-address")
    return None
