"""What a step may return: go on, route to an agent, answer without one, or stay silent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from jobclaw.model import Outcome, ReplyPart, Turn
from jobclaw.spi.store import MemoryWrite


@dataclass(frozen=True, slots=True)
class Next:
    """The following step sees this turn."""

    turn: Turn


@dataclass(frozen=True, slots=True)
class Route:
    """This agent answers."""

    turn: Turn
    agent: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What an action says, and the turn with the session and user as it left them."""

    turn: Turn
    parts: tuple[ReplyPart, ...]
    memory: tuple[MemoryWrite, ...] = ()


Action = Callable[[Turn], Awaitable[Reply]]


@dataclass(frozen=True, slots=True)
class Answer:
    """The router answers itself: with `parts`, or with what `action` says when it is run.

    A dry run stops before the action, so that looking at a decision changes nothing.
    """

    turn: Turn
    outcome: Outcome
    parts: tuple[ReplyPart, ...] = ()
    action: Action | None = None


@dataclass(frozen=True, slots=True)
class Drop:
    """Nothing is said, on purpose; the reason is recorded."""

    turn: Turn
    reason: str


StepResult = Next | Route | Answer | Drop
Verdict = Route | Answer | Drop
