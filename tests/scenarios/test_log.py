"""The log of a deployment: JSON lines that name their message and hold no secret."""

import json
import sys
from pathlib import Path

import pexpect
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


@pytest.mark.parametrize(
    ("chosen", "is_json"), [("human", False), ("json", True), ("auto", True)]
)
def test_standard_error_is_for_people_or_for_programs(
    tmp_path: Path, chosen: str, is_json: bool
) -> None:
    deployment = Deployment(tmp_path, f"logging: {{format: {chosen}}}")
    with deployment.daemon() as daemon:
        assert daemon.end() == 0
    lines = daemon.log.read_text("utf-8").splitlines()
    assert len(lines) >= 3
    if is_json:
        assert [json.loads(line)["level"] for line in lines] == ["info"] * len(lines)
    else:
        assert "started" in lines[0]
        assert not lines[0].startswith("{")


def test_on_a_terminal_it_is_for_people(tmp_path: Path) -> None:
    deployment = Deployment(tmp_path)
    program = [sys.executable, "-m", "jobclaw", "run", "--port", "0"]
    environment = deployment.environment(NO_COLOR="1")
    child: pexpect.spawn[str] = pexpect.spawn(
        program[0],
        program[1:],
        cwd=str(tmp_path),
        env=environment,
        timeout=30,
        encoding="utf-8",
    )
    child.expect("jobclaw 已启动")
    child.expect(r"\[info *\] started")
    child.sendintr()
    child.expect(r"\[info *\] stopped")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


def test_one_id_names_a_message_on_its_whole_way(tmp_path: Path) -> None:
    config = 'router: {identity_gate: "off"}\nlogging: {level: debug}'
    deployment = Deployment(tmp_path, config)
    with deployment.daemon() as daemon:
        with deployment.chat() as chat:
            ids = [chat.decide("你好", user=f"u{n}")["id"] for n in range(3)]
            chat.end()
        assert daemon.end() == 0
    lines = [json.loads(line) for line in daemon.log.read_text("utf-8").splitlines()]
    for message in ids:
        way = [
            line["event"].partition(":")[0].partition(" in ")[0]
            for line in lines
            if str(line.get("message", "")).partition(".")[0] == message
        ]
        assert way == ["accepted", "handled", "sent"]
