"""Makes a turn of a message: who wrote, in which session, which command or button it is.

Roles and profiles are read for every message and never kept in the session.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

import msgspec

from jobclaw.model import (
    CORRECTION,
    ROLES,
    BindingView,
    CommandCall,
    InboundMessage,
    Locale,
    Offer,
    Role,
    Session,
    Turn,
    User,
    may_use,
    session_key,
)
from jobclaw.registry.agents import AgentRegistry
from jobclaw.registry.commands import CommandTable
from jobclaw.router.command_line import CommandToken, fold, read_command
from jobclaw.router.language import bare, locale_of
from jobclaw.router.policy import Policy
from jobclaw.spi.store import Store

_NUMBER = re.compile(r"[\s(]*(\d{1,2})[\s.。、,)!]*")
OFFER_MOST = 200
HUMAN_WORD, HUMAN_WORD_MOST = "转人工", 12


class RoleSource(Protocol):
    """The roles that the deployment's file gives to channel identities."""

    def role_of(self, channel: str, account: str, sender: str) -> Role | None:
        """The role written for an identity, None if there is none."""
        ...


@dataclass(frozen=True)
class Identities:
    """What is asked about a sender beyond the store."""

    roles: RoleSource
    trusted_roles: Callable[[str], bool]
    bot_names: Callable[[str, str], frozenset[str]]


class Reader:
    """Turns messages into turns."""

    def __init__(
        self,
        store: Store,
        agents: AgentRegistry,
        commands: CommandTable,
        identities: Identities,
        policy: Policy,
    ) -> None:
        self._store = store
        self._agents = agents
        self._commands = commands
        self._identities = identities
        self._policy = policy

    async def read(self, message: InboundMessage, at: datetime) -> tuple[Turn, User]:
        """The turn of a message and its user as stored, created on first sight."""
        sender = message.sender
        user = self._store.user_by_identity(message.channel, message.account, sender.id)
        if user is None:
            user = await self._store.create_user(
                message.channel, message.account, sender.id, sender.name
            )
        return self.turn(message, user, at), user

    def locale(self, message: InboundMessage) -> Locale:
        """The language to answer a message in that never became a turn."""
        sender = message.sender
        user = self._store.user_by_identity(message.channel, message.account, sender.id)
        known = None if user is None else user.locale
        return known or sender.locale or self._policy.locale

    def turn(self, message: InboundMessage, user: User, at: datetime) -> Turn:
        """The turn of a message whose user is known; changes nothing."""
        session = self._store.read(session_key(message), user.id)
        pressed = _pressed(message, session)
        text = message.text if pressed is None else pressed.say or pressed.label
        text = text[: self._policy.text_most]
        command = self.command_of(message) if pressed is None else _correction(pressed)
        spoken = message.sender.locale or self._policy.locale
        locale = locale_of(user, _written(text, command, pressed), spoken)
        if user.locale != locale:
            user = msgspec.structs.replace(user, locale=locale)
        seen = None
        if session.bound_agent:
            seen = BindingView(
                agent=session.bound_agent,
                bound_at=session.bound_at,
                expires_at=session.expires_at,
            )
        return Turn(
            message=message,
            text=text,
            at=at,
            user=user,
            role=self._role(message, user, at),
            locale=locale,
            session=session,
            command=command,
            pressed=pressed,
            seen=seen,
        )

    def _role(self, message: InboundMessage, user: User, at: datetime) -> Role:
        claimed = message.sender.claimed_role
        if claimed in ROLES and self._identities.trusted_roles(message.channel):
            return ROLES[ROLES.index(claimed)]
        expired = user.role_until is not None and at >= user.role_until
        stored: Role = "free" if expired else user.role
        written = self._identities.roles.role_of(
            message.channel, message.account, message.sender.id
        )
        return stored if written is None or may_use(stored, written) else written

    def command_of(self, message: InboundMessage) -> CommandCall | None:
        """The command that a message is, if it is one; None for plain text."""
        native = message.command
        if native is not None:
            token = CommandToken(prefix="/", name=native.name, bot="", args=native.args or None)
            return self._resolve(token, message)
        text = message.text
        if len(text) <= HUMAN_WORD_MOST and bare(text) == HUMAN_WORD:
            return CommandCall(name="human", kind="system", target="human")
        token = read_command(text)
        return None if token is None else self._resolve(token, message)

    def _resolve(self, token: CommandToken, message: InboundMessage) -> CommandCall | None:
        name, args = token.name, token.args
        if token.prefix == "@":
            known = not token.bot and self._agents.get(name) is not None
            return (
                CommandCall(name=name, kind="switch", target=name, args=args) if known else None
            )
        if not name:
            return CommandCall(name="", kind="blank")
        own = self._identities.bot_names(message.channel, message.account)
        if token.bot and own and token.bot not in own:
            return CommandCall(name=name, kind="foreign")
        spec = self._commands.get(name)
        if name == "agent" and args is not None:
            return _named(args)
        if spec is not None:
            target = spec.intent or spec.agent or spec.name
            return CommandCall(name=spec.name, kind=spec.kind, target=target, args=args)
        if self._agents.get(name) is not None:
            return CommandCall(name=name, kind="switch", target=name, args=args)
        near = self._commands.near(name)
        return CommandCall(name=name, kind="hint", target=near) if near else None


def _written(text: str, command: CommandCall | None, pressed: Offer | None) -> str:
    """What of a message is the user's own words: no label, code or option of a command."""
    if pressed is not None:
        return ""
    if command is None:
        return text
    return "" if command.kind == "system" else command.args or ""


def _named(args: str) -> CommandCall:
    """`/agent NAME [text]`."""
    name, *rest = args.split(maxsplit=1)
    target = fold(name).lstrip("/@")
    return CommandCall(
        name="agent", kind="switch", target=target, args=rest[0] if rest else None
    )


def _pressed(message: InboundMessage, session: Session) -> Offer | None:
    """The offered button that a message presses, by id, number or label."""
    offers = session.offers
    if message.action:
        stale = Offer(id=message.action, label=message.text)
        return next((offer for offer in offers if offer.id == message.action), stale)
    return _chosen(message.text.strip(), offers) if offers else None


def _chosen(text: str, offers: Sequence[Offer]) -> Offer | None:
    """The offer that a text names; /reset stays a command, even if a label says Reset."""
    if len(text) > OFFER_MOST:
        return None
    number = _NUMBER.fullmatch(unicodedata.normalize("NFKC", text))
    if number is not None:
        return _numbered(int(number[1]), offers)
    label = bare(text)
    if not label or read_command(text) is not None:
        return None
    return next((offer for offer in offers if bare(offer.label) == label), None)


def _numbered(number: int, offers: Sequence[Offer]) -> Offer | None:
    """The offer that a number names, 0 being the correction."""
    if number == 0:
        return next((offer for offer in offers if offer.id.startswith(CORRECTION)), None)
    choices = [offer for offer in offers if not offer.id.startswith(CORRECTION)]
    return choices[number - 1] if number <= len(choices) else None


def _correction(pressed: Offer) -> CommandCall | None:
    """The command that the router's own button stands for."""
    if not pressed.id.startswith(CORRECTION):
        return None
    message = pressed.id.removeprefix(CORRECTION)
    return CommandCall(name="wrong", kind="system", target="wrong", args=message or None)
