"""The commands of the router itself; each acts on the sender's own session and user only."""

from __future__ import annotations

from collections.abc import Mapping

from jobclaw.router.outcomes import Action

SYSTEM_COMMANDS = (
    "start",
    "help",
    "agents",
    "agent",
    "reset",
    "current",
    "why",
    "wrong",
    "back",
    "human",
    "bot",
    "stop",
    "tasks",
    "task",
    "whoami",
    "link",
    "unlink",
    "redeem",
    "lang",
    "status",
)


class SystemCommands:
    """The actions by command name; every name of `SYSTEM_COMMANDS` has one."""

    def __init__(self, *groups: Mapping[str, Action]) -> None:
        self._actions = {name: action for group in groups for name, action in group.items()}
        absent = set(SYSTEM_COMMANDS) - self._actions.keys()
        if absent:
            raise ValueError(f"system commands without an action: {sorted(absent)}")

    def get(self, name: str) -> Action:
        """The action of a system command."""
        return self._actions[name]
