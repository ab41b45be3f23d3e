"""The work behind `jobclaw agents`."""

from __future__ import annotations

from pathlib import Path

from jobclaw.cli.session import looking
from jobclaw.cli.terminal import Terminal
from jobclaw.service.operations import AgentLine, Operations


def show_agents(terminal: Terminal, config: Path | None, *, as_json: bool) -> int:
    """List agents by priority, then failed plugins."""

    async def work(operations: Operations) -> int:
        lines = await operations.agents(terminal.locale)
        if as_json:
            terminal.show_json(lines)
        else:
            terminal.table([_row(line) for line in lines])
        return 0

    return looking(config, work)


def _row(line: AgentLine) -> tuple[str, ...]:
    if line.error:
        return ("✗", line.name, "-", "-", line.error)
    state = "✓" if line.available else "–"
    intents = ",".join(line.intents) or "-"
    return (state, line.id, line.role, intents, f"{line.name} · {line.description}")
