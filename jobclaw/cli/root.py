"""The tree of commands; their help is translated when it is built."""

from __future__ import annotations

import os
import sys

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption
from typer.main import get_group

from jobclaw.cli import agents, chat, daemon, people, routing, sessions, setup
from jobclaw.cli.terminal import Terminal, guarded
from jobclaw.cli.usage import ClickException, NoArgsIsHelpError, refusal
from jobclaw.errors import UsageError


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
    for part in (daemon, chat, routing, agents, sessions, people, setup):
        part.register(app, terminal)
    group = get_group(app)
    _translate(group, terminal)
    return group


def run(arguments: list[str] | None = None) -> int:
    """Run one command line and return its exit code."""
    terminal = Terminal()
    group = build(terminal)
    words = sys.argv[1:] if arguments is None else arguments

    def invoke() -> int:
        given = _as_utf8(words)
        try:
            return group.main(given, prog_name="jobclaw", standalone_mode=False)
        except NoArgsIsHelpError as error:
            terminal.complain(error.format_message())
            return error.exit_code
        except ClickException as error:
            raise refusal(error, group, given) from error

    return guarded(terminal, invoke)


def _as_utf8(words: list[str]) -> list[str]:
    """The arguments as UTF-8, whatever the locale took them for.

    Raises:
        UsageError: one of them is no UTF-8.
    """
    found: list[str] = []
    for number, word in enumerate(words, 1):
        try:
            found.append(os.fsencode(word).decode())
        except UnicodeError as error:
            raise UsageError("cli.usage.not-utf8", n=number) from error
    return found


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
