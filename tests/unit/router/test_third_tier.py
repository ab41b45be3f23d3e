"""The model as the router sees it: what it may choose from, and what it may not bring about."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from jobclaw.model import (
    UNKNOWN,
    Classification,
    Conversation,
    InboundMessage,
    LlmView,
    ReplyTarget,
    Role,
    RunnerUp,
    Sender,
    Session,
    TierTrace,
    Turn,
    User,
)
from jobclaw.registry.agents import AgentRegistry
from jobclaw.router.policy import Policy
from jobclaw.router.third_tier import ThirdTier, model_failure
from jobclaw.router.voice import Voice
from jobclaw.spi import Agent, AgentIntro, AgentRequest, Markdown, PastTurn
from jobclaw.spi.llm import IntentAnswer, IntentQuestion
from jobclaw.texts import Catalogue, core_folder

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
KEYWORDS = Classification(
    intent=UNKNOWN,
    confidence=0.0,
    tier="none",
    certain=False,
    tiers=(TierTrace(tier="keyword", outcome="none", ms=0.1),),
)


class Rogue:
    """A model's tier that says what it was told to, permitted or not."""

    def __init__(self, answer: IntentAnswer) -> None:
        self.asked: list[IntentQuestion] = []
        self._answer = answer

    async def ask(self, question: IntentQuestion) -> IntentAnswer:
        self.asked.append(question)
        return self._answer


class Listed(Agent):
    """An agent with the intents and the role that it is given."""

    def __init__(
        self, agent_id: str, intent: str, role: Role = "free", *, up: bool = True
    ) -> None:
        self.intro = AgentIntro(
            id=agent_id,
            name=agent_id.title(),
            description=f"does {agent_id}",
            examples=tuple(f"{agent_id} {number}" for number in range(9)),
        )
        self.intents = (intent,)
        self.role = role
        self._up = up

    def is_available(self) -> bool:
        return self._up

    def handle(self, request: AgentRequest) -> Iterator[Markdown]:
        yield Markdown(request.text)


def past(session: str, limit: int) -> tuple[PastTurn, ...]:
    assert session
    turns = [
        PastTurn(
            at=NOW, text=f"said {number}", agent="search" if number % 2 else "", reply="ok"
        )
        for number in range(20)
    ]
    return tuple(turns[-limit:])


def tier(rogue: Rogue) -> ThirdTier:
    registry = AgentRegistry(disabled=["off"])
    agents = [
        Listed("search", "SEARCH"),
        Listed("plan", "PAID_PLAN", role="vip"),
        Listed("asleep", "SLEEP", up=False),
        Listed("off", "OFF"),
        Listed("chat", "CHAT"),
    ]
    registry.register("tests", agents)
    voice = Voice(Catalogue([core_folder()]), registry)
    return ThirdTier(rogue, past, registry, voice, Policy(default_agent="chat"))


def turn(text: str = "hm", role: Role = "free", until: datetime | None = None) -> Turn:
    message = InboundMessage(
        id="m",
        channel="console",
        account="default",
        conversation=Conversation(id="c"),
        sender=Sender(id="u", name="u"),
        reply=ReplyTarget(channel="console", account="default", conversation="c"),
        received_at=NOW,
        text=text,
        text_raw=text,
    )
    return Turn(
        message=message,
        text=text,
        at=NOW,
        user=User(id="u"),
        role=role,
        locale="en",
        session=Session(key="k", user_id="u", default_until=until),
    )


def answer(intent: str, confidence: float, outcome: str, second: str = "") -> IntentAnswer:
    return IntentAnswer(
        intent=intent,
        confidence=confidence,
        outcome=outcome,
        ms=5.0,
        runner_up=RunnerUp(intent=second, confidence=confidence - 0.1) if second else None,
        llm=LlmView(model="m"),
    )


async def classify(rogue: Rogue, **given: object) -> Classification:
    return await tier(rogue).classify(msgspec.structs.replace(turn(), **given), KEYWORDS)


async def test_the_choices_are_what_the_sender_may_use_now():
    rogue = Rogue(answer("SEARCH", 0.9, "hit"))
    await classify(rogue)
    await classify(rogue, role="vip")
    free, vip = rogue.asked
    assert [choice.intent for choice in free.choices] == ["CHAT", "SEARCH"]
    assert [choice.intent for choice in vip.choices] == ["CHAT", "PAID_PLAN", "SEARCH"]
    assert free.choices[1].description == "Search: does search"
    assert free.choices[1].examples == tuple(f"search {number}" for number in range(5))
    assert free.turns == (("said 15", "ok"), ("said 17", "ok"), ("said 19", "ok"))


@pytest.mark.parametrize("intent", ["PAID_PLAN", "SLEEP", "OFF", "/reset", "NOWHERE"])
@pytest.mark.parametrize("outcome", ["hit", "low"])
async def test_what_is_no_choice_is_unknown_whoever_says_it(intent: str, outcome: str):
    result = await classify(Rogue(answer(intent, 0.99, outcome, second="SEARCH")))
    assert (result.intent, result.certain, result.tier) == (UNKNOWN, False, "none")
    assert result.tiers[-1] == TierTrace(tier="llm", outcome="unknown", ms=5.0)
    assert result.llm == LlmView(model="m")
    assert not result.candidates


async def test_a_forbidden_runner_up_is_not_offered():
    result = await classify(Rogue(answer("SEARCH", 0.6, "low", second="PAID_PLAN")))
    assert not result.candidates


async def test_a_hit_is_certain_and_a_close_pair_is_a_question():
    hit = await classify(Rogue(answer("SEARCH", 0.9, "hit", second="CHAT")))
    assert (hit.intent, hit.tier, hit.certain, hit.margin) == ("SEARCH", "llm", True, 0.1)
    low = await classify(Rogue(answer("SEARCH", 0.6, "low", second="CHAT")))
    assert (low.certain, [one.intent for one in low.candidates]) == (False, ["SEARCH", "CHAT"])
    unlikely = await classify(Rogue(answer("SEARCH", 0.2, "low", second="CHAT")))
    assert not unlikely.candidates


@pytest.mark.parametrize(
    "given",
    [
        {"text": " \u200b\n"},
        {"session": Session(key="k", user_id="u", default_until=NOW + timedelta(seconds=1))},
    ],
    ids=["blank", "paused"],
)
async def test_some_texts_are_not_asked_about(given: dict[str, object]):
    rogue = Rogue(answer("SEARCH", 0.9, "hit"))
    result = await classify(rogue, **given)
    assert not rogue.asked
    assert [trace.outcome for trace in result.tiers] == ["none", "skipped"]
    assert not model_failure(result)


async def test_a_pause_ends_when_its_time_is_over():
    rogue = Rogue(answer("SEARCH", 0.9, "hit"))
    await classify(rogue, session=Session(key="k", user_id="u", default_until=NOW))
    assert rogue.asked


@pytest.mark.parametrize(
    ("outcome", "told"),
    [
        ("timeout", True),
        ("open", True),
        ("auth", True),
        ("budget", True),
        ("rate-limited", True),
        ("error", True),
        ("missing", False),
        ("invalid", False),
        ("unknown", False),
    ],
)
async def test_which_failures_people_are_told_of(outcome: str, told: bool):
    result = await classify(Rogue(answer(UNKNOWN, 0.0, outcome)))
    assert model_failure(result) is told
    assert result.intent == UNKNOWN
