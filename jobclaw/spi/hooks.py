"""The whole contract of a plugin, in one file.

A plugin is a module: named by an entry point of the group `jobclaw`, or a file (or folder)
dropped into `agents/`. It marks any of these functions with `@hookimpl`. Each hook is
synchronous and called once, when the plugin is loaded, off the event loop and within a time
limit; what it returns is checked as a whole and registered all or nothing. A plugin that cannot
be imported, hangs, raises, misspells a hook or returns something else is reported by name (log,
`jobclaw doctor`, `/agents` for admins), and everything else works.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pluggy

from jobclaw.model import Locale, Role, Value
from jobclaw.spi.agent import Agent
from jobclaw.spi.channel import ChannelAdapter
from jobclaw.spi.gate import IdentityGate

GROUP = "jobclaw"
hookspec = pluggy.HookspecMarker(GROUP)
hookimpl = pluggy.HookimplMarker(GROUP)


class ChannelPlugin(Value, frozen=True):
    """A channel: `create(account, settings)` imports its SDK and makes one account's adapter.

    `bot_names`: what the bot is called there in lower case, where that is always the same.
    `trusted_roles`: its senders are the operator of this machine, who may claim a role per
    message. `locales`: folder with its catalogues, for what is said of it at the start.
    """

    name: str
    create: Callable[[str, Mapping[str, Any]], ChannelAdapter]
    trusted_roles: bool = False
    bot_names: frozenset[str] = frozenset()
    locales: Path | None = None


class Command(Value, frozen=True):
    """A slash command that routes: to an intent, or straight to an agent (exactly one of them).

    `name` is without its slash, `[a-z0-9-]`; `-` and `_` are equal. `summary` is a sentence a
    language.
    """

    name: str
    summary: Mapping[Locale, str]
    intent: str = ""
    agent: str = ""
    role: Role = "free"


@hookspec
def jobclaw_channels() -> Sequence[ChannelPlugin]:  # type: ignore[empty-body]
    """Channels by name. A name that exists already is refused."""
    raise NotImplementedError


@hookspec
def jobclaw_agents() -> Sequence[Agent]:  # type: ignore[empty-body]
    """Agents with their intents and keywords. An id that exists already is refused."""
    raise NotImplementedError


@hookspec
def jobclaw_commands() -> Sequence[Command]:  # type: ignore[empty-body]
    """Commands. A name that exists already, a system command's above all, is refused."""
    raise NotImplementedError


@hookspec
def jobclaw_identity_gate() -> IdentityGate | None:  # type: ignore[empty-body]
    """The profile gate; the first one loaded is used, a second one is reported and ignored."""
    raise NotImplementedError
