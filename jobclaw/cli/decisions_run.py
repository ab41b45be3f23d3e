"""The work behind `route`, `why` and `decisions`."""

from __future__ import annotations

from pathlib import Path

from jobclaw.cli.session import looking
from jobclaw.cli.terminal import Terminal
from jobclaw.model import RouteDecision
from jobclaw.service.operations import Operations, Question
from jobclaw.spi.store import DecisionFilter


def route(
    terminal: Terminal, config: Path | None, asked: tuple[str, str, str], *, as_json: bool
) -> int:
    """Show what would be decided; `asked` is text, user and role."""
    text, user, role = asked

    async def work(operations: Operations) -> int:
        decision = await operations.route(Question(text=text, user=user, role=role))
        await _show(terminal, operations, decision, as_json=as_json)
        return 0

    return looking(config, work)


def why(
    terminal: Terminal, config: Path | None, message: str, user: str, *, as_json: bool
) -> int:
    """Explain a recorded decision: that of a message, else the newest (of a user)."""

    async def work(operations: Operations) -> int:
        decision = await operations.decision(message, user)
        await _show(terminal, operations, decision, as_json=as_json)
        return 0

    return looking(config, work)


def decisions(
    terminal: Terminal, config: Path | None, query: DecisionFilter, *, as_json: bool
) -> int:
    """List recorded decisions, newest first."""

    async def work(operations: Operations) -> int:
        found = await operations.decisions(query)
        if as_json:
            terminal.show_json(found)
        elif not found:
            terminal.show(terminal.say("decisions.none"))
        else:
            terminal.table([_row(decision) for decision in found])
        return 0

    return looking(config, work)


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


async def _show(
    terminal: Terminal, operations: Operations, decision: RouteDecision, *, as_json: bool
) -> None:
    if as_json:
        terminal.show_json(decision)
    else:
        terminal.show(await operations.explain(decision, terminal.locale))
