"""`jobclaw init`, `doctor`, `config` and `version`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from jobclaw import __version__
from jobclaw.cli.terminal import ConfigOption, JsonOption, Terminal


def register(app: typer.Typer, terminal: Terminal) -> None:
    """Add the commands."""

    @app.command("version", help="cli.version")
    def _version(*, as_json: JsonOption = False) -> int:
        if as_json:
            terminal.show_json({"version": __version__})
        else:
            terminal.show(__version__)
        return 0

    @app.command("init", help="cli.init")
    def _init(
        folder: Annotated[Path, typer.Argument()] = Path(),
        *,
        llm: Annotated[str, typer.Option("--llm", help="cli.init.llm")] = "",
        model: Annotated[str, typer.Option("--llm-model", help="cli.init.llm-model")] = "",
        base: Annotated[str, typer.Option("--llm-api-base", help="cli.init.llm-base")] = "",
        key_env: Annotated[str, typer.Option("--llm-key-env", help="cli.init.llm-key")] = "",
    ) -> int:
        from jobclaw.cli.setup_model import ModelOptions  # noqa: PLC0415 - loads the core
        from jobclaw.cli.setup_run import init  # noqa: PLC0415 - as above

        return init(terminal, folder, ModelOptions(llm, model, base, key_env))

    @app.command("doctor", help="cli.doctor")
    def _doctor(
        *,
        config: ConfigOption = None,
        fix: Annotated[bool, typer.Option("--fix", help="cli.doctor.fix")] = False,
        probe: Annotated[bool, typer.Option("--probe", help="cli.doctor.probe")] = False,
        as_json: JsonOption = False,
    ) -> int:
        from jobclaw.cli.doctor_run import Wish, doctor  # noqa: PLC0415 - loads the core

        return doctor(terminal, config, Wish(fix=fix, probe=probe, as_json=as_json))

    _register_config(app, terminal)


def _register_config(app: typer.Typer, terminal: Terminal) -> None:
    group = typer.Typer(help="cli.config", no_args_is_help=True, rich_markup_mode=None)
    app.add_typer(group, name="config")

    @group.command("check", help="cli.config.check")
    def _check(*, config: ConfigOption = None) -> int:
        from jobclaw.cli.setup_run import check_config  # noqa: PLC0415 - loads the core

        return check_config(terminal, config)

    @group.command("show", help="cli.config.show")
    def _show(*, config: ConfigOption = None, as_json: JsonOption = False) -> int:
        from jobclaw.cli.setup_run import show_config  # noqa: PLC0415 - loads the core

        return show_config(terminal, config, as_json=as_json)
