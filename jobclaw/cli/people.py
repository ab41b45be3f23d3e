"""`jobclaw users list|show|role` and `users codes create`."""

from __future__ import annotations

from typing import Annotated

import typer

from jobclaw.cli.terminal import ConfigOption, JsonOption, LimitOption, Terminal

MOST_DAYS = 3650
DaysOption = Annotated[
    int | None, typer.Option("--days", min=1, max=MOST_DAYS, help="cli.option.days")
]


def register(app: typer.Typer, terminal: Terminal) -> None:
    """Add the commands."""
    group = typer.Typer(help="cli.users", no_args_is_help=True, rich_markup_mode=None)
    app.add_typer(group, name="users")

    @group.command("list", help="cli.users.list")
    def _list(
        *,
        config: ConfigOption = None,
        limit: LimitOption = 50,
        as_json: JsonOption = False,
    ) -> int:
        from jobclaw.cli.people_run import list_users  # noqa: PLC0415 - loads the core

        return list_users(terminal, config, limit, as_json=as_json)

    @group.command("show", help="cli.users.show")
    def _show(
        user: Annotated[str, typer.Argument()],
        *,
        config: ConfigOption = None,
        as_json: JsonOption = False,
    ) -> int:
        from jobclaw.cli.people_run import show_user  # noqa: PLC0415 - loads the core

        return show_user(terminal, config, user, as_json=as_json)

    @group.command("role", help="cli.users.role")
    def _role(
        user: Annotated[str, typer.Argument()],
        role: Annotated[str, typer.Argument()],
        *,
        config: ConfigOption = None,
        days: DaysOption = None,
    ) -> int:
        from jobclaw.cli.people_run import give_role  # noqa: PLC0415 - loads the core

        return give_role(terminal, config, (user, role), days)

    _register_codes(group, terminal)


def _register_codes(users: typer.Typer, terminal: Terminal) -> None:
    group = typer.Typer(help="cli.users.codes", no_args_is_help=True, rich_markup_mode=None)
    users.add_typer(group, name="codes")

    @group.command("create", help="cli.users.codes.create")
    def _create(
        *,
        config: ConfigOption = None,
        role: Annotated[str, typer.Option("--role", help="cli.chat.role")] = "vip",
        days: Annotated[
            int, typer.Option("--days", min=1, max=MOST_DAYS, help="cli.option.days")
        ] = 31,
        count: Annotated[
            int, typer.Option("--count", min=1, max=1000, help="cli.option.count")
        ] = 1,
        as_json: JsonOption = False,
    ) -> int:
        from jobclaw.cli.people_run import make_codes  # noqa: PLC0415 - loads the core

        return make_codes(terminal, config, (role, days, count), as_json=as_json)
