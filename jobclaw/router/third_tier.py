"""Asks the model what the keywords did not say, and lets through only what is permitted.

The choices are made of the agents that this sender may use now. What comes back is checked
against them again, so that no answer, whoever wrote it, reaches another agent.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from jobclaw.model import Classification, RunnerUp, TierTrace, Turn
from jobclaw.registry.agents import AgentRegistry
from jobclaw.router.language import is_blank
from jobclaw.router.permission import sift
from jobclaw.router.policy import Policy
from jobclaw.router.voice import Voice
from jobclaw.spi.agent import PastTurn
from jobclaw.spi.llm import IntentAnswer, IntentChoice, IntentModel, IntentQuestion

TURNS, HISTORY_SLACK = 3, 3
EXAMPLES_MOST = 5
LIKELY = 0.3
# What people are told of; an answer that is no use, and a deployment without litellm, they are
# not: there the default agent answers as if there were no model.
FAILED = frozenset({"timeout", "open", "auth", "budget", "rate-limited", "error"})
History = Callable[[str, int], tuple[PastTurn, ...]]


class ThirdTier:
    """The model as the router sees it; `history` gives the newest exchanges of a session."""

    def __init__(
        self,
        model: IntentModel,
        history: History,
        agents: AgentRegistry,
        voice: Voice,
        policy: Policy,
    ) -> None:
        self._model = model
        self._history = history
        self._agents = agents
        self._voice = voice
        self._margin = policy.clarify_margin

    async def classify(self, turn: Turn, so_far: Classification) -> Classification:
        """What the tiers before said, with the model's word: certain, or two close candidates.

        A low or useless answer changes nothing but the record.
        """
        choices = self._choices(turn)
        if self._is_skipped(turn) or not choices:
            return _traced(so_far, TierTrace(tier="llm", outcome="skipped", ms=0.0))
        question = IntentQuestion(text=turn.text, choices=choices, turns=self._turns(turn))
        answer = _checked(await self._model.ask(question), choices)
        result = _traced(
            msgspec.structs.replace(so_far, llm=answer.llm),
            TierTrace(tier="llm", outcome=answer.outcome, ms=answer.ms),
        )
        if answer.outcome == "hit":
            return _with(result, answer, certain=True)
        if answer.outcome == "low" and self._is_close(answer):
            return _with(result, answer, certain=False)
        return result

    def _is_skipped(self, turn: Turn) -> bool:
        """The default agent's chat costs no model call a message; nor does an empty text."""
        until = turn.session.default_until
        return (until is not None and turn.at < until) or is_blank(turn.text)

    def _is_close(self, answer: IntentAnswer) -> bool:
        """Whether two intents are about as likely, and likely enough to be worth a question."""
        second = answer.runner_up
        if second is None or min(answer.confidence, second.confidence) < LIKELY:
            return False
        return abs(answer.confidence - second.confidence) <= self._margin

    def _turns(self, turn: Turn) -> tuple[tuple[str, str], ...]:
        """The newest exchanges with agents; what the router said itself tells nothing."""
        past = self._history(turn.session.key, TURNS * HISTORY_SLACK)
        return tuple((one.text, one.reply) for one in past if one.agent)[-TURNS:]

    def _choices(self, turn: Turn) -> tuple[IntentChoice, ...]:
        """Every intent that somebody would serve who may answer this sender now."""
        found: dict[str, IntentChoice] = {}
        usable, _ = sift(self._agents.all(), turn.role)
        for entry in usable:
            name = self._voice.intro(entry, turn.locale, "name")
            description = self._voice.intro(entry, turn.locale, "description")
            examples = self._voice.intro(entry, turn.locale, "examples").splitlines()
            for intent in entry.intents:
                choice = IntentChoice(
                    intent=intent,
                    agent=entry.id,
                    description=f"{name}: {description}",
                    examples=tuple(examples[:EXAMPLES_MOST]),
                )
                found.setdefault(intent, choice)
        return tuple(found.values())


def model_failure(result: Classification) -> bool:
    """Whether a model should have been asked and could not answer."""
    return any(tier.tier == "llm" and tier.outcome in FAILED for tier in result.tiers)


def _checked(answer: IntentAnswer, choices: tuple[IntentChoice, ...]) -> IntentAnswer:
    """The answer without what is no choice: the model's tier may be anybody's."""
    permitted = {choice.intent for choice in choices}
    second = answer.runner_up
    if second is not None and second.intent not in permitted:
        answer = msgspec.structs.replace(answer, runner_up=None)
    if answer.outcome in ("hit", "low") and answer.intent not in permitted:
        answer = msgspec.structs.replace(answer, outcome="unknown")
    return answer


def _traced(result: Classification, trace: TierTrace) -> Classification:
    return msgspec.structs.replace(result, tiers=(*result.tiers, trace))


def _with(result: Classification, answer: IntentAnswer, *, certain: bool) -> Classification:
    """The classification with the model's candidates instead of the keywords'."""
    first = RunnerUp(intent=answer.intent, confidence=answer.confidence)
    second = answer.runner_up
    margin = None if second is None else round(first.confidence - second.confidence, 4)
    return msgspec.structs.replace(
        result,
        intent=first.intent,
        confidence=first.confidence,
        tier="llm",
        certain=certain,
        candidates=(first,) if second is None else (first, second),
        runner_up=second,
        margin=margin,
    )
