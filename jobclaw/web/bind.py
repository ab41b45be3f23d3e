"""Whether the server may listen where the settings say."""

from __future__ import annotations

from jobclaw.errors import ConfigError
from jobclaw.settings.services import WebSettings
from jobclaw.web.addresses import is_loopback

OPEN_TOKEN_BYTES = 32


def check_bind(settings: WebSettings, token: str, *, allow_remote: bool) -> None:
    """Refuse to be reached from other machines without a strong token and an express wish.

    Raises:
        ConfigError: with the next command.
    """
    if is_loopback(settings.host):
        return
    if not allow_remote:
        raise ConfigError("http.bind-remote", host=settings.host)
    if len(token.encode()) < OPEN_TOKEN_BYTES:
        raise ConfigError("http.bind-weak", host=settings.host, least=str(OPEN_TOKEN_BYTES))
