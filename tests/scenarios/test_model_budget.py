"""The month's budget of a model outlives the daemon, however that ends."""

import json
import time
from pathlib import Path

from driver import Chat, Daemon, Deployment
from fakes.llm_server import LlmServer
from test_model_tier import deploy, model_tier, said

WAIT_S = 30.0
TOKENS_OF_A_CALL = 120
BUDGET = f"""
  monthly_budget_usd: 1
  monthly_budget_tokens: {2 * TOKENS_OF_A_CALL + 1}
"""


def test_a_spent_budget_stays_spent_after_kill_9(tmp_path: Path) -> None:
    with LlmServer(said("SEARCH", 0.9)) as server:
        seed = deploy(tmp_path, server)
        config = (tmp_path / "config" / "jobclaw.yaml").read_text("utf-8")
        seed.configure(config.rstrip() + BUDGET)
        with seed.daemon() as daemon:
            asked_until_spent(seed, "first")
            assert len(server.asked) == 3
            assert model_state(daemon) == "budget"
            daemon.kill()
        with seed.daemon() as daemon:
            asked_until_spent(seed, "second")
            assert len(server.asked) == 3
            assert model_state(daemon) == "budget"
            assert daemon.end() == 0


def asked_until_spent(seed: Deployment, name: str) -> None:
    """Ask until the model is not asked for its budget; people are answered all the while."""
    give_up = time.monotonic() + WAIT_S
    with seed.chat() as chat:
        number = 0
        while ask(chat, f"{name}-{number}") != "budget":
            assert time.monotonic() < give_up
            number += 1
        assert chat.decide("给我推荐一下", user=name)["agent"] == "recommend"
        assert "预算" in chat.say("/why", user=f"{name}-{number}")["text"]
        chat.end()


def ask(chat: Chat, user: str) -> str | None:
    """Say what only the model can place; what became of asking it."""
    decision = chat.decide(f"有啥活 {user}", user=user)
    assert decision["outcome"] == "answered"
    return model_tier(decision)


def model_state(daemon: Daemon) -> str:
    """What the daemon says of its one model."""
    [model] = json.loads(daemon.ask("GET", "/readyz")[1])["llm"]["models"]
    return model["state"]
