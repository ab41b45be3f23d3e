"""What every agent that is installed with jobclaw promises."""

import inspect
from pathlib import Path

import pytest

from jobclaw.plugins import PluginHost
from jobclaw.registry import AgentEntry, AgentRegistry, CommandTable
from jobclaw.router.system_commands import SYSTEM_COMMANDS
from jobclaw.settings.operation import PluginSettings
from jobclaw.texts import LOCALES, Catalogue, core_folder

CORE = Catalogue([core_folder()])


def _load() -> PluginHost[AgentRegistry]:
    settings = PluginSettings(drop_in_dirs=())
    host = PluginHost(settings, AgentRegistry(CommandTable(), texts=CORE), limit_s=60)
    host.load()
    return host


HOST = _load()
ENTRIES = HOST.registry.all()


def test_all_plugins_load():
    assert HOST.failures == ()
    assert {info.state for info in HOST.plugins} == {"ok"}
    assert {"chat", "identity"} <= {entry.id for entry in ENTRIES}


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_an_agent_introduces_itself_in_both_languages(entry: AgentEntry):
    assert entry.texts is not None
    for locale in LOCALES:
        for part in ("name", "description", "examples"):
            assert entry.texts.has(locale, f"intro.{part}"), f"{locale}: intro.{part}"


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_an_agent_streams_and_answers_quickly_whether_it_can(entry: AgentEntry):
    handle = type(entry.agent).handle
    assert inspect.isasyncgenfunction(handle) or inspect.isgeneratorfunction(handle)
    assert entry.agent.is_available() in {True, False}


def test_the_default_agent_comes_last():
    assert ENTRIES[-1].id == "chat"


def test_no_agent_or_command_takes_a_system_name():
    names = {entry.id for entry in ENTRIES} | {spec.name for spec in HOST.registry.commands()}
    assert not names & set(SYSTEM_COMMANDS)


def test_installed_plugins_come_from_their_packages():
    for info in HOST.plugins:
        assert not Path(info.origin).is_absolute()
