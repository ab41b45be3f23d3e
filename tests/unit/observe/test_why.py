"""What is said of a model's part in a decision."""

import msgspec
import pytest
from store_samples import decision, message

from jobclaw.model import Locale, TierTrace
from jobclaw.model.decision import LlmView
from jobclaw.observe.why import Explainer
from jobclaw.texts import Catalogue, core_folder


@pytest.fixture
def explainer() -> Explainer:
    return Explainer(Catalogue([core_folder()]), lambda locale, agent: f"{agent} ({locale})")


@pytest.mark.parametrize(
    ("cost", "shown"),
    [
        (0.0, "0"),
        (0.00042, "0.00042"),
        (0.0000004, "0"),
        (1.25, "1.25"),
        (10.0, "10"),
        (1e-5, "0.00001"),
    ],
)
@pytest.mark.parametrize(
    ("locale", "line"),
    [("en", "Model openai/m, 120 tokens, {} US dollars"), ("zh", "openai/m")],
)
def test_model_tokens_cost_and_reason_are_shown(
    explainer: Explainer, locale: Locale, line: str, cost: float, shown: str
):
    view = LlmView(model="openai/m", tokens=120, cost_usd=cost, reasoning="想\n找 工作")
    made = msgspec.structs.replace(decision(message(1)), tier="llm", llm=view)
    lines = explainer.explain(made, locale).splitlines()
    [about] = [one for one in lines if "openai/m" in one]
    assert line.format(shown) in about
    assert shown in about
    assert [one for one in lines if "想 找 工作" in one]


@pytest.mark.parametrize(
    "outcome",
    ["low", "unknown", "invalid", "timeout", "open", "auth", "budget", "rate-limited", "error"],
)
@pytest.mark.parametrize("locale", ["en", "zh"])
def test_why_the_model_did_not_count_is_a_sentence(
    explainer: Explainer, locale: Locale, outcome: str
):
    trace = TierTrace(tier="llm", outcome=outcome, ms=3.0)
    made = msgspec.structs.replace(decision(message(1)), tiers=(trace,))
    said = explainer.explain(made, locale)
    assert f"why.model-{outcome}" not in said
    assert len(said.splitlines()) > len(
        explainer.explain(decision(message(1)), locale).splitlines()
    )
