"""An agent fetches through its tools, which reach no internal address (SEC: guarded fetch)."""

import pytest
from driver import Daemon, Deployment

FETCHING = """
    from jobclaw.spi import Agent, AgentIntro, FetchError, Markdown, hookimpl

    class Fetching(Agent):
        intro = AgentIntro(id="fetching", name="Fetching", description="fetches")
        intents = ("FETCH",)
        keywords = {"FETCH": {"取一下": 1.0}}

        async def handle(self, request):
            url = request.text.split()[-1]
            try:
                found = await request.tools.fetch.get(url)
            except FetchError as error:
                yield Markdown(f"refused: {error.why}")
            else:
                yield Markdown(f"{found.status} {found.media_type}")

    @hookimpl
    def jobclaw_agents():
        return [Fetching()]
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Deployment:
    """The deployment of the daemon that tests share."""
    config = 'router: {identity_gate: "off"}\nfetch: {allow_hosts: ["127.0.0.1"]}'
    deployment = Deployment(tmp_path_factory.mktemp("fetching"), config)
    deployment.drop_in("fetching", FETCHING)
    return deployment


@pytest.mark.parametrize(
    ("url", "answer"),
    [
        ("{daemon}/healthz", "200 application/json"),
        ("http://127.0.0.1:1/", "refused: network"),
        ("http://localhost:8790/", "refused: scheme"),
        ("https://localhost/", "refused: private"),
        ("https://169.254.169.254/latest", "refused: private"),
        ("file:///etc/passwd", "refused: address"),
    ],
)
def test_only_hosts_that_are_allowed_or_public(
    home: Deployment, daemon: Daemon, url: str, answer: str
) -> None:
    text = f"取一下 {url.format(daemon=daemon.address)}"
    assert answer in home.run("chat", "--once", text).stdout
