"""The port of the profile gate: which questions a newcomer answers before being served."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from jobclaw.model import User


class IdentityGate(Protocol):
    """Names what a profile lacks; the router parks, postpones and answers later."""

    agent_id: str
    fields: tuple[str, ...]
    """Every profile field that its agent can ask for; `router.required_fields` names some."""

    def missing(self, user: User, required: Sequence[str]) -> tuple[str, ...]:
        """The fields of `required` not given yet, in the order to ask; called per message."""
        ...
