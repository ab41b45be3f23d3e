"""Step 5: the cascade says what the words ask for, cheapest tier first."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from jobclaw.model import UNKNOWN, Button, Buttons, Classification, Parked, RunnerUp, Turn
from jobclaw.registry.agents import AgentEntry, AgentRegistry
from jobclaw.router.outcomes import Answer, Next, StepResult
from jobclaw.router.permission import sift
from jobclaw.router.policy import Policy
from jobclaw.router.voice import Voice

CHOICES_LEAST, CHOICES_MOST = 2, 3


class ClassifyStep:
    """Takes a certain intent, asks between close ones, else guesses or falls back."""

    def __init__(
        self,
        agents: AgentRegistry,
        classify: Callable[[str], Classification],
        voice: Voice,
        policy: Policy,
    ) -> None:
        self._agents = agents
        self._classify = classify
        self._voice = voice
        self._policy = policy

    async def run(self, turn: Turn) -> StepResult:
        """Classify the text, unless an earlier step knows the intent."""
        if turn.intent:
            return Next(turn)
        result = self._classify(turn.text)
        here = msgspec.structs.replace(turn, step="classify", classification=result)
        if result.certain:
            return Next(_with(here, result.intent, result.confidence, result))
        question = self._question(here, result)
        if question is not None:
            return question
        if result.intent != UNKNOWN:
            guess = _with(here, result.intent, result.confidence, result)
            return Next(msgspec.structs.replace(guess, tier="fallback", detail="guess"))
        return Next(
            msgspec.structs.replace(here, intent=UNKNOWN, tier="fallback", detail="default")
        )

    def _question(self, turn: Turn, result: Classification) -> Answer | None:
        """Ask between two close candidates, at most once in a row."""
        if not self._policy.clarify or turn.session.clarified:
            return None
        if len(result.candidates) < CHOICES_LEAST:
            return None
        first, second = result.candidates[:2]
        if first.confidence - second.confidence > self._policy.clarify_margin:
            return None
        choices = self._choices(turn, result.candidates)
        if len(choices) < CHOICES_LEAST:
            return None
        kept = Parked(
            message_id=turn.replayed or turn.message.id, text=turn.text, why="clarify"
        )
        session = msgspec.structs.replace(turn.session, parked=kept, clarified=True)
        asked = msgspec.structs.replace(
            turn,
            session=session,
            tier="clarify",
            intent=result.intent,
            confidence=result.confidence,
        )
        text = self._voice.say(turn, "clarify.which")
        return Answer(asked, "clarify", (Buttons(buttons=choices, text=text),))

    def _choices(self, turn: Turn, candidates: tuple[RunnerUp, ...]) -> tuple[Button, ...]:
        """One button for each close candidate's agent that the user may use, three at most."""
        limit = candidates[0].confidence - self._policy.clarify_margin
        chosen: list[AgentEntry] = []
        for candidate in candidates:
            usable, _ = sift(self._agents.serving(candidate.intent), turn.role)
            if candidate.confidence >= limit and usable and usable[0] not in chosen:
                chosen.append(usable[0])
        return tuple(
            Button(
                id=f"pick:{entry.id}",
                label=self._voice.agent(turn.locale, entry.id),
                pick=entry.id,
            )
            for entry in chosen[:CHOICES_MOST]
        )


def _with(turn: Turn, intent: str, confidence: float, result: Classification) -> Turn:
    return msgspec.structs.replace(turn, intent=intent, confidence=confidence, tier=result.tier)
