"""Compares what the configuration names with what there is: agents, plugins, files, sentences.

The schema cannot know them, and a name that nothing answers to is a mistake that shows only
when a message meets it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import cast

from jobclaw.errors import ConfigError
from jobclaw.plugins import PluginHost
from jobclaw.registry.agents import AgentRegistry
from jobclaw.settings import Settings
from jobclaw.settings.accounts import Account, Several
from jobclaw.settings.channels import ChannelSettings
from jobclaw.settings.placeholders import Keys
from jobclaw.settings.sources import (
    Source,
    defaults_folder,
    dotted,
    place,
    read_source,
    said_by,
)
from jobclaw.texts import core_folder
from jobclaw.texts.overrides import check_overrides

Host = PluginHost[AgentRegistry]


class References:
    """The names in one configuration, over the plugins that are loaded."""

    def __init__(self, settings: Settings, host: Host) -> None:
        self._settings = settings
        self._host = host

    def problems(self) -> Iterator[ConfigError]:
        """Everything that is wrong, each with its place."""
        yield from self.router_problems()
        yield from self._accounts()
        yield from self._channels()
        yield from self._disabled()
        yield from self._roles()
        yield from self._sentences()

    def router_problems(self) -> Iterator[ConfigError]:
        """What no start may pass over: the default agent and the profile fields."""
        router, gate = self._settings.router, self._host.gate
        yield from self._agent(("router", "default_agent"), router.default_agent)
        if gate is None or router.identity_gate == "off":
            return
        for at, field in enumerate(router.required_fields):
            if field not in gate.fields:
                known = ", ".join(gate.fields)
                problem = ConfigError("config.unknown-field", field=field, known=known)
                yield self._placed(("router", "required_fields", at), problem)

    def _agent(self, keys: Keys, agent: str) -> Iterator[ConfigError]:
        if self._host.registry.get(agent) is None:
            known = ", ".join(entry.id for entry in self._host.registry.all())
            yield self._placed(
                keys, ConfigError("config.unknown-agent", agent=agent, known=known)
            )

    def _accounts(self) -> Iterator[ConfigError]:
        for name, channel in self._settings.channels:
            given: list[tuple[Keys, Account]] = []
            if isinstance(channel, Account):
                given.append((("channels", name), channel))
            if isinstance(channel, Several):
                for account, one in cast("Several[Account]", channel).accounts.items():
                    given.append((("channels", name, "accounts", account), one))
            for keys, one in given:
                if one.default_agent:
                    yield from self._agent((*keys, "default_agent"), one.default_agent)
                for at, agent in enumerate(one.agents):
                    yield from self._agent((*keys, "agents", at), agent)

    def _channels(self) -> Iterator[ConfigError]:
        provided = self._host.channels
        for name in self._settings.channels.enabled():
            if name not in ChannelSettings.model_fields and name not in provided:
                known = ", ".join(sorted({*ChannelSettings.model_fields, *provided}))
                problem = ConfigError("config.unknown-channel", channel=name, known=known)
                yield self._placed(("channels", name), problem)

    def _disabled(self) -> Iterator[ConfigError]:
        if self._host.broken():  # the name may be that of an agent of theirs
            return
        plugins = [plugin.name for plugin in self._host.plugins]
        agents = [entry.id for entry in self._host.registry.all()]
        for at, name in enumerate(self._settings.plugins.disabled):
            if name not in plugins and name not in agents:
                known = ", ".join(sorted({*plugins, *agents}))
                problem = ConfigError("config.unknown-plugin", name=name, known=known)
                yield self._placed(("plugins", "disabled", at), problem)

    def _roles(self) -> Iterator[ConfigError]:
        file = self._settings.roles.file
        keys: Keys = ("roles", "file")
        written = "file" in self._settings.roles.model_fields_set
        ours = said_by(self._sources, keys).path.is_relative_to(defaults_folder())
        if written and not ours and not file.exists():
            yield self._placed(keys, ConfigError("config.no-such-file", file=str(file)))

    def _sentences(self) -> Iterator[ConfigError]:
        agents = self._host.registry.all()
        shipped = [core_folder(), *(one for entry in agents for one in entry.declared.locales)]
        yield from check_overrides(
            self._settings.locale.dir, list(dict.fromkeys(shipped)), tuple(self._host.channels)
        )

    def _placed(self, keys: Keys, problem: ConfigError) -> ConfigError:
        source = said_by(self._sources, keys)
        problem.values.update(where=place(source, keys), path=dotted(keys))
        return problem

    @cached_property
    def _sources(self) -> list[Source]:
        return [read_source(path) for path in self._settings.files]


def refuse(settings: Settings, problems: Iterator[ConfigError]) -> None:
    """Raise what was found.

    Raises:
        ConfigError: `config.invalid`, if there is any problem.
    """
    found = tuple(problems)
    if found:
        files = ", ".join(map(str, settings.files))
        raise ConfigError("config.invalid", problems=found, n=len(found), file=files)
