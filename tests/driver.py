"""Drives the real command line from tests: `jobclaw chat --jsonl` and one-shot verbs.

Nothing here knows the inside of jobclaw: what it sends and reads is the interface of design.md.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import textwrap
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self, cast

JsonLine = dict[str, Any]
COMPILED = Path(__file__).resolve().parents[1] / ".pytest_cache" / "compiled"
PLAIN_CONFIG = """
    router: {identity_gate: "off"}
"""


class Deployment:
    """A folder with a configuration, drop-in agents and a workspace of its own."""

    def __init__(self, folder: Path, config: str = PLAIN_CONFIG) -> None:
        self.folder = folder
        self.workspace = folder / "workspace"
        (folder / "config").mkdir(parents=True, exist_ok=True)
        (folder / "agents").mkdir(exist_ok=True)
        self.configure(config)

    def configure(self, config: str) -> None:
        """Write config/jobclaw.yaml."""
        path = self.folder / "config" / "jobclaw.yaml"
        path.write_text(textwrap.dedent(config), "utf-8")

    def drop_in(self, name: str, source: str) -> Path:
        """Write a drop-in agent, at once whole."""
        path = self.folder / "agents" / f"{name}.py"
        new = path.with_suffix(".new")
        new.write_text(textwrap.dedent(source), "utf-8")
        new.replace(path)
        return path

    def environment(self, **more: str) -> dict[str, str]:
        """The environment of its processes: nothing of the developer's configuration."""
        kept = {name: value for name, value in os.environ.items() if "JOBCLAW" not in name}
        kept.pop("PYTHONDONTWRITEBYTECODE", None)  # compiling everything takes half of a start
        return {**kept, "JOBCLAW_LANG": "zh", "PYTHONPYCACHEPREFIX": str(COMPILED), **more}

    def run(self, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Run one verb to its end."""
        return subprocess.run(
            [sys.executable, "-m", "jobclaw", *arguments],
            cwd=self.folder,
            env=self.environment(**more),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def json(self, *arguments: str) -> Any:
        """Run one verb with `--json` and decode what it prints."""
        done = self.run(*arguments, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def chat(self, *arguments: str, **more: str) -> "Chat":
        """Start `jobclaw chat --jsonl`."""
        return Chat(self, arguments, more)

    def daemon(self, *arguments: str, **more: str) -> "Daemon":
        """Start `jobclaw run` on a free port."""
        return Daemon(self, arguments, more)

    def session_files(self) -> list[Path]:
        """The binding files."""
        return sorted((self.workspace / "sessions").glob("*/session-*.yaml"))


class Chat:
    """A running `jobclaw chat --jsonl`."""

    def __init__(
        self, deployment: Deployment, arguments: tuple[str, ...], more: Mapping[str, str]
    ) -> None:
        self.lines: list[JsonLine] = []
        self._waits = 0
        self.process = subprocess.Popen(
            [sys.executable, "-m", "jobclaw", "chat", "--jsonl", *arguments],
            cwd=deployment.folder,
            env=deployment.environment(**more),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(timeout=30)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            with contextlib.suppress(BrokenPipeError):
                stream.close()

    def put(self, **line: object) -> None:
        """Write one input line."""
        assert self.process.stdin is not None
        data = json.dumps(line, ensure_ascii=False).encode() + b"\n"
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def put_raw(self, data: bytes) -> None:
        """Write bytes as they are."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def read(self) -> Iterator[JsonLine]:
        """Yield output lines as they come, to the end of output."""
        assert self.process.stdout is not None
        for data in self.process.stdout:
            line = cast("JsonLine", json.loads(data))
            self.lines.append(line)
            yield line

    def wait(self) -> list[JsonLine]:
        """Wait until everything put so far is handled and answered; what came meanwhile."""
        self._waits += 1
        mark = f"wait-{self._waits}"
        self.put(op="wait", id=mark)
        seen: list[JsonLine] = []
        for line in self.read():
            if line == {"type": "idle", "id": mark}:
                return seen
            seen.append(line)
        raise AssertionError(f"the chat ended early: {self.errors()}")

    def say(self, text: str, **more: object) -> JsonLine:
        """Say one thing and return the one reply to it."""
        replies = [line for line in self.tell(text, **more) if line["type"] == "reply"]
        assert len(replies) == 1, replies
        return replies[0]

    def tell(self, text: str, **more: object) -> list[JsonLine]:
        """Say one thing and return everything that came of it."""
        self.put(text=text, **more)
        return self.wait()

    def decide(self, text: str, **more: object) -> JsonLine:
        """Say one thing and return the decision about it."""
        decisions = [line for line in self.tell(text, **more) if line["type"] == "decision"]
        assert len(decisions) == 1, decisions
        return decisions[0]

    def press(self, button: str, **more: object) -> list[JsonLine]:
        """Press a button."""
        self.put(button=button, **more)
        return self.wait()

    def end(self) -> list[JsonLine]:
        """End the input, wait for the process, and return what was left to read."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        rest = list(self.read())
        assert self.process.wait(timeout=30) == 0, self.errors()
        return rest

    def kill(self) -> list[JsonLine]:
        """`kill -9`, and what had been written before it."""
        self.process.send_signal(signal.SIGKILL)
        rest = list(self.read())
        self.process.wait(timeout=30)
        return rest

    def errors(self) -> str:
        """What was written to standard error."""
        assert self.process.stderr is not None
        self.process.kill()
        return self.process.stderr.read().decode()


class Speaker:
    """One user of a chat that several tests share."""

    def __init__(self, chat: Chat, user: str) -> None:
        self.chat = chat
        self.user = user

    def _as_user(self, more: dict[str, object]) -> dict[str, object]:
        return {"user": self.user, **more}

    def say(self, text: str, **more: object) -> JsonLine:
        """See `Chat.say`."""
        return self.chat.say(text, **self._as_user(more))

    def tell(self, text: str, **more: object) -> list[JsonLine]:
        """See `Chat.tell`."""
        return self.chat.tell(text, **self._as_user(more))

    def decide(self, text: str, **more: object) -> JsonLine:
        """See `Chat.decide`."""
        return self.chat.decide(text, **self._as_user(more))

    def press(self, button: str, **more: object) -> list[JsonLine]:
        """See `Chat.press`."""
        return self.chat.press(button, **self._as_user(more))


def replies(lines: list[JsonLine]) -> list[JsonLine]:
    """Only the replies."""
    return [line for line in lines if line["type"] == "reply"]


def decisions(lines: list[JsonLine]) -> list[JsonLine]:
    """Only the decisions."""
    return [line for line in lines if line["type"] == "decision"]


class Daemon:
    """A running `jobclaw run` on a free port."""

    def __init__(
        self, deployment: Deployment, arguments: tuple[str, ...], more: Mapping[str, str]
    ) -> None:
        self.deployment = deployment
        self.log = deployment.folder / "daemon.log"
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "jobclaw", "run", "--port", "0", *arguments],
                cwd=deployment.folder,
                env=deployment.environment(**more),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
            )
        assert self.process.stdout is not None
        self.said = self.process.stdout.readline().decode()
        self.address = self.said.strip().rpartition(" ")[2].rpartition("：")[2]
        if not self.address.startswith("http://"):
            self.process.kill()
            raise AssertionError(f"no address: {self.said} {self.log.read_text('utf-8')}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(timeout=30)
        assert self.process.stdout is not None
        self.process.stdout.close()

    @property
    def token(self) -> str:
        """The operator's token."""
        return (self.deployment.workspace / "operator.token").read_text("utf-8").strip()

    def rest_of_output(self) -> str:
        """What it says further, to the end of its life."""
        assert self.process.stdout is not None
        return self.process.stdout.read().decode()

    def ask(
        self, method: str, path: str, body: object = None, **headers: str
    ) -> tuple[int, bytes]:
        """Ask over HTTP as the operator; status and body."""
        data = None if body is None else json.dumps(body, ensure_ascii=False).encode()
        given = (
            headers
            if "Authorization" in headers
            else {"Authorization": f"Bearer {self.token}", **headers}
        )
        if data is not None:
            given.setdefault("Content-Type", "application/json")
        request = urllib.request.Request(  # noqa: S310 - our own server
            f"{self.address}{path}", data=data, headers=given, method=method
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as response:  # noqa: S310 - as above
                return response.status, response.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read()

    def json(self, method: str, path: str, body: object = None) -> Any:
        """Ask over HTTP as the operator and decode a good answer."""
        status, data = self.ask(method, path, body)
        assert 200 <= status < 300, (status, data)
        return json.loads(data)

    def end(self) -> int:
        """SIGTERM, and the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=40)

    def kill(self) -> None:
        """`kill -9`."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(timeout=30)
