"""How the daemon is run: agents, plugins, language, logs, delivery of uncertain messages."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import field_validator

from jobclaw.errors import ConfigError
from jobclaw.settings.fields import (
    RootedPath,
    RootedPaths,
    Seconds,
    Section,
    Strings,
    Switch,
    complain,
)

_PARTS, _COLONS = 3, 2
SendPolicy = Literal["resend", "hold"]


class AgentSettings(Section):
    """Bounds of every agent."""

    timeout_s: Seconds = 120.0
    """Seconds an agent has for one answer."""


class PluginSettings(Section):
    """Where plugins come from, besides installed packages."""

    drop_in_dirs: RootedPaths = (Path("agents"),)
    """Folders whose NAME.py and NAME/__init__.py are loaded as plugins."""

    trust_dirs: RootedPaths = ()
    """Folders whose owners and modes are not checked: mounts where they mean nothing."""

    watch: Switch = True
    """Whether a changed drop-in is loaded again without a restart."""

    disabled: Strings = ()
    """Plugins (by name) that are not loaded, and agents (by id) that do not answer."""


class FetchSettings(Section):
    """Fetching of addresses that come from outside."""

    allow_hosts: Strings = ()
    """Intranet hosts that agents may fetch from although not public, also over http."""


class UnknownSendSettings(Section):
    """What happens to a message of which nobody knows whether the platform got it."""

    answers: SendPolicy = "resend"
    """For answers a duplicate is better than silence."""

    pushes: SendPolicy = "hold"
    """For pushes silence is better than a duplicate."""


class RolesSettings(Section):
    """Who may do more than everybody."""

    file: RootedPath = Path("config/roles.yaml")
    """Table of vip and admin identities; read again when it changes."""


class OperatorSettings(Section):
    """The people who run this bot."""

    notify: Strings = ()
    """Chats, as channel:account:conversation, that get notices about health."""

    @field_validator("notify")
    @classmethod
    def _names_chats(cls, chats: tuple[str, ...]) -> tuple[str, ...]:
        for chat in chats:
            if not all(chat.split(":", _COLONS)[:_PARTS]) or chat.count(":") < _COLONS:
                complain([((), ConfigError("config.bad-chat", chat=chat))])
        return chats


class LoggingSettings(Section):
    """The log: JSON lines in workspace/logs, and the daemon's standard error as well."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    """The least important lines shown."""

    format: Literal["auto", "human", "json"] = "auto"
    """Of standard error: `auto` is for people on a terminal, JSON otherwise."""


class LocaleSettings(Section):
    """Language."""

    default: Literal["zh", "en"] = "zh"
    """The language for users whose own is not known yet."""

    dir: RootedPath = Path("config/locales")
    """Folder of NAME.zh.po and NAME.en.po whose sentences replace the shipped ones."""
