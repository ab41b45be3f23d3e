"""SEC-01: no secret, in any form, in a log, a record, a page's answer or on the screen."""

import base64
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from driver import Deployment
from fakes.llm_server import Answer, LlmServer

KEY = "sk-canary/7f31+b0a9=c42d&e8"
TOKEN = "operator canary/9d2e+51=77&0c"  # noqa: S105 - made up
TELEGRAM = "987654321:AAcanary5c0ffee1234567890abcdefghij"
SLACK = "xoxb-1234567890-canary0c0ffee"
CONFIG = """
    router: {{identity_gate: "off"}}
    logging: {{level: {level}}}
    web: {{operator_token: "{token}"}}
    channels:
      telegram: {{token: "{telegram}"}}
      slack: {{bot_token: "{slack}"}}
    llm: {{model: openai/test, api_base: "{url}", api_key: "{key}", timeout_s: 1}}
"""
TALKATIVE = """
    import os
    from jobclaw.spi import Agent, AgentIntro, Markdown, hookimpl

    class Talkative(Agent):
        intro = AgentIntro(id="talkative", name="Talkative", description="raises")
        intents = ("RAISE",)
        keywords = {"RAISE": {"出错": 1.0}}

        async def handle(self, request):
            raise RuntimeError("calling https://api.example/?key=" + os.environ["CANARY"])
            yield

    @hookimpl
    def jobclaw_agents():
        return [Talkative()]
"""


def forms(secret: str) -> Iterator[bytes]:
    """A secret as it stands, percent-encoded and in base64, by itself and as a password."""
    yield secret.encode()
    yield quote(secret, safe="").encode()
    for text in (secret, f"jobclaw:{secret}"):
        yield base64.b64encode(text.encode()).rstrip(b"=")
        yield base64.urlsafe_b64encode(text.encode()).rstrip(b"=")


def test_no_secret_is_written_or_shown_anywhere(tmp_path: Path) -> None:
    with LlmServer(answer="hello") as server:
        given = {"token": TOKEN, "telegram": TELEGRAM, "slack": SLACK, "key": KEY}
        config = CONFIG.format(level="debug", url=server.url, **given)
        deployment = Deployment(tmp_path / "home", config)
        deployment.drop_in("talkative", TALKATIVE)
        shown = run_through_trouble(deployment, server)
    for path in deployment.workspace.rglob("*"):
        if path.is_file():
            shown[str(path)] = path.read_bytes()
    assert len(shown) > 10
    for secret in (KEY, TOKEN, TELEGRAM, SLACK):
        for form in forms(secret):
            assert [name for name, data in shown.items() if form in data] == []


def troubles() -> Iterator[Answer]:
    """What a model's server may do; a refused key is the last that is heard of it."""
    yield Answer(text=f'{{"intent": "CHAT", "confidence": 0.9, "reasoning": "{KEY}"}}')
    yield Answer(status=500, text=f"Bearer {KEY}")
    yield Answer(fault="reset")
    yield Answer(fault="hang")
    yield Answer(status=401, text=f"Incorrect API key provided: {KEY}")


def run_through_trouble(deployment: Deployment, server: LlmServer) -> dict[str, bytes]:
    """Meet every trouble; everything that was shown to anybody, by name."""
    shown: dict[str, bytes] = {}
    with deployment.daemon(CANARY=KEY) as daemon:
        bearer = {"Authorization": f"Bearer {TOKEN}"}
        with deployment.chat() as chat:
            for number, server.answer in enumerate(troubles()):
                lines = chat.tell(f"随便说说第{number}句", user=f"u{number}")
                shown[f"chat {number}"] = repr(lines).encode()
            shown["failed"] = repr(chat.tell("出错", user="u9")).encode()
            shown["why"] = repr(chat.tell("/why", user="u9")).encode()
            chat.end()
        paths = ("/readyz", "/metrics", "/api/v1/agents", "/api/v1/health", "/api/v1/decisions")
        for path in paths:
            status, shown[path] = daemon.ask("GET", path, **bearer)
            assert status == 200
        for wrong in (f"Bearer x{TOKEN}", f"Basic {TOKEN}"):
            status, shown[wrong[:6]] = daemon.ask("GET", "/api/v1/agents", Authorization=wrong)
            assert status == 401
        for arguments in (("config", "show"), ("doctor", "--probe"), ("decisions",)):
            done = deployment.run(*arguments, CANARY=KEY)
            shown[" ".join(arguments)] = (done.stdout + done.stderr).encode()
        assert daemon.end() == 0
    shown["standard error"] = daemon.log.read_bytes()
    assert b"talkative" in shown["standard error"]
    return shown
