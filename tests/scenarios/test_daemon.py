"""`jobclaw run`: one process for all; every other verb works beside it, and through it."""

import json
import signal
from pathlib import Path

import pytest
from counting_agents import COUNTER
from driver import Daemon, Deployment, decisions, replies

RUNNING = Path("workspace") / "workspace.holder.json"
SLOW = """
    import asyncio
    import pathlib
    from jobclaw.spi import Agent, AgentIntro, Markdown, hookimpl

    class Slow(Agent):
        intro = AgentIntro(id="slow", name="Slow", description="takes its time")
        intents = ("SLOW",)
        keywords = {"SLOW": {"慢慢来": 1.0}}

        async def handle(self, request):
            pathlib.Path("began").touch()
            while not pathlib.Path("go").exists():
                await asyncio.sleep(0.02)
            yield Markdown("终于好了")

    @hookimpl
    def jobclaw_agents():
        return [Slow()]
"""


PIGEON = """
    from jobclaw.spi import Capabilities, ChannelHealth, ChannelPlugin, hookimpl

    class Pigeon:
        capabilities = Capabilities()
        async def start(self, sink):
            raise RuntimeError("no pigeon today")
        async def stop(self, grace_s): ...
        async def send(self, message): ...
        def fetch(self, attachment): ...
        def health(self):
            return ChannelHealth(state="ok")
        async def register_commands(self, commands): ...

    @hookimpl
    def jobclaw_channels():
        return [ChannelPlugin(name="pigeon", create=lambda account, settings: Pigeon())]
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Deployment:
    """The deployment of the daemon that tests share."""
    deployment = Deployment(tmp_path_factory.mktemp("daemon"))
    deployment.drop_in("counter", COUNTER)
    return deployment


class TestThroughTheDaemon:
    def test_a_chat_talks_through_it_and_a_second_one_goes_on(
        self, daemon: Daemon, home: Deployment
    ) -> None:
        for count in ("1", "2"):
            done = home.run("chat", "--user", "ann", "--once", "数一数")
            assert (done.returncode, done.stderr) == (0, "")
            assert f"counter › {count}" in done.stdout
        assert daemon.process.poll() is None

    def test_json_lines_keep_their_order_roles_buttons_and_waits(
        self, daemon: Daemon, home: Deployment
    ) -> None:
        with home.chat() as chat:
            for number in range(40):
                chat.put(id=f"m{number}", user="bo", text="数一数")
            lines = chat.wait()
            assert [line["in_reply_to"] for line in replies(lines)] == [
                f"m{number}" for number in range(40)
            ]
            assert [line["text"] for line in replies(lines)] == [str(n + 1) for n in range(40)]
            assert len(decisions(lines)) == 40
            assert decisions(chat.tell("付费", user="bea"))[0]["outcome"] == "refused"
            assert chat.say("付费", user="bea", role="vip")["text"] == "paid"
            again = chat.tell("数一数", user="bo", id="m1")
            assert [line["type"] for line in again] == ["duplicate"]
            button = chat.say("数一数", user="cy")["buttons"][0]["id"]
            assert decisions(chat.press(button, user="cy"))[0]["detail"] == "/wrong"
            chat.end()
        assert daemon.process.poll() is None

    def test_of_two_terminals_in_a_conversation_the_one_that_spoke_is_answered(
        self, daemon: Daemon, home: Deployment
    ) -> None:
        with home.chat() as first, home.chat() as second:
            answers = [
                chat.say("数一数", user="eve") for chat in (first, second, first, second)
            ]
            assert [answer["text"] for answer in answers] == ["1", "2", "3", "4"]
            first.end()
            assert second.say("数一数", user="eve")["text"] == "5"
            second.end()
        assert daemon.process.poll() is None

    def test_verbs_see_and_change_what_the_daemon_has(
        self, daemon: Daemon, home: Deployment
    ) -> None:
        home.run("chat", "--user", "dan", "--once", "数一数")
        assert "counter" in [agent["id"] for agent in home.json("agents")]
        [session] = [
            s
            for s in home.json("sessions", "list")
            if s["bound_agent"] == "counter" and s["key"].endswith(":dan")
        ]
        assert home.json("sessions", "show", session["key"])["bound_agent"] == "counter"
        assert home.run("sessions", "reset", session["key"]).returncode == 0
        assert home.json("sessions", "show", session["key"])["bound_agent"] == ""
        assert home.run("users", "role", "console:default:dan", "vip").returncode == 0
        assert home.json("users", "show", "console:default:dan")["user"]["role"] == "vip"
        assert "paid" in home.run("chat", "--user", "dan", "--once", "付费").stdout
        why = home.json("why", "--last", "--user", "console:default:dan")
        assert (why["agent"], why["role"]) == ("paid", "vip")
        assert home.json("decisions", "--user", "console:default:dan")[0] == why
        assert home.json("route", "数一数")["agent"] == "counter"
        assert len(home.json("users", "codes", "create", "--role", "vip", "--count", "2")) == 2
        assert daemon.process.poll() is None

    @pytest.mark.parametrize(
        "arguments",
        [
            ("users", "show", "nobody-here"),
            ("users", "show", "../.."),
            ("sessions", "show", "console:default:a/b%2e:x"),
            ("sessions", "show", ".."),
            ("why", "no-such-message"),
            ("users", "role", "nobody", "vip"),
            ("users", "codes", "create", "--role", "king"),
        ],
    )
    def test_a_refusal_is_the_same_sentence_and_code_with_and_without_a_daemon(
        self, daemon: Daemon, home: Deployment, tmp_path: Path, arguments: tuple[str, ...]
    ) -> None:
        assert daemon.process.poll() is None
        through = home.run(*arguments)
        alone = Deployment(tmp_path).run(*arguments)
        assert through.returncode == alone.returncode != 0
        assert through.stderr == alone.stderr

    def test_doctor_says_how_the_daemon_is(self, daemon: Daemon, home: Deployment) -> None:
        found = {line["check"]: line for line in home.json("doctor")}
        assert found["daemon"]["state"] == "ok"
        assert daemon.address in found["daemon"]["text"]

    def test_a_second_daemon_is_refused_and_told_who_holds(
        self, daemon: Daemon, home: Deployment
    ) -> None:
        done = home.run("run", "--port", "0")
        assert done.returncode == 73
        assert f"{daemon.process.pid}" in done.stderr
        assert "Traceback" not in done.stderr

    def test_the_address_is_shown_with_what_is_there(self, daemon: Daemon) -> None:
        assert daemon.said.startswith("jobclaw 已启动：http://127.0.0.1:")
        status, _ = daemon.ask("GET", "/healthz")
        assert status == 200
        ready = daemon.json("GET", "/readyz")
        assert ready["state"] == "ready"
        assert {"web", "console"} <= ready["channels"].keys()


def test_what_nobody_shows_waits_for_the_next_terminal_of_that_conversation(
    tmp_path: Path,
) -> None:
    home = Deployment(tmp_path)
    home.drop_in("slow", SLOW)
    with home.daemon() as daemon:
        with home.chat() as chat:
            chat.put(id="m1", user="ed", text="慢慢来")
            while not (tmp_path / "began").exists():
                assert daemon.process.poll() is None
            chat.kill()
        (tmp_path / "go").touch()
        done = home.run("chat", "--user", "ed", "--once", "/current")
        assert done.stdout.index("终于好了") < done.stdout.index("Slow")
        again = home.run("chat", "--user", "ed", "--once", "/current")
        assert "终于好了" not in again.stdout
        assert daemon.end() == 0


def test_a_signal_lets_a_running_turn_finish_and_refuses_what_is_new(tmp_path: Path) -> None:
    home = Deployment(tmp_path)
    home.drop_in("slow", SLOW)
    with home.daemon() as daemon, home.chat() as chat:
        chat.put(id="m1", user="flo", text="慢慢来")
        while not (tmp_path / "began").exists():
            assert daemon.process.poll() is None
        daemon.process.send_signal(signal.SIGTERM)
        while (answer := daemon.ask("POST", "/chat/api/messages", {}))[0] != 503:
            assert daemon.process.poll() is None
        assert json.loads(answer[1])["code"] == "http.stopping"
        (tmp_path / "go").touch()
        assert [line["text"] for line in replies(list(chat.read()))] == ["终于好了"]
        assert daemon.process.wait(timeout=40) == 0
        assert chat.process.wait(timeout=30) == 1
        assert "jobclaw run" in chat.errors()
    assert not (tmp_path / RUNNING).exists()


def test_a_second_signal_ends_it_at_once_and_nothing_is_lost(tmp_path: Path) -> None:
    home = Deployment(tmp_path)
    home.drop_in("slow", SLOW)
    with home.daemon() as daemon, home.chat() as chat:
        chat.put(id="m1", user="gus", text="慢慢来")
        while not (tmp_path / "began").exists():
            assert daemon.process.poll() is None
        daemon.process.send_signal(signal.SIGTERM)
        while daemon.ask("POST", "/chat/api/messages", {})[0] != 503:
            assert daemon.process.poll() is None
        daemon.process.send_signal(signal.SIGTERM)
        assert daemon.process.wait(timeout=10) == 130
    (tmp_path / "go").touch()
    with home.daemon() as daemon:
        done = home.run("chat", "--user", "gus", "--once", "/current")
        assert "终于好了" in done.stdout
        assert daemon.end() == 0


def test_after_kill_9_the_next_daemon_answers_and_its_stale_name_misleads_nobody(
    tmp_path: Path,
) -> None:
    home = Deployment(tmp_path)
    home.drop_in("slow", SLOW)
    with home.daemon() as daemon, home.chat() as chat:
        chat.put(id="m1", user="hal", text="慢慢来")
        while not (tmp_path / "began").exists():
            assert daemon.process.poll() is None
        daemon.kill()
        assert chat.process.wait(timeout=30) == 1
    assert (tmp_path / RUNNING).exists()
    (tmp_path / "go").touch()
    alone = home.run("chat", "--user", "hal", "--once", "/current")
    assert (alone.returncode, alone.stderr) == (0, "")
    assert "终于好了" in alone.stdout


def test_the_operator_is_told_in_their_chat_and_in_the_log(tmp_path: Path) -> None:
    config = 'router: {identity_gate: "off"}\noperator: {notify: ["console:default:ops"]}'
    home = Deployment(tmp_path, config)
    with home.daemon() as daemon:
        home.run("chat", "--user", "ida", "--once", "转人工")
        shown = home.run("chat", "--user", "ops", "--once", "/current").stdout
        assert "console:default:ida:ida" in shown
        assert daemon.end() == 0
    assert "console:default:ida:ida" in daemon.log.read_text("utf-8")


def test_doctor_names_a_channel_that_is_down_and_everything_else_works(tmp_path: Path) -> None:
    home = Deployment(tmp_path, "channels: {pigeon: {enabled: true}}")
    home.drop_in("pigeon", PIGEON)
    with home.daemon() as daemon:
        status, data = daemon.ask("GET", "/readyz")
        assert (status, json.loads(data)["channels"]["pigeon"]["state"]) == (503, "down")
        done = home.run("doctor")
        assert done.returncode == 1
        assert "pigeon" in done.stdout
        assert "no pigeon today" in done.stdout
        assert home.run("chat", "--once", "你好").returncode == 0
        assert daemon.end() == 0
    assert home.run("doctor").returncode == 0


def test_a_key_that_only_the_daemon_has_stops_no_command_beside_it(tmp_path: Path) -> None:
    home = Deployment(tmp_path, 'llm: {model: openai/test, api_key: "${DAEMONS_KEY}"}')
    verbs = (("agents",), ("decisions",), ("chat", "--once", "/current"))
    with home.daemon(DAEMONS_KEY="sk-of-the-daemon-only") as daemon:
        for verb in verbs:
            done = home.run(*verb)
            assert (done.returncode, done.stderr) == (0, "")
        assert daemon.end() == 0
    for verb in verbs:
        done = home.run(*verb)
        assert done.returncode == 78
        assert "DAEMONS_KEY" in done.stderr


def test_a_taken_port_is_a_sentence_with_the_next_command(
    daemon: Daemon, tmp_path: Path
) -> None:
    port = daemon.address.rpartition(":")[2]
    done = Deployment(tmp_path).run("run", "--port", port)
    assert done.returncode == 78
    assert f"{port}" in done.stderr
    assert "jobclaw run --port" in done.stderr


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ("channels: {web: {access: pairing}}", "access"),
        ("channels: {web: {agents: [chat]}}", "channels.web.agents"),
        ("channels: {web: {default_agent: chat}}", "channels.web.default_agent"),
        ("channels: {carrier-pigeon: {enabled: true}}", "carrier-pigeon"),
        ("web: {host: 0.0.0.0}", "--allow-remote"),
        ("web: {operator_token: short}", "operator_token"),
        ('operator: {notify: ["ops"]}', "ops"),
    ],
)
def test_a_channel_or_server_that_cannot_be_is_said_before_anything_starts(
    tmp_path: Path, config: str, named: str
) -> None:
    done = Deployment(tmp_path, config).run("run", "--port", "0")
    assert done.returncode == 78
    assert named in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
