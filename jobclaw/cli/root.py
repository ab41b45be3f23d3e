"""The tree of commands; their help is translated when it is built."""

from __future__ import annotations

import click
import typer
from typer.main import get_command

from jobclaw.cli import agents, chat, people, routing, sessions, setup
from jobclaw.cli.terminal import Terminal, guarded


def build(terminal: Terminal) -> click.Command:
    """The whole command line in the reader's language."""
    app = typer.Typer(
        name="jobclaw",
        help="cli.help",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    for part in (chat, routing, agents, sessions, people, setup):
        part.register(app, terminal)
    command = get_command(app)
    _translate(command, terminal)
    return command


def run(arguments: list[str] | None = None) -> int:
    """Run one command line and return its exit code."""
    terminal = Terminal()
    command = build(terminal)

    def invoke() -> int:
        try:
            result = command.main(arguments, prog_name="jobclaw", standalone_mode=False)
        except click.ClickException as error:
            error.show()
            return error.exit_code
        except click.Abort:
            return 1
        return result if isinstance(result, int) else 0

    return guarded(terminal, invoke)


def _translate(command: click.Command, terminal: Terminal) -> None:
    """Replace text ids by sentences, in a command and all below it."""
    if command.help:
        command.help = terminal.say(command.help)
    for parameter in command.params:
        if isinstance(parameter, click.Option) and parameter.help:
            parameter.help = terminal.say(parameter.help)
    command.options_metavar = terminal.say("cli.options-metavar")
    if isinstance(command, click.Group):
        for child in command.commands.values():
            _translate(child, terminal)
