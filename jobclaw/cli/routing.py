"""`jobclaw route`, `why` and `decisions`: what would be, and what was decided."""

from __future__ import annotations

from typing import Annotated

import typer

from jobclaw.cli.terminal import ConfigOption, JsonOption, LimitOption, Terminal
from jobclaw.errors import UsageError

UserOption = Annotated[str, typer.Option("--user", help="cli.option.user")]


def register(app: typer.Typer, terminal: Terminal) -> None:
    """Add the commands."""

    @app.command("route", help="cli.route")
    def _route(
        text: Annotated[str, typer.Argument()],
        *,
        config: ConfigOption = None,
        user: Annotated[str, typer.Option("--user", help="cli.route.user")] = "",
        role: Annotated[str, typer.Option("--role", help="cli.chat.role")] = "",
        as_json: JsonOption = False,
    ) -> int:
        from jobclaw.cli.decisions_run import route  # noqa: PLC0415 - loads the core

        return route(terminal, config, (text, user, role), as_json=as_json)

    @app.command("why", help="cli.why")
    def _why(
        message: Annotated[str, typer.Argument()] = "",
        *,
        config: ConfigOption = None,
        last: Annotated[bool, typer.Option("--last", help="cli.why.last")] = False,
        user: UserOption = "",
        as_json: JsonOption = False,
    ) -> int:
        from jobclaw.cli.decisions_run import why  # noqa: PLC0415 - loads the core

        if message and last:
            raise UsageError("cli.why.id-or-last")
        return why(terminal, config, message, user, as_json=as_json)

    _register_decisions(app, terminal)


def _register_decisions(app: typer.Typer, terminal: Terminal) -> None:
    @app.command("decisions", help="cli.decisions")
    def _decisions(  # noqa: PLR0913 - one parameter a filter
        *,
        config: ConfigOption = None,
        user: UserOption = "",
        session: Annotated[str, typer.Option("--session", help="cli.option.session")] = "",
        agent: Annotated[str, typer.Option("--agent", help="cli.option.agent")] = "",
        tier: Annotated[str, typer.Option("--tier", help="cli.option.tier")] = "",
        limit: LimitOption = 20,
        as_json: JsonOption = False,
    ) -> int:
        from jobclaw.cli.decisions_run import decisions  # noqa: PLC0415 - loads the core
        from jobclaw.spi.store import DecisionFilter  # noqa: PLC0415 - as above

        query = DecisionFilter(user=user, session=session, agent=agent, tier=tier, limit=limit)
        return decisions(terminal, config, query, as_json=as_json)
