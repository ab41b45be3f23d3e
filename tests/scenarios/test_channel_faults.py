"""Channels of third parties that misbehave: each is named, and everything else works."""

import json
import textwrap
from collections.abc import Iterator

import pytest
from driver import Daemon, Deployment

PIGEON = """
import asyncio
from jobclaw.model import DeliveryReceipt
from jobclaw.spi import Capabilities, ChannelHealth, ChannelPlugin, hookimpl

class Pigeon:
    capabilities = Capabilities()

    async def start(self, sink):
        START

    async def stop(self, grace_s):
        STOP

    async def send(self, message):
        return DeliveryReceipt(ok=True)

    def fetch(self, attachment):
        raise LookupError(attachment.name)

    def health(self):
        HEALTH

    async def register_commands(self, commands):
        pass

    def routes(self):
        ROUTES

def create(account, settings):
    CREATE
    return Pigeon()

@hookimpl
def jobclaw_channels():
    return [ChannelPlugin(name="NAME", create=create)]
"""
GOOD = {
    "START": "pass",
    "STOP": "pass",
    "HEALTH": 'return ChannelHealth(state="ok")',
    "ROUTES": "return ()",
    "CREATE": "pass",
}
HANGS = "await asyncio.Event().wait()"
FAULTS = {
    "well": ("", "", ""),
    "made-with-an-error": ("CREATE", 'raise RuntimeError("boom")', "RuntimeError: boom"),
    "made-of-nothing": ("CREATE", "return None", "AttributeError"),
    "start-raises": ("START", 'raise RuntimeError("boom")', "RuntimeError: boom"),
    "start-exits": ("START", "raise SystemExit(3)", "SystemExit"),
    "start-cancels": ("START", "raise asyncio.CancelledError", "CancelledError"),
    "start-hangs": ("START", HANGS, "still starting"),
    "stop-raises": ("STOP", 'raise RuntimeError("boom")', ""),
    "stop-hangs": ("STOP", HANGS, ""),
    "health-raises": ("HEALTH", 'raise RuntimeError("boom")', "RuntimeError: boom"),
    "health-of-nothing": ("HEALTH", "return None", "TypeError"),
    "routes-raise": ("ROUTES", 'raise RuntimeError("boom")', ""),
    "routes-of-nothing": ("ROUTES", "return None", ""),
    "routes-of-numbers": ("ROUTES", "return [1, 2]", ""),
}


def pigeon(name: str, place: str, fault: str) -> str:
    """A plugin with a fault in one place."""
    source = PIGEON.replace("NAME", name)
    for part, good in GOOD.items():
        source = source.replace(part, fault if part == place else good)
    return source


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Deployment:
    enabled = "\n".join(f"  {name}: {{enabled: true}}" for name in FAULTS)
    config = f'router: {{identity_gate: "off"}}\nchannels:\n{textwrap.indent(enabled, "  ")}\n'
    deployment = Deployment(tmp_path_factory.mktemp("pigeons"), config)
    for name, (place, fault, _) in FAULTS.items():
        deployment.drop_in(name.replace("-", "_"), pigeon(name, place, fault))
    return deployment


@pytest.fixture(scope="module")
def daemon(home: Deployment) -> Iterator[Daemon]:
    """A daemon with all of them; it ends although some do not stop."""
    with home.daemon() as running:
        yield running
        assert running.end() == 0
        assert "stop-hangs/default does not stop" in running.log.read_text("utf-8")


@pytest.mark.parametrize(("name", "reason"), [(name, FAULTS[name][2]) for name in FAULTS])
def test_a_channel_with_a_fault_says_so_itself(daemon: Daemon, name: str, reason: str) -> None:
    channel = json.loads(daemon.ask("GET", "/readyz")[1])["channels"][name]
    assert channel["state"] == ("down" if reason else "ok")
    assert channel["reason"].startswith(reason)


def test_everything_else_works(daemon: Daemon, home: Deployment) -> None:
    channels = json.loads(daemon.ask("GET", "/readyz")[1])["channels"]
    assert (channels["web"]["state"], channels["console"]["state"]) == ("ok", "ok")
    assert home.run("chat", "--once", "你好").returncode == 0
    assert daemon.ask("GET", "/chat")[0] == 200
