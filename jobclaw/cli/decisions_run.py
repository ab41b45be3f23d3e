"""The work behind `route`, `why` and `decisions`."""

from __future__ import annotations

from pathlib import Path

import msgspec

from jobclaw.app.core import SystemClock
from jobclaw.cli.session import core_over, reading, with_store
from jobclaw.cli.terminal import Terminal
from jobclaw.errors import UsageError
from jobclaw.model import ROLES, Role, RouteDecision
from jobclaw.service.dry_run import NOBODY, anybody, dry_run, sample_message
from jobclaw.service.people import the_user
from jobclaw.settings import Settings
from jobclaw.spi.store import DecisionFilter, Store


def _role(text: str) -> Role | None:
    if not text:
        return None
    if text not in ROLES:
        raise UsageError("cli.bad-role", role=text, known=", ".join(ROLES))
    return ROLES[ROLES.index(text)]


def route(
    terminal: Terminal, config: Path | None, asked: tuple[str, str, str], *, as_json: bool
) -> int:
    """Show what would be decided; `asked` is text, user and role."""
    text, named, role = asked

    async def work(settings: Settings, store: Store) -> int:
        core = core_over(settings, store)
        at = SystemClock().now()
        message = sample_message(text, named or NOBODY, _role(role), at)
        user = anybody()
        if named:
            found = store.find_users(f"console:default:{named}") or store.find_users(named)
            user = found[0] if found else msgspec.structs.replace(user, id=named, name=named)
        decision = await dry_run(core.reader(), core.router(), message, user, core.revision())
        _show(terminal, core.explainer.explain(decision, terminal.locale), decision, as_json)
        return 0

    return with_store(config, reading, work)


def why(
    terminal: Terminal, config: Path | None, message: str, user: str, *, as_json: bool
) -> int:
    """Explain a recorded decision: that of a message, else the newest (of a user)."""

    async def work(settings: Settings, store: Store) -> int:
        owner = the_user(store, user).id if user else ""
        decision = store.decision(message, owner) if message else _newest(store, owner)
        if decision is None:
            raise _unknown(message)
        core = core_over(settings, store)
        _show(terminal, core.explainer.explain(decision, terminal.locale), decision, as_json)
        return 0

    return with_store(config, reading, work)


def decisions(
    terminal: Terminal, config: Path | None, query: DecisionFilter, *, as_json: bool
) -> int:
    """List recorded decisions, newest first."""

    async def work(settings: Settings, store: Store) -> int:  # noqa: ARG001 - the signature
        wanted = query
        if query.user:
            wanted = msgspec.structs.replace(query, user=the_user(store, query.user).id)
        found = store.decisions(wanted)
        if as_json:
            terminal.show_json(found)
            return 0
        if not found:
            terminal.show(terminal.say("decisions.none"))
            return 0
        terminal.table([_row(decision) for decision in found])
        return 0

    return with_store(config, reading, work)


def _unknown(message: str) -> UsageError:
    if message:
        return UsageError("cli.why.unknown", message=message)
    return UsageError("cli.why.nothing")


def _newest(store: Store, user_id: str) -> RouteDecision | None:
    """The newest routed message; commands such as /why itself are passed over."""
    for decision in store.decisions(DecisionFilter(user=user_id, limit=50)):
        if decision.outcome not in ("command", "hint"):
            return decision
    return None


def _row(decision: RouteDecision) -> tuple[str, ...]:
    text = " ".join(decision.text.split())
    return (
        decision.message,
        decision.at.strftime("%m-%d %H:%M:%S"),
        decision.step,
        decision.tier,
        decision.agent or "-",
        decision.outcome,
        text[:30],
    )


def _show(
    terminal: Terminal,
    explained: str,
    decision: RouteDecision,
    as_json: bool,  # noqa: FBT001
) -> None:
    if as_json:
        terminal.show_json(decision)
    else:
        terminal.show(explained)
