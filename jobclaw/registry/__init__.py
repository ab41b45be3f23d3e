"""Who can answer and which commands there are, as the router reads them for every message."""

from jobclaw.registry.agents import AgentEntry, AgentRegistry
from jobclaw.registry.commands import CommandKind, CommandSpec, CommandTable

__all__ = ["AgentEntry", "AgentRegistry", "CommandKind", "CommandSpec", "CommandTable"]
