"""One message on its way through the router's steps."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from jobclaw.model.base import Value
from jobclaw.model.decision import BindingView, Classification, RemovedAgent, Step, Tier
from jobclaw.model.message import InboundMessage
from jobclaw.model.session import Locale, Offer, Role, Session, User

CommandKind = Literal["system", "intent", "agent", "switch", "hint", "blank", "foreign"]


class CommandCall(Value, frozen=True):
    """A command as written: `target` is the intent, agent or suggested name.

    `hint`: not registered but close to `target`; `blank`: a slash and a space; `foreign`: meant
    for another bot. `args` is None when nothing followed.
    """

    name: str
    kind: CommandKind
    target: str = ""
    args: str | None = None


class Turn(Value, frozen=True):
    """A message with all that is known of it; each step returns a changed copy.

    `text` is what is to be answered: the message's own, or that of the earlier one which
    `replayed` names. `seen` is the binding on arrival; `notices` are shown above the answer.
    """

    message: InboundMessage
    text: str
    at: datetime
    user: User
    role: Role
    locale: Locale
    session: Session
    command: CommandCall | None = None
    pressed: Offer | None = None
    args: str | None = None
    step: Step = "identity"
    tier: Tier = "none"
    intent: str = ""
    confidence: float = 0.0
    bind: bool = True
    detail: str = ""
    replayed: str = ""
    escaped_from: str = ""
    label: str = ""
    missing: tuple[str, ...] = ()
    classification: Classification | None = None
    removed: tuple[RemovedAgent, ...] = ()
    notices: tuple[str, ...] = ()
    seen: BindingView | None = None

    @property
    def is_group(self) -> bool:
        """Whether others read the answer."""
        return self.message.conversation.kind != "direct"
