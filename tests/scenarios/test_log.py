"""The log of a deployment: JSON lines that name their message and hold no secret."""

import json
from pathlib import Path

import pytest
from driver import Deployment

TOKEN = "canary-4f9a1c77e2d0"  # noqa: S105 - made up
LEAKY = """
    import logging
    from jobclaw.spi import Agent, AgentIntro, Markdown, hookimpl

    class Leaky(Agent):
        intro = AgentIntro(id="leaky", name="leaky", description="logs too much")
        intents = ("LEAK",)
        keywords = {"LEAK": {"leak on loop": 1.0}}
        async def handle(self, request):
            logging.getLogger("leaky").warning("the key is %s", "canary-4f9a1c77e2d0")
            yield Markdown("done")

    class Threaded(Agent):
        intro = AgentIntro(id="threaded", name="threaded", description="logs on a thread")
        intents = ("THREAD",)
        keywords = {"THREAD": {"leak on thread": 1.0}}
        def handle(self, request):
            raise RuntimeError("Authorization: Bearer canary-4f9a1c77e2d0")
            yield

    @hookimpl
    def jobclaw_agents():
        return [Leaky(), Threaded()]
"""


@pytest.mark.parametrize("text", ["leak on loop", "leak on thread"])
def test_a_line_names_its_message_and_hides_a_configured_secret(
    tmp_path: Path, text: str
) -> None:
    deployment = Deployment(
        tmp_path,
        f"""
        router: {{identity_gate: "off"}}
        llm: {{api_key: {TOKEN}}}
        """,
    )
    deployment.drop_in("leaky", LEAKY)
    with deployment.chat() as chat:
        decision = chat.decide(text)
        chat.end()
    written = (deployment.workspace / "logs" / "jobclaw.log").read_text("utf-8")
    lines = [json.loads(line) for line in written.splitlines()]
    [line] = [line for line in lines if line["level"] in ("warning", "error")]
    assert line["message"] == decision["id"]
    assert line["timestamp"].endswith("Z")
    assert "[redacted]" in written
    for path in deployment.workspace.rglob("*"):
        if path.is_file():
            assert TOKEN.encode() not in path.read_bytes(), path
