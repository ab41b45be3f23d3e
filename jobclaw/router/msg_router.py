"""The router: seven steps in order; the first that knows decides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, assert_never

from jobclaw.model import Turn
from jobclaw.router.outcomes import Answer, Drop, Next, Route, StepResult, Verdict


class Step(Protocol):
    """One of the steps before the last."""

    async def run(self, turn: Turn) -> StepResult:
        """Decide, or pass the turn on."""
        ...


class MsgRouter:
    """Runs the steps from identity to match; `execute` follows a Route."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = tuple(steps)

    async def decide(self, turn: Turn) -> Verdict:
        """Who answers, or what the router says itself; nothing is run or stored here."""
        for step in self._steps:
            result = await step.run(turn)
            match result:
                case Next(turn=following):
                    turn = following
                case Route() | Answer() | Drop():
                    return result
                case _:
                    assert_never(result)
        raise AssertionError("the last step always decides")
