"""Commands about the sender: who they are, linked identities, codes, language."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta

import msgspec

from jobclaw.model import ROLES, Locale, Markdown, Turn, User, from_json
from jobclaw.router.outcomes import Action, Reply
from jobclaw.router.voice import Voice
from jobclaw.spi.store import RoleGrant, Store

LINK_CODE_LIFE = timedelta(hours=1)
_ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
_LOCALES: dict[str, Locale] = {"zh": "zh", "en": "en", "中文": "zh", "english": "en"}


def new_code() -> str:
    """An eight-character code without letters that are easily mistaken."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(8))


class AccountCommands:
    """`/whoami` `/link` `/unlink` `/redeem` `/lang`."""

    def __init__(self, store: Store, voice: Voice) -> None:
        self._store = store
        self._voice = voice

    def actions(self) -> Mapping[str, Action]:
        """The actions by name."""
        return {
            "whoami": self._whoami,
            "link": self._link,
            "unlink": self._unlink,
            "redeem": self._redeem,
            "lang": self._lang,
        }

    def _says(self, turn: Turn, text_id: str, /, **values: object) -> Reply:
        return Reply(turn, (Markdown(self._voice.say(turn, text_id, **values)),))

    async def _whoami(self, turn: Turn) -> Reply:
        identities = self._store.identities(turn.user.id)
        shown = "\n".join(f"- `{':'.join(identity)}`" for identity in identities)
        role = self._voice.role(turn.locale, turn.role)
        until = turn.user.role_until
        if until is not None and until > turn.at:
            role = self._voice.say(turn, "whoami.until", role=role, until=_day(until))
        return self._says(turn, "whoami.line", id=turn.user.id, role=role, identities=shown)

    async def _link(self, turn: Turn) -> Reply:
        args = turn.command.args if turn.command is not None else None
        if turn.is_group:
            return self._says(turn, "link.direct-only")
        if args is None:
            code = new_code()
            await self._store.create_code("link", code, turn.user.id, turn.at + LINK_CODE_LIFE)
            return self._says(turn, "link.code", code=code)
        owner = await self._store.use_code("link", args.strip().upper(), turn.at)
        if owner is None or self._store.user(owner) is None:
            return self._says(turn, "code.invalid")
        if owner == turn.user.id:
            return self._says(turn, "link.same")
        message = turn.message
        await self._store.link(message.channel, message.account, message.sender.id, owner)
        return self._says(turn, "link.done")

    async def _unlink(self, turn: Turn) -> Reply:
        message = turn.message
        fresh = await self._store.unlink(message.channel, message.account, message.sender.id)
        return self._says(turn, "unlink.done" if fresh is not None else "unlink.only-one")

    async def _redeem(self, turn: Turn) -> Reply:
        args = turn.command.args if turn.command is not None else None
        if args is None:
            return self._says(turn, "redeem.how")
        payload = await self._store.use_code("redeem", args.strip().upper(), turn.at)
        if payload is None:
            return self._says(turn, "code.invalid")
        grant = from_json(payload, RoleGrant)
        user = _granted(self._store.user(turn.user.id) or turn.user, grant, turn.at)
        await self._store.save_user(user)
        until = user.role_until
        role = self._voice.role(turn.locale, user.role)
        if until is None:
            return self._says(turn, "redeem.done-for-good", role=role)
        return self._says(turn, "redeem.done", role=role, until=_day(until))

    async def _lang(self, turn: Turn) -> Reply:
        args = turn.command.args if turn.command is not None else None
        locale = _LOCALES.get((args or "").strip().casefold())
        if locale is None:
            return self._says(turn, "lang.how")
        user = msgspec.structs.replace(turn.user, locale=locale, locale_fixed=True)
        return self._says(msgspec.structs.replace(turn, user=user, locale=locale), "lang.done")


def _granted(user: User, grant: RoleGrant, at: datetime) -> User:
    """The user with a code's role; a code for a role that is held already extends its term."""
    running = user.role_until is None or user.role_until > at
    held = ROLES.index(user.role) if running else 0
    if held > ROLES.index(grant.role) or (user.role == grant.role and user.role_until is None):
        return user
    same = held == ROLES.index(grant.role) and user.role_until is not None and running
    start = user.role_until if same and user.role_until is not None else at
    until = start + timedelta(days=grant.days)
    return msgspec.structs.replace(user, role=grant.role, role_until=until)


def _day(at: datetime) -> str:
    return at.strftime("%Y-%m-%d")
