"""`jobclaw run`: the daemon."""

from __future__ import annotations

from typing import Annotated

import typer

from jobclaw.cli.terminal import ConfigOption, Terminal

HostOption = Annotated[
    str | None, typer.Option("--host", help="cli.run.host", show_default=False)
]
PortOption = Annotated[
    int | None,
    typer.Option("--port", min=0, max=65535, help="cli.run.port", show_default=False),
]


def register(app: typer.Typer, terminal: Terminal) -> None:
    """Add the command."""

    @app.command("run", help="cli.run")
    def _run(
        *,
        config: ConfigOption = None,
        host: HostOption = None,
        port: PortOption = None,
        allow_remote: Annotated[
            bool, typer.Option("--allow-remote", help="cli.run.allow-remote")
        ] = False,
    ) -> int:
        from jobclaw.cli.daemon_run import run_daemon  # noqa: PLC0415 - loads the whole core

        return run_daemon(terminal, config, (host, port), allow_remote=allow_remote)
