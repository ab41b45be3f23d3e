"""The work behind `jobclaw users`."""

from __future__ import annotations

from pathlib import Path

from jobclaw.cli.session import changing, looking
from jobclaw.cli.terminal import Terminal
from jobclaw.service.operations import Operations, Person


def list_users(terminal: Terminal, config: Path | None, limit: int, *, as_json: bool) -> int:
    """List users, newest first."""

    async def work(operations: Operations) -> int:
        found = await operations.users(limit)
        if as_json:
            terminal.show_json([person.user for person in found])
        elif not found:
            terminal.show(terminal.say("users.none"))
        else:
            terminal.table([_row(person) for person in found])
        return 0

    return looking(config, work)


def show_user(terminal: Terminal, config: Path | None, named: str, *, as_json: bool) -> int:
    """Show one user with linked identities and profile."""

    async def work(operations: Operations) -> int:
        person = await operations.user(named)
        if as_json:
            terminal.show_json(person)
            return 0
        terminal.table([_row(person)])
        for name, value in person.user.profile.items():
            terminal.show(f"  {name}: {value}")
        return 0

    return looking(config, work)


def give_role(
    terminal: Terminal, config: Path | None, given: tuple[str, str], days: int | None
) -> int:
    """Give a user a role; it counts from the user's next message."""
    named, role = given

    async def work(operations: Operations) -> int:
        changed = await operations.set_role(named, role, days)
        until = changed.role_until
        text_id = "users.role-set" if until is None else "users.role-set-until"
        shown = "" if until is None else f"{until:%Y-%m-%d %H:%M} UTC"
        terminal.show(terminal.say(text_id, user=changed.id, role=role, until=shown))
        return 0

    return changing(config, work)


def make_codes(
    terminal: Terminal, config: Path | None, given: tuple[str, int, int], *, as_json: bool
) -> int:
    """Create redeem codes and print them, one a line; they are shown only now."""
    role, days, count = given

    async def work(operations: Operations) -> int:
        codes = await operations.create_codes(role, days, count)
        if as_json:
            terminal.show_json(codes)
        else:
            for code in codes:
                terminal.show(code)
        return 0

    return changing(config, work)


def _row(person: Person) -> tuple[str, ...]:
    user, until = person.user, person.user.role_until
    role = user.role if until is None else f"{user.role} → {until:%Y-%m-%d}"
    return (user.id, role, user.name or "-", ", ".join(person.identities))
