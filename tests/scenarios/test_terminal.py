"""`jobclaw chat` as a person meets it: a real terminal, its keys, its colours, its mistakes."""

import os
import re
import stat
import subprocess
import sys
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pexpect
import pytest
from driver import Chat, Deployment

PATIENCE_S = 30.0
PROMPT = "\n› "
CYAN = "\x1b[36m"

SLOW = """
import asyncio
from pathlib import Path

from jobclaw.spi import Agent, AgentIntro, Markdown, hookimpl

PIPE = Path(__file__).with_name("slow.pipe")


class SlowAgent(Agent):
    intro = AgentIntro(id="slow", name="慢", description="tells half, then waits for the pipe")

    async def handle(self, request):
        yield Markdown("前一半，")
        said = await asyncio.to_thread(read)
        yield Markdown(said)


def read():
    with PIPE.open(encoding="utf-8") as pipe:
        return pipe.readline().strip()


@hookimpl
def jobclaw_agents():
    return [SlowAgent()]
"""


class Screen:
    """A shell on a terminal of its own, with a chat in it."""

    def __init__(self, deployment: Deployment, command: str, more: dict[str, str]) -> None:
        environment = deployment.environment(TERM="xterm", **more)
        if "NO_COLOR" not in more:
            environment.pop("NO_COLOR", None)
        program = f"trap : INT; {sys.executable} -m jobclaw {command}; echo ended=$?; stty -a"
        self._child: pexpect.spawn[str] = pexpect.spawn(
            "/bin/sh",
            ["-c", program],
            cwd=str(deployment.folder),
            env=environment,
            encoding="utf-8",
            timeout=PATIENCE_S,
            dimensions=(40, 120),
        )

    def until(self, text: str) -> str:
        """Wait for a text and return what came before it."""
        self._child.expect_exact(text)
        return str(self._child.before)

    def type(self, line: str) -> str:
        """Type a line and return all that is shown until the next prompt."""
        self._child.sendline(line)
        return self.until(PROMPT)

    def start(self, line: str) -> None:
        """Type a line and go on."""
        self._child.sendline(line)

    def keys(self, keys: str) -> None:
        """Type keys without Enter."""
        self._child.send(keys)

    def press(self, key: str) -> None:
        """Press Ctrl and a letter."""
        self._child.sendcontrol(key)

    def insist(self, key: str) -> None:
        """Press Ctrl and a letter until the program ends."""
        for _ in range(int(PATIENCE_S / 0.2)):
            self.press(key)
            if self._child.expect_exact(["ended=", pexpect.TIMEOUT], timeout=0.2) == 0:
                return
        raise AssertionError("the program does not end")

    def end(self) -> tuple[int, str]:
        """Wait for the program's end; its exit code and how the terminal is set then."""
        self.until("ended=")
        return self.ended()

    def ended(self) -> tuple[int, str]:
        """The exit code that was shown, and how the terminal is set."""
        self._child.expect(pexpect.EOF)
        code, _, terminal = str(self._child.before).partition("\n")
        return int(code), terminal

    def close(self) -> None:
        """Kill what is left."""
        self._child.close(force=True)


@contextmanager
def screen(deployment: Deployment, command: str = "chat", **more: str) -> Generator[Screen]:
    shown = Screen(deployment, command, more)
    try:
        yield shown
    finally:
        shown.close()


def is_usable(terminal: str) -> bool:
    """Whether it shows what is typed and waits for Enter."""
    return {"echo", "icanon", "isig"} <= set(terminal.split())


class Slow(Deployment):
    """A deployment whose slow agent tells the second half when it is let go."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.drop_in("slow", SLOW)
        pipe = folder / "agents" / "slow.pipe"
        os.mkfifo(pipe)
        self.pipe = os.open(pipe, os.O_RDWR)

    def let_go(self) -> None:
        """Let the agent go on, now or when it comes to that."""
        os.write(self.pipe, "后一半\n".encode())


@pytest.fixture
def slow(tmp_path: Path) -> Iterator[Slow]:
    deployment = Slow(tmp_path)
    yield deployment
    os.close(deployment.pipe)


def test_a_conversation_and_its_history(deployment: Deployment):
    with screen(deployment) as shown:
        assert "Ctrl-D" in shown.until(PROMPT)
        assert "Java 后端开发工程师" in shown.type("推荐几个 Java 岗位")
        shown.press("d")
        code, terminal = shown.end()
    assert (code, is_usable(terminal)) == (0, True)
    history = deployment.workspace / "chat_history"
    assert stat.S_IMODE(history.stat().st_mode) == 0o600
    assert history.read_text("utf-8") == "推荐几个 Java 岗位\n"
    with screen(deployment) as shown:
        shown.until(PROMPT)
        shown.keys("\x1b[A")  # the arrow up
        assert "Java 后端开发工程师" in shown.type("")
        shown.press("d")
        assert shown.end()[0] == 0


def test_an_answer_is_shown_while_it_is_written(slow: Slow):
    with screen(slow) as shown:
        shown.until(PROMPT)
        shown.start("/slow 开始")
        shown.until("前一半，")
        slow.let_go()
        assert "前一半" not in shown.until("后一半"), "what is there is not written again"
        shown.until(PROMPT)


def test_a_button_is_pressed_by_its_number(tmp_path: Path):
    deployment = Deployment(tmp_path, "")
    with screen(deployment) as shown:
        shown.until(PROMPT)
        assert "1. 跳过" in shown.type("帮我看看有没有合适的 Java 岗位")
        assert "Java 后端开发工程师" in shown.type("1")
        greeting = shown.type("/start")
        assert re.findall(r"\n(\d)\. ", greeting) == ["1", "2", "3"]
        shown.type("1")  # the first example asks for the profile
        shown.press("d")
        assert shown.end()[0] == 0
    assert deployment.json("decisions")[0]["agent"] == "identity"


@pytest.mark.parametrize("typed", ["", "half a line"])
def test_ctrl_c_at_the_prompt_ends_and_leaves_the_terminal_usable(
    deployment: Deployment, typed: str
):
    with screen(deployment) as shown:
        shown.until(PROMPT)
        shown.keys(typed)
        shown.until(typed)
        shown.press("c")
        code, terminal = shown.end()
    assert (code, is_usable(terminal)) == (0, True)


def test_ctrl_c_lets_the_answer_under_way_finish(slow: Slow):
    with screen(slow) as shown:
        shown.until(PROMPT)
        shown.start("/slow 开始")
        shown.until("前一半，")
        shown.press("c")
        slow.let_go()
        shown.until("后一半")
        code, terminal = shown.end()
    assert (code, is_usable(terminal)) == (0, True)


def test_ctrl_c_twice_ends_at_once_and_the_next_start_answers(slow: Slow):
    with screen(slow) as shown:
        shown.until(PROMPT)
        shown.start("/slow 开始")
        shown.until("前一半，")
        shown.insist("c")
        code, terminal = shown.ended()
    assert (code, is_usable(terminal)) == (130, True)
    slow.let_go()
    with screen(slow) as shown:
        shown.until("后一半")
        shown.press("d")
        assert shown.end()[0] == 0
    assert [one["outcome"] for one in slow.json("decisions")] == ["answered"]


@pytest.mark.parametrize(("more", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colour_unless_nobody_wants_it(
    deployment: Deployment, more: dict[str, str], coloured: bool
):
    with screen(deployment, "chat --once /whoami", **more) as shown:
        said = shown.until("ended=")
    assert "console:default:u1" in said
    assert (CYAN in said) == coloured


def test_once_says_one_thing_and_ends(deployment: Deployment):
    done = deployment.run(
        "chat", "--once", "推荐几个 Java 岗位", "--user", "u7", "--role", "vip"
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("job-recommend › ")
    assert "\x1b" not in done.stdout
    [decision] = deployment.json("decisions")
    assert (decision["role"], decision["session"]) == ("vip", "console:default:u7:u7")


def test_piped_lines_are_answered_one_after_the_other(deployment: Deployment):
    done = subprocess.run(
        [sys.executable, "-m", "jobclaw", "chat"],
        cwd=deployment.folder,
        env=deployment.environment(),
        input="推荐几个 Java 岗位\r\n\n薪资多少",
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert [line[:16] for line in done.stdout.splitlines() if "›" in line] == [
        "job-recommend › ",
        "job-recommend › ",
    ]


WRONG = [
    ("chat", "--nonsense"),
    ("chat", "--jsnol"),
    ("chat", "too", "much"),
    ("chat", "--once"),
    ("chat", "--once", "x", "--jsonl"),
    ("chat", "--role", "king"),
    ("caht",),
    ("nonsense",),
    ("users", "role", "u1"),
    ("users", "role", "u1", "king"),
    ("decisions", "--limit", "0"),
    ("decisions", "--limit", "many"),
    ("why", "some-id", "--last"),
    ("why", "no-such-message"),
    ("sessions", "show", "no-such-session"),
]


@pytest.mark.parametrize("arguments", WRONG, ids=" ".join)
def test_a_wrong_command_line_gets_one_sentence(deployment: Deployment, arguments: list[str]):
    for language, is_chinese in (("zh", True), ("en", False)):
        done = deployment.run(*arguments, JOBCLAW_LANG=language)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.count("\n") == 1, done.stderr
        assert "Traceback" not in done.stderr
        assert bool(re.search(r"[\u4e00-\u9fff]", done.stderr)) == is_chinese


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Deployment, Chat]]:
    """A deployment whose workspace a chat holds; one message has been answered."""
    deployment = Deployment(tmp_path_factory.mktemp("held"))
    chat = deployment.chat()
    timer = threading.Timer(3 * PATIENCE_S, chat.process.kill)
    timer.start()
    with chat:
        chat.say("推荐几个 Java 岗位", id="m1")
        yield deployment, chat
    timer.cancel()


def test_a_second_chat_names_who_holds_the_workspace(held: tuple[Deployment, Chat]):
    deployment, chat = held
    for language in ("zh", "en"):
        done = deployment.run("chat", "--once", "x", JOBCLAW_LANG=language)
        assert (done.returncode, done.stdout) == (73, "")
        assert "jobclaw chat" in done.stderr
        assert str(chat.process.pid) in done.stderr
        assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (("why", "m1"), "推荐"),
        (("decisions",), "job-recommend"),
        (("sessions", "list"), "console:default:u1:u1"),
        (("sessions", "show", "console:default:u1:u1"), "RECOMMEND"),
        (("users", "list"), "console:default:u1"),
        (("users", "show", "u1"), "console:default:u1"),
        (("agents",), "job-recommend"),
        (("route", "推荐几个 Java 岗位"), "推荐"),
        (("doctor",), "✓"),
    ],
    ids=str,
)
def test_other_verbs_look_while_a_chat_runs(
    held: tuple[Deployment, Chat], arguments: tuple[str, ...], shown: str
):
    done = held[0].run(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    assert shown in done.stdout


def test_changes_made_beside_a_chat_count_at_its_next_message(held: tuple[Deployment, Chat]):
    deployment, chat = held
    assert "普通用户" in chat.say("/whoami")["text"]
    assert deployment.run("users", "role", "u1", "vip", "--days", "3").returncode == 0
    assert "VIP" in chat.say("/whoami")["text"]
    assert chat.decide("薪资多少")["step"] == "binding"
    assert deployment.run("sessions", "reset", "console:default:u1:u1").returncode == 0
    assert chat.decide("薪资多少")["step"] != "binding"


def test_two_speakers_of_one_turn_stand_in_order_on_lines_of_their_own(tmp_path: Path):
    gated = Deployment(tmp_path, "")
    for text in ("推荐几个 Java 岗位", "Java"):
        gated.run("chat", "--once", text)
    shown = gated.run("chat", "--once", "浙大 计算机 2026届").stdout
    lines = shown.splitlines()
    assert lines[0].startswith("identity ›")
    assert any(line.startswith("job-recommend ›") for line in lines[1:])
    assert shown.count("›") == 2
