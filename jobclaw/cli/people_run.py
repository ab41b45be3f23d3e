"""The work behind `jobclaw users`."""

from __future__ import annotations

from pathlib import Path

from jobclaw.app.core import SystemClock
from jobclaw.cli.session import reading, with_store, writing
from jobclaw.cli.terminal import Terminal
from jobclaw.errors import UsageError
from jobclaw.model import ROLES, Role, User
from jobclaw.router.system_commands.account import new_code
from jobclaw.service.people import create_codes, set_role, the_user
from jobclaw.settings import Settings
from jobclaw.spi.store import RoleGrant, Store


def _known(role: str) -> Role:
    if role not in ROLES:
        raise UsageError("cli.bad-role", role=role, known=", ".join(ROLES))
    return ROLES[ROLES.index(role)]


def list_users(terminal: Terminal, config: Path | None, limit: int, *, as_json: bool) -> int:
    """List users, newest first."""

    async def work(settings: Settings, store: Store) -> int:  # noqa: ARG001 - the signature
        found = store.list_users(limit)
        if as_json:
            terminal.show_json(found)
        elif not found:
            terminal.show(terminal.say("users.none"))
        else:
            terminal.table([_row(store, user) for user in found])
        return 0

    return with_store(config, reading, work)


def show_user(terminal: Terminal, config: Path | None, named: str, *, as_json: bool) -> int:
    """Show one user with linked identities and profile."""

    async def work(settings: Settings, store: Store) -> int:  # noqa: ARG001 - the signature
        user = the_user(store, named)
        if as_json:
            identities = [":".join(identity) for identity in store.identities(user.id)]
            terminal.show_json({"user": user, "identities": identities})
            return 0
        terminal.table([_row(store, user)])
        for name, value in user.profile.items():
            terminal.show(f"  {name}: {value}")
        return 0

    return with_store(config, reading, work)


def give_role(
    terminal: Terminal, config: Path | None, given: tuple[str, str], days: int | None
) -> int:
    """Give a user a role; it counts from the user's next message."""
    named, role = given

    async def work(settings: Settings, store: Store) -> int:  # noqa: ARG001 - the signature
        user = the_user(store, named)
        changed = await set_role(store, user, _known(role), days, SystemClock().now())
        until = changed.role_until
        text_id = "users.role-set" if until is None else "users.role-set-until"
        shown = "" if until is None else f"{until:%Y-%m-%d %H:%M} UTC"
        terminal.show(terminal.say(text_id, user=user.id, role=role, until=shown))
        return 0

    return with_store(config, writing, work)


def make_codes(
    terminal: Terminal, config: Path | None, given: tuple[str, int, int], *, as_json: bool
) -> int:
    """Create redeem codes and print them, one a line; they are shown only now."""
    role, days, count = given

    async def work(settings: Settings, store: Store) -> int:  # noqa: ARG001 - the signature
        codes = tuple(new_code() for _ in range(count))
        grant = RoleGrant(role=_known(role), days=days)
        await create_codes(store, codes, grant, SystemClock().now())
        if as_json:
            terminal.show_json(codes)
        else:
            for code in codes:
                terminal.show(code)
        return 0

    return with_store(config, writing, work)


def _row(store: Store, user: User) -> tuple[str, ...]:
    until = user.role_until
    role = user.role if until is None else f"{user.role} → {until:%Y-%m-%d}"
    identities = ", ".join(":".join(identity) for identity in store.identities(user.id))
    return (user.id, role, user.name or "-", identities)
