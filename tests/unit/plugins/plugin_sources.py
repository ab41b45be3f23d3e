"""Plugin files that tests write."""

from pathlib import Path

from jobclaw.plugins import PluginHost
from jobclaw.registry import AgentRegistry, CommandSpec, CommandTable
from jobclaw.settings.operation import PluginSettings

HEAD = """
from collections.abc import AsyncIterator
from jobclaw.spi import Agent, AgentIntro, AgentRequest, Markdown, hookimpl
from jobclaw.spi import ChannelPlugin, Command

class {name}(Agent):
    intro = AgentIntro(id="{agent}", name="{agent}", description="{agent}")
    intents = ("{intent}",)
    keywords = {{"{intent}": {{"{agent}": 1.0}}}}
    commands = {{"{agent}": "{intent}"}}

    async def handle(self, request: AgentRequest) -> AsyncIterator[Markdown]:
        yield Markdown("{agent}")

"""
HOOK = """
@hookimpl
def jobclaw_agents():
    return [{name}()]
"""


def agent(agent_id: str, *, hook: bool = True) -> str:
    """A whole plugin with one agent, or all of it but the hook."""
    name = agent_id.title().replace("-", "")
    return (HEAD + (HOOK if hook else "")).format(
        name=name, agent=agent_id, intent=agent_id.upper().replace("-", "_")
    )


def write(path: Path, text: str) -> Path:
    """Write a file that only this user may write."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    path.chmod(0o644)
    return path


def host_of(
    *folders: Path, limit_s: float = 20.0, **settings: object
) -> PluginHost[AgentRegistry]:
    """A host over drop-in folders, with one system command."""
    table = CommandTable([CommandSpec(name="help", kind="system")])
    plugin_settings = PluginSettings.model_validate({"drop_in_dirs": folders, **settings})
    return PluginHost(plugin_settings, AgentRegistry(table), limit_s=limit_s)


def agents_of(host: PluginHost[AgentRegistry], folder: Path) -> list[str]:
    """The ids of the agents that came from a folder, apart from installed ones."""
    names = {info.name for info in host.plugins if info.origin.startswith(str(folder))}
    return sorted(entry.id for entry in host.registry.all() if entry.source in names)
