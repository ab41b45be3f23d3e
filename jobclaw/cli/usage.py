"""What the parser refuses, as an error of our own: one sentence in the reader's language."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from typer._click.exceptions import (  # pyright: ignore[reportPrivateUsage] - exported nowhere
    BadOptionUsage,
    BadParameter,
    ClickException,
    MissingParameter,
    NoArgsIsHelpError,
    NoSuchOption,
)
from typer.core import TyperCommand, TyperGroup, TyperOption

from jobclaw.errors import UsageError

__all__ = ["ClickException", "NoArgsIsHelpError", "reached", "refusal"]
Command = TyperGroup | TyperCommand


def reached(group: TyperGroup, arguments: Sequence[str]) -> tuple[Command, str, list[str]]:
    """How far the words lead: the command, its path, and the words that are left."""
    command: Command = group
    path, left = "jobclaw", list(arguments)
    while isinstance(command, TyperGroup) and left:
        child = command.commands.get(left[0])
        if not isinstance(child, TyperGroup | TyperCommand):
            break
        command, path = child, f"{path} {left.pop(0)}"
    return command, path, left


def refusal(error: ClickException, group: TyperGroup, arguments: Sequence[str]) -> UsageError:
    """The error that says what is wrong and where to look."""
    command, path, left = reached(group, arguments)
    see = f"{path} --help"
    match error:
        case NoSuchOption(option_name=option):
            return _no_option(option, command, see)
        case BadOptionUsage(option_name=option):
            return UsageError("cli.usage.needs-value", option=option, see=see)
        case MissingParameter(param=parameter):
            name = parameter.opts[0] if parameter is not None else ""
            return UsageError("cli.usage.missing", name=name, see=see)
        case BadParameter(param=TyperOption(min=int(least), max=int(most), opts=[name, *_])):
            return UsageError(
                "cli.usage.out-of-range", name=name, least=least, most=most, see=see
            )
        case BadParameter(param=parameter):
            name = parameter.opts[0] if parameter is not None else ""
            return UsageError("cli.usage.bad-value", name=name, see=see)
        case _ if isinstance(command, TyperGroup):
            return _no_command(left[0] if left else "", command, path)
        case _:
            return UsageError("cli.usage.too-much", command=path, see=see)


def _no_option(option: str, command: Command, see: str) -> UsageError:
    known = [name for parameter in command.params for name in parameter.opts]
    near = difflib.get_close_matches(option, [name for name in known if name[0] == "-"], 1, 0.7)
    if near:
        return UsageError("cli.usage.no-option-near", option=option, near=near[0], see=see)
    return UsageError("cli.usage.no-option", option=option, see=see)


def _no_command(word: str, group: TyperGroup, path: str) -> UsageError:
    near = difflib.get_close_matches(word, list(group.commands), 1, 0.7)
    if near:
        return UsageError("cli.usage.no-command-near", command=word, near=f"{path} {near[0]}")
    return UsageError("cli.usage.no-command", command=word, see=f"{path} --help")
