"""The work behind `jobclaw sessions`."""

from __future__ import annotations

from pathlib import Path

from jobclaw.cli.session import changing, looking
from jobclaw.cli.terminal import Terminal
from jobclaw.model import Session
from jobclaw.service.operations import Operations


def list_sessions(terminal: Terminal, config: Path | None, limit: int, *, as_json: bool) -> int:
    """List sessions, most recently used first."""

    async def work(operations: Operations) -> int:
        found = await operations.sessions(limit)
        if as_json:
            terminal.show_json(found)
        elif not found:
            terminal.show(terminal.say("sessions.none"))
        else:
            terminal.table([_row(session) for session in found])
        return 0

    return looking(config, work)


def show_session(terminal: Terminal, config: Path | None, key: str, *, as_json: bool) -> int:
    """Show one session with its newest classifications."""

    async def work(operations: Operations) -> int:
        session = await operations.session(key)
        if as_json:
            terminal.show_json(session)
            return 0
        terminal.table([_row(session)])
        for entry in session.history:
            terminal.show(
                f"  {entry.at:%Y-%m-%d %H:%M:%S} {entry.intent} {entry.confidence:g}"
                f" {entry.tier} → {entry.agent}"
            )
        return 0

    return looking(config, work)


def reset_session(terminal: Terminal, config: Path | None, key: str) -> int:
    """Unbind a session; a running process sees it at the session's next message."""

    async def work(operations: Operations) -> int:
        await operations.reset_session(key)
        terminal.show(terminal.say("sessions.reset", session=key))
        return 0

    return changing(config, work)


def _row(session: Session) -> tuple[str, ...]:
    until = session.expires_at
    return (
        session.key,
        session.user_id,
        session.bound_agent or "-",
        until.strftime("%Y-%m-%d %H:%M:%S UTC") if until is not None else "-",
    )
