"""`jobclaw agents`: what is loaded, and what is not and why."""

from __future__ import annotations

import typer

from jobclaw.cli.terminal import ConfigOption, JsonOption, Terminal


def register(app: typer.Typer, terminal: Terminal) -> None:
    """Add the command."""

    @app.command("agents", help="cli.agents")
    def _agents(*, config: ConfigOption = None, as_json: JsonOption = False) -> int:
        from jobclaw.cli.agents_run import show_agents  # noqa: PLC0415 - loads the core

        return show_agents(terminal, config, as_json=as_json)
