"""Step 5: the cascade says what the words ask for, cheapest tier first."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from jobclaw.model import UNKNOWN, Button, Buttons, Classification, Parked, RunnerUp, Turn
from jobclaw.registry.agents import AgentEntry, AgentRegistry
from jobclaw.router.outcomes import Answer, Next, StepResult
from jobclaw.router.permission import sift
from jobclaw.router.policy import Policy
from jobclaw.router.third_tier import ThirdTier, model_failure
from jobclaw.router.voice import Voice

CHOICES_LEAST, CHOICES_MOST = 2, 3


class ClassifyStep:
    """Takes a certain intent, asks between close ones, else guesses or falls back.

    `model` is asked only where the keywords are not certain, and what it is not sure of counts
    as little as if it had not been asked.
    """

    def __init__(
        self,
        agents: AgentRegistry,
        classify: Callable[[str], Classification],
        voice: Voice,
        policy: Policy,
        model: ThirdTier | None = None,
    ) -> None:
        self._agents = agents
        self._classify = classify
        self._voice = voice
        self._policy = policy
        self._model = model

    async def run(self, turn: Turn) -> StepResult:
        """Classify the text, unless an earlier step knows the intent."""
        if turn.intent:
            return Next(turn)
        keywords = self._classify(turn.text)
        result = keywords
        if not keywords.certain and self._model is not None:
            result = await self._model.classify(turn, keywords)
        if result.certain:
            here = _classified(turn, result)
            return Next(_with(here, result.intent, result.confidence, result))
        guess = msgspec.structs.replace(keywords, tiers=result.tiers, llm=result.llm)
        for asked in (guess, result):
            question = self._question(_classified(turn, asked), asked)
            if question is not None:
                return question
        return Next(self._fallback(_classified(turn, guess), guess))

    def _fallback(self, turn: Turn, result: Classification) -> Turn:
        """The keyword guess, else the default agent; said plainly where a model failed."""
        if model_failure(result):
            note = self._voice.say(turn, "classify.model-failed")
            turn = msgspec.structs.replace(turn, notices=(*turn.notices, note))
        if result.intent == UNKNOWN:
            return msgspec.structs.replace(
                turn, intent=UNKNOWN, tier="fallback", detail="default"
            )
        turn = _with(turn, result.intent, result.confidence, result)
        return msgspec.structs.replace(turn, tier="fallback", detail="guess")

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


def _classified(turn: Turn, result: Classification) -> Turn:
    return msgspec.structs.replace(turn, step="classify", classification=result)


def _with(turn: Turn, intent: str, confidence: float, result: Classification) -> Turn:
    return msgspec.structs.replace(turn, intent=intent, confidence=confidence, tier=result.tier)
