"""Users and their sessions, as the store keeps them and the router reads them per message."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from msgspec import field

from jobclaw.model.base import Value

Role = Literal["free", "vip", "admin"]
ROLES: tuple[Role, ...] = ("free", "vip", "admin")
Locale = Literal["zh", "en"]
HISTORY_LIMIT = 10


def may_use(role: Role, needed: Role) -> bool:
    """Whether `role` may use what asks for `needed`; a higher role may do all below."""
    return ROLES.index(role) >= ROLES.index(needed)


class GateState(Value, frozen=True):
    """How often and until when a user put the profile questions off (`final`: for good)."""

    postponed: int = 0
    until: datetime | None = None
    final: bool = False


class User(Value, frozen=True):
    """A person, over all linked channel identities. `role_until`: when a paid term ends."""

    id: str
    name: str = ""
    role: Role = "free"
    role_until: datetime | None = None
    locale: Locale | None = None
    locale_fixed: bool = False
    profile: dict[str, str] = field(default_factory=dict[str, str])
    gate: GateState = GateState()
    created_at: datetime | None = None


class HistoryEntry(Value, frozen=True):
    """One past classification, as the binding file shows it."""

    at: datetime
    intent: str
    confidence: float
    tier: str
    agent: str


class Offer(Value, frozen=True):
    """A button shown last: pressing it, or sending its number, says `say` or picks `pick`."""

    id: str
    label: str
    say: str = ""
    pick: str = ""


class Parked(Value, frozen=True):
    """A message kept while something is asked first; it is answered afterwards."""

    message_id: str
    text: str
    why: Literal["gate", "clarify", "wrong"]


class Session(Value, frozen=True):
    """The binding of one sender in one conversation, with the newest classifications last."""

    key: str
    user_id: str
    bound_agent: str = ""
    bound_at: datetime | None = None
    expires_at: datetime | None = None
    default_until: datetime | None = None
    previous_agent: str = ""
    history: tuple[HistoryEntry, ...] = ()
    offers: tuple[Offer, ...] = ()
    parked: Parked | None = None
    clarified: bool = False
    takeover_until: datetime | None = None
    last_message: str = ""
    greeted: bool = False
