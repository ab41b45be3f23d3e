"""What litellm's shapes mean: prices, faults, answers."""

from types import SimpleNamespace

import pytest

from jobclaw.llm.convert import TEXT_MOST, Prices, fault_of, text_of

KEY = "sk-0123456789abcdefghij"
TABLE: dict[str, dict[str, object]] = {
    "gpt-4o-mini": {
        "input_cost_per_token": 1e-6,
        "output_cost_per_token": 2e-6,
        "litellm_provider": "openai",
    },
    "deepseek/deepseek-chat": {"input_cost_per_token": 0, "output_cost_per_token": 0},
    "image/only": {"litellm_provider": "image"},
}


class RefusedError(Exception):
    """As the library's errors: a status, and perhaps headers."""

    def __init__(self, status: int, message: str = "", **headers: str) -> None:
        super().__init__(message)
        self.status_code = status
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.response = SimpleNamespace(headers=named)


class Timeout(Exception):  # noqa: N818 - the library's name
    """Named as litellm's."""

    status_code = 408


@pytest.mark.parametrize(
    ("model", "known"),
    [
        ("openai/gpt-4o-mini", True),
        ("gpt-4o-mini", True),
        ("azure/gpt-4o-mini", False),
        ("deepseek/deepseek-chat", True),
        ("image/only", False),
        ("openai/test", False),
    ],
)
def test_a_price_counts_only_for_its_own_provider(model: str, known: bool):
    assert Prices(TABLE).is_known(model) is known


def test_what_a_call_cost():
    usage = SimpleNamespace(prompt_tokens=1000, completion_tokens=10)
    used = Prices(TABLE).used("openai/gpt-4o-mini", usage)
    assert (used.tokens, used.priced) == (1010, True)
    assert used.cost_usd == pytest.approx(1000e-6 + 20e-6)
    assert Prices(TABLE).used("openai/test", usage).priced is False
    assert Prices(TABLE).used("openai/test", None).tokens == 0
    assert Prices(TABLE).used("x", SimpleNamespace(prompt_tokens=-5)).tokens == 0


@pytest.mark.parametrize(
    ("status", "why", "again", "counts"),
    [
        (401, "auth", False, True),
        (402, "auth", False, True),
        (403, "auth", False, True),
        (429, "rate-limited", True, True),
        (500, "error", True, True),
        (503, "error", True, True),
        (404, "error", False, True),
        (400, "error", False, False),
        (422, "error", False, False),
    ],
)
def test_what_a_status_means(status: int, why: str, again: bool, counts: bool):
    fault = fault_of(RefusedError(status, "no"), KEY)
    assert (fault.why, fault.again, fault.counts) == (why, again, counts)


def test_a_timeout_of_the_library_is_a_timeout():
    assert fault_of(Timeout(), KEY).why == "timeout"


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("2", 2.0), ("0.5", 0.5), ("-3", 0.0), ("nan", 0.0), ("1e9", 86_400.0), ("soon", None)],
)
def test_retry_after_is_read_in_seconds(header: str, seconds: float | None):
    assert fault_of(RefusedError(429, retry_after=header), "").retry_after == seconds


@pytest.mark.parametrize(
    "message",
    [
        f"bad key {KEY}",
        "Authorization: Bearer abcdefgh",
        "Incorrect API key provided: sk-012*****ghij",
        "key 0123456789abcdef0123456789abcdef is wrong",
    ],
)
@pytest.mark.parametrize("status", [400, 401, 429, 500])
def test_no_key_is_in_what_is_kept(status: int, message: str):
    kept = fault_of(RefusedError(status, message), KEY).detail
    for part in (KEY, "abcdefgh", "ghij", "0123456789abcdef"):
        assert part not in kept


@pytest.mark.parametrize(
    "response",
    [
        None,
        SimpleNamespace(choices=[]),
        SimpleNamespace(choices=None),
        SimpleNamespace(choices=[SimpleNamespace(message=None)]),
        SimpleNamespace(choices=[SimpleNamespace(message=SimpleNamespace(content=None))]),
        SimpleNamespace(choices=[SimpleNamespace(message=SimpleNamespace(content=7))]),
    ],
)
def test_what_is_no_answer_has_no_text(response: object):
    assert text_of(response) is None


def test_a_long_answer_is_cut():
    message = SimpleNamespace(content="x" * (2 * TEXT_MOST))
    text = text_of(SimpleNamespace(choices=[SimpleNamespace(message=message)]))
    assert text is not None
    assert len(text) == TEXT_MOST
