"""`jobclaw chat`: talk in the terminal, without a daemon."""

from __future__ import annotations

from typing import Annotated

import typer

from jobclaw.cli.terminal import ConfigOption, Terminal
from jobclaw.errors import UsageError


def register(app: typer.Typer, terminal: Terminal) -> None:
    """Add the command."""

    @app.command("chat", help="cli.chat")
    def _chat(  # noqa: PLR0913 - one parameter an option
        *,
        config: ConfigOption = None,
        user: Annotated[str, typer.Option("--user", help="cli.chat.user")] = "u1",
        role: Annotated[str, typer.Option("--role", help="cli.chat.role")] = "",
        conversation: Annotated[
            str, typer.Option("--conversation", help="cli.chat.conversation")
        ] = "",
        once: Annotated[str | None, typer.Option("--once", help="cli.chat.once")] = None,
        jsonl: Annotated[bool, typer.Option("--jsonl", help="cli.chat.jsonl")] = False,
    ) -> int:
        from jobclaw.cli.chat_run import run_chat  # noqa: PLC0415 - loads the whole core
        from jobclaw.model import ROLES  # noqa: PLC0415 - as above

        if once is not None and jsonl:
            raise UsageError("cli.chat.once-or-jsonl")
        if role and role not in ROLES:
            raise UsageError("cli.bad-role", role=role, known=", ".join(ROLES))
        mode = "jsonl" if jsonl else "once" if once is not None else "prompt"
        console = {
            "mode": mode,
            "user": user,
            "role": role,
            "conversation": conversation,
            "text": once or "",
            "locale": terminal.locale,
        }
        return run_chat(terminal, config, console)
