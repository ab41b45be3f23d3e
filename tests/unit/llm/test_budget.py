"""The month's budget, over the real store."""

from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest
from fakes.hand_clock import HandClock

from jobclaw.llm.budget import Budget
from jobclaw.llm.convert import Prices
from jobclaw.settings.services import LlmSettings
from jobclaw.spi.llm import LlmReply
from jobclaw.spi.store import Store
from jobclaw.storage import open_store

PRICES = Prices(
    {
        "priced": {"input_cost_per_token": 0.001, "output_cost_per_token": 0.002},
        "free": {"input_cost_per_token": 0, "output_cost_per_token": 0.0},
    }
)
DAY_S = 86_400.0


class Told:
    """What the operator was told."""

    def __init__(self) -> None:
        self.ids: list[str] = []

    def __call__(self, text_id: str, values: Mapping[str, str]) -> None:
        assert values["month"]
        self.ids.append(text_id)


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
async def store(tmp_path: Path, clock: HandClock) -> AsyncIterator[Store]:
    opened = open_store(tmp_path, clock)
    yield opened
    await opened.close()


def budget_of(store: Store, clock: HandClock, told: Told, **limits: float) -> Budget:
    return Budget(store, LlmSettings.model_validate(limits), clock, told)


async def test_dollars_stop_a_priced_model_and_the_operator_is_told_once(
    store: Store, clock: HandClock
):
    told = Told()
    budget = budget_of(store, clock, told, monthly_budget_usd=0.05)
    await budget.count(LlmReply(text="", model="priced", tokens=40, cost_usd=0.049))
    assert budget.allows("priced", PRICES)
    await budget.count(LlmReply(text="", model="priced", tokens=1, cost_usd=0.001))
    assert not budget.allows("priced", PRICES)
    assert not budget.allows("priced", PRICES)
    assert told.ids == ["notice.llm-budget"]


async def test_a_new_month_begins_anew(store: Store, clock: HandClock):
    told = Told()
    budget = budget_of(store, clock, told, monthly_budget_usd=0.01)
    await budget.count(LlmReply(text="", model="priced", cost_usd=0.02))
    assert not budget.allows("priced", PRICES)
    clock.forward(DAY_S)
    assert budget.allows("priced", PRICES)
    await budget.count(LlmReply(text="", model="priced", cost_usd=0.02))
    assert not budget.allows("priced", PRICES)
    assert told.ids == ["notice.llm-budget"] * 2


async def test_a_restart_does_not_begin_anew(tmp_path: Path, clock: HandClock):
    first = open_store(tmp_path, clock)
    budget = budget_of(first, clock, Told(), monthly_budget_usd=0.01)
    await budget.count(LlmReply(text="", model="priced", cost_usd=0.02))
    await first.close()
    second = open_store(tmp_path, clock)
    again = budget_of(second, clock, Told(), monthly_budget_usd=0.01)
    assert not again.allows("priced", PRICES)
    await second.close()


async def test_an_unknown_price_is_never_free(store: Store, clock: HandClock):
    budget = budget_of(store, clock, Told(), monthly_budget_usd=100, monthly_budget_tokens=1000)
    await budget.count(LlmReply(text="", model="homemade", tokens=999))
    await budget.count(LlmReply(text="", model="free", tokens=1_000_000))
    assert budget.allows("homemade", PRICES)
    await budget.count(LlmReply(text="", model="other-homemade", tokens=1))
    assert not budget.allows("homemade", PRICES)
    assert budget.allows("priced", PRICES)


async def test_without_a_budget_nothing_is_limited_but_all_is_counted(
    store: Store, clock: HandClock
):
    budget = budget_of(store, clock, Told())
    await budget.count(LlmReply(text="", model="homemade", tokens=10**9))
    await budget.count(LlmReply(text="", model="priced", tokens=3, cost_usd=1000.0))
    assert budget.allows("homemade", PRICES)
    assert budget.allows("priced", PRICES)
    [homemade, priced] = store.usage("2026-11")
    assert (homemade.calls, homemade.tokens) == (1, 10**9)
    assert (priced.calls, priced.cost_usd) == (1, 1000.0)
