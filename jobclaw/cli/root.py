"""The tree of commands; their help is translated when it is built."""

from __future__ import annotations

import sys

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption
from typer.main import get_group

from jobclaw.cli import agents, chat, people, routing, sessions, setup
from jobclaw.cli.terminal import Terminal, guarded
from jobclaw.cli.usage import ClickException, NoArgsIsHelpError, refusal


def build(terminal: Terminal) -> TyperGroup:
    """The whole command line in the reader's language."""
    app = typer.Typer(
        name="jobclaw",
        help="cli.help",
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        result_callback=_finish,
    )
    for part in (chat, routing, agents, sessions, people, setup):
        part.register(app, terminal)
    group = get_group(app)
    _translate(group, terminal)
    return group


def run(arguments: list[str] | None = None) -> int:
    """Run one command line and return its exit code."""
    terminal = Terminal()
    group = build(terminal)
    given = sys.argv[1:] if arguments is None else arguments

    def invoke() -> int:
        try:
            return group.main(given, prog_name="jobclaw", standalone_mode=False)
        except NoArgsIsHelpError as error:
            terminal.complain(error.format_message())
            return error.exit_code
        except ClickException as error:
            raise refusal(error, group, given) from error

    return guarded(terminal, invoke)


def _finish(exit_code: int) -> None:
    """End with what the command returned."""
    raise typer.Exit(exit_code)


def _translate(command: TyperGroup | TyperCommand, terminal: Terminal) -> None:
    """Replace text ids by sentences, in a command and all below it."""
    if command.help:
        command.help = terminal.say(command.help)
    for parameter in command.params:
        if isinstance(parameter, TyperOption) and parameter.help:
            parameter.help = terminal.say(parameter.help)
    command.options_metavar = terminal.say("cli.options-metavar")
    help_option = command.get_help_option(typer.Context(command))
    if help_option is not None:
        help_option.help = terminal.say("cli.option.help")
    if isinstance(command, TyperGroup):
        for child in command.commands.values():
            if isinstance(child, TyperGroup | TyperCommand):
                _translate(child, terminal)
