"""Users, their roles and redeem codes, as an operator handles them."""

from __future__ import annotations

from datetime import datetime, timedelta

import msgspec

from jobclaw.model import ROLES, Role, User, to_json
from jobclaw.service.refusals import ConflictError, InvalidError, NotFoundError
from jobclaw.spi.store import People, RoleGrant

CODE_LIFE = timedelta(days=365)


def known_role(role: str) -> Role:
    """The role of that name.

    Raises:
        InvalidError: there is none.
    """
    if role not in ROLES:
        raise InvalidError("cli.bad-role", role=role, known=", ".join(ROLES))
    return ROLES[ROLES.index(role)]


def the_user(people: People, named: str) -> User:
    """The one user whom an id, `channel:account:sender` or sender id names.

    Raises:
        NotFoundError: nobody.
        ConflictError: several users.
    """
    found = people.find_users(named)
    match found:
        case ():
            raise NotFoundError("users.unknown", user=named)
        case (user,):
            return user
        case _:
            ids = ", ".join(user.id for user in found)
            raise ConflictError("users.ambiguous", user=named, ids=ids)


async def set_role(
    people: People, user: User, role: Role, days: int | None, at: datetime
) -> User:
    """Give a user a role, for a number of days or without an end."""
    until = None if days is None else at + timedelta(days=days)
    changed = msgspec.structs.replace(user, role=role, role_until=until)
    await people.save_user(changed)
    return changed


async def create_codes(
    people: People, codes: tuple[str, ...], grant: RoleGrant, at: datetime
) -> None:
    """Store redeem codes; each can be used once, within a year."""
    payload = to_json(grant).decode()
    for code in codes:
        await people.create_code("redeem", code, payload, at + CODE_LIFE)
