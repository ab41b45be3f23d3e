"""`jobclaw sessions list|show|reset`."""

from __future__ import annotations

from typing import Annotated

import typer

from jobclaw.cli.terminal import ConfigOption, JsonOption, LimitOption, Terminal


def register(app: typer.Typer, terminal: Terminal) -> None:
    """Add the commands."""
    group = typer.Typer(help="cli.sessions", no_args_is_help=True, rich_markup_mode=None)
    app.add_typer(group, name="sessions")

    @group.command("list", help="cli.sessions.list")
    def _list(
        *,
        config: ConfigOption = None,
        limit: LimitOption = 50,
        as_json: JsonOption = False,
    ) -> int:
        from jobclaw.cli.sessions_run import list_sessions  # noqa: PLC0415 - loads the core

        return list_sessions(terminal, config, limit, as_json=as_json)

    @group.command("show", help="cli.sessions.show")
    def _show(
        session: Annotated[str, typer.Argument()],
        *,
        config: ConfigOption = None,
        as_json: JsonOption = False,
    ) -> int:
        from jobclaw.cli.sessions_run import show_session  # noqa: PLC0415 - loads the core

        return show_session(terminal, config, session, as_json=as_json)

    @group.command("reset", help="cli.sessions.reset")
    def _reset(
        session: Annotated[str, typer.Argument()], *, config: ConfigOption = None
    ) -> int:
        from jobclaw.cli.sessions_run import reset_session  # noqa: PLC0415 - loads the core

        return reset_session(terminal, config, session)
