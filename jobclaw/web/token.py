"""The operator's token: from the settings, or a random one in `workspace/operator.token`.

The file is read at every check, so that a new token counts at once. A file that others may have
written is not believed; one that others may only have read is made private and reported.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import os
import secrets
import stat
from pathlib import Path

from jobclaw.errors import ConfigError
from jobclaw.settings.secrets import CHOSEN_LENGTH, is_default

TOKEN_NAME = "operator.token"  # noqa: S105 - a file's name
_MODE = 0o600
_MOST_BYTES = 4096
_log = logging.getLogger(__name__)


class OperatorToken:
    """Compares tokens; `configured` empty: the workspace's file is the one that counts."""

    def __init__(self, configured: str, workspace: Path) -> None:
        self._configured = configured
        self._path = workspace / TOKEN_NAME

    def prepare(self) -> str:
        """The token in use; a missing file is made.

        Raises:
            ConfigError: the file cannot be made or believed.
        """
        if self._configured:
            return self._configured
        try:
            if not self._path.exists() and not self._path.is_symlink():
                self._make()
            return self._read()
        except OSError as error:
            problem = error.strerror or str(error)
            raise ConfigError(
                "http.token-file", file=str(self._path), problem=problem
            ) from error

    def matches(self, candidate: str) -> bool:
        """Whether this is the token now, in constant time; nothing is while it is unusable."""
        current = self.generation()
        return bool(current) and hmac.compare_digest(current, _digest(candidate))

    def generation(self) -> bytes:
        """A name of the token that is in use, empty while none is."""
        try:
            return _digest(self.prepare())
        except ConfigError as error:
            _log.warning("the operator's token cannot be used: %s", error)
            return b""

    def _make(self) -> None:
        """Write a random token under another name, so that no half of it is ever read."""
        new = self._path.with_name(f".{TOKEN_NAME}.{secrets.token_hex(4)}")
        handle = os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW, _MODE)
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(f"{secrets.token_urlsafe(32)}\n")
            file.flush()
            os.fsync(handle)
        new.replace(self._path)
        _log.info("a new operator token is in %s", self._path)

    def _read(self) -> str:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
        handle = os.open(self._path, flags)
        try:
            self._check(os.fstat(handle), handle)
            token = os.read(handle, _MOST_BYTES).decode("utf-8", "replace").strip()
        finally:
            os.close(handle)
        if len(token.encode()) < CHOSEN_LENGTH or is_default(token):
            raise ConfigError("http.token-weak", file=str(self._path), least=str(CHOSEN_LENGTH))
        return token

    def _check(self, status: os.stat_result, handle: int) -> None:
        is_ours = stat.S_ISREG(status.st_mode) and status.st_uid in (os.geteuid(), 0)
        if not is_ours or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise ConfigError("http.token-not-ours", file=str(self._path))
        if stat.S_IMODE(status.st_mode) & 0o077:
            os.fchmod(handle, _MODE)
            _log.warning(
                "%s was readable by others (mode %o) and is private now; to be safe, delete it"
                " for a new token",
                self._path,
                stat.S_IMODE(status.st_mode),
            )


def _digest(token: str) -> bytes:
    """Of equal length for every token, so that comparing says nothing about it."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
