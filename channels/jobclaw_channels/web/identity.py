"""Who a browser is: a random token in a cookie, known to the rest only by its digest.

The token is never stored and never logged. A sender's id is `w` and the first 26 characters of
the digest in base32, which is also the id of the one conversation that sender has.
"""

from __future__ import annotations

import base64
import hashlib
import re
import secrets

from jobclaw.model import Conversation, ReplyTarget

TOKEN_BYTES = 32
ID_LENGTH = 26
KEPT_S = 400 * 24 * 3600  # the longest that browsers keep a cookie
CHANNEL = "web"
_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")
_USER = re.compile(r"w[a-z2-7]{26}")


def new_token() -> str:
    """256 random bits."""
    return secrets.token_urlsafe(TOKEN_BYTES)


def is_token(text: str) -> bool:
    """Whether a cookie's value has exactly the form that `new_token` gives."""
    return _TOKEN.fullmatch(text) is not None


def is_user(text: str) -> bool:
    """Whether a text has the form of a sender's id."""
    return _USER.fullmatch(text) is not None


def user_of(token: str) -> str:
    """The sender's id behind a token."""
    digest = hashlib.sha256(token.encode()).digest()
    return "w" + base64.b32encode(digest).decode().lower()[:ID_LENGTH]


def chat_of(account: str, user: str) -> ReplyTarget:
    """Where a user's replies go."""
    return ReplyTarget(channel=CHANNEL, account=account, conversation=user)


def conversation_of(user: str) -> Conversation:
    """The one conversation of a user."""
    return Conversation(id=user)
