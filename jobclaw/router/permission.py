"""Whether an agent may answer somebody now; asked again for the one finally chosen."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Literal

from jobclaw.model import RemovedAgent, Role, may_use
from jobclaw.registry.agents import AgentEntry

_log = logging.getLogger(__name__)
Obstacle = Literal["role", "unavailable", "disabled"]


def is_available(entry: AgentEntry) -> bool:
    """What the agent says of itself; one that raises is not available."""
    if entry.declared.always_available:
        return True
    try:
        return bool(entry.agent.is_available())
    except Exception:  # noqa: BLE001 - a plugin's own code
        _log.exception("agent %s: is_available raised", entry.id)
        return False


def obstacle(entry: AgentEntry, role: Role) -> Obstacle | None:
    """Why the agent may not answer this role now, None if it may."""
    if entry.disabled:
        return "disabled"
    if not may_use(role, entry.role):
        return "role"
    return None if is_available(entry) else "unavailable"


def sift(
    entries: Iterable[AgentEntry], role: Role
) -> tuple[list[AgentEntry], tuple[RemovedAgent, ...]]:
    """The agents that may answer, in order, and those removed with the reason."""
    usable: list[AgentEntry] = []
    removed: list[RemovedAgent] = []
    for entry in entries:
        why = obstacle(entry, role)
        if why is None:
            usable.append(entry)
        else:
            removed.append(RemovedAgent(agent=entry.id, why=why))
    return usable, tuple(removed)
