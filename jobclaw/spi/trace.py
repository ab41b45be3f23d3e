"""Which message is being handled here: what log lines are stamped with, on their whole path."""

from __future__ import annotations

from contextvars import ContextVar

CURRENT_MESSAGE: ContextVar[str] = ContextVar("CURRENT_MESSAGE", default="")
"""The id of the message that this task or thread works for, empty outside of any."""
