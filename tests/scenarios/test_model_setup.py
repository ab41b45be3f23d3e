"""`jobclaw init --llm`, the questions on a terminal, and `doctor --probe`."""

import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess

import pexpect
import pytest
import yaml
from driver import Deployment
from fakes.llm_server import Answer, LlmServer

PATIENCE_S = 30
KEY = "sk-setup-0123456789abc"


@pytest.fixture(scope="module")
def server() -> Iterator[LlmServer]:
    with LlmServer("ok") as running:
        yield running


@pytest.fixture
def empty(tmp_path: Path) -> Deployment:
    """A folder with a configuration of its own to be made by init."""
    deployment = Deployment(tmp_path)
    (tmp_path / "config" / "jobclaw.yaml").unlink()
    return deployment


def local(deployment: Deployment) -> Path:
    return deployment.folder / "config" / "local.yaml"


def section(deployment: Deployment) -> dict[str, str]:
    return yaml.safe_load(local(deployment).read_text("utf-8"))["llm"]


def init(deployment: Deployment, *options: str, **env: str) -> CompletedProcess[str]:
    return deployment.run("init", *options, **env)


def test_without_options_and_terminal_nothing_is_asked(empty: Deployment):
    done = init(empty)
    assert done.returncode == 0
    assert not local(empty).exists()


@pytest.mark.parametrize(
    ("preset", "model", "variable"),
    [
        ("deepseek", "deepseek/deepseek-chat", "DEEPSEEK_API_KEY"),
        ("Qwen", "dashscope/qwen-plus", "DASHSCOPE_API_KEY"),
        ("ollama", "ollama_chat/qwen2.5:7b", ""),
    ],
)
def test_a_preset_is_written_beside_what_is_there(
    empty: Deployment, preset: str, model: str, variable: str
):
    local(empty).write_text("# mine\nweb: {port: 0}\n", "utf-8")
    done = init(empty, "--llm", preset)
    assert done.returncode == 0
    assert local(empty).read_text("utf-8").startswith("# mine\nweb: {port: 0}\n")
    assert section(empty)["model"] == model
    assert section(empty)["api_key"] == (f"${{{variable}}}" if variable else "")
    assert (f"export {variable}=" in done.stdout) is bool(variable)
    given = {variable: KEY} if variable else {}
    shown = empty.run("config", "show", **given)
    assert shown.returncode == 0, shown.stderr
    assert model in shown.stdout
    assert KEY not in shown.stdout


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (("--llm", "nope"), "deepseek"),
        (("--llm", "compatible"), "--llm-model"),
        (("--llm", "compatible", "--llm-model", "m"), "--llm-api-base"),
    ],
)
def test_what_is_lacking_is_said(empty: Deployment, options: tuple[str, ...], part: str):
    done = init(empty, *options)
    assert done.returncode == 2
    assert part in done.stderr
    assert not local(empty).exists()
    assert not (empty.folder / "config" / "roles.yaml").exists()  # nothing was begun


def test_a_file_that_cannot_be_edited_is_left_alone(empty: Deployment):
    local(empty).write_text("{llm: {model: old}}\n", "utf-8")
    done = init(empty, "--llm", "ollama")
    assert done.returncode == 78
    assert local(empty).read_text("utf-8") == "{llm: {model: old}}\n"


def set_up(deployment: Deployment, server: LlmServer, *more: str) -> None:
    options = ("--llm", "compatible", "--llm-model", "test", "--llm-api-base", server.url)
    assert init(deployment, *options, *more).returncode == 0


def test_doctor_does_not_call_a_model_unless_told(empty: Deployment, server: LlmServer):
    set_up(empty, server)
    calls = len(server.asked)
    assert "jobclaw doctor --probe" in empty.run("doctor").stdout
    assert len(server.asked) == calls


FAULTS = {
    "refused": (Answer(status=401, text=f"bad {KEY}"), "llm.api_key"),
    "paid": (Answer(status=402), "llm.api_key"),
    "busy": (Answer(status=429), "429"),
    "absent": (Answer(status=404, text="no model named so"), "no model named so"),
    "silent": (Answer(fault="no-choices"), "jobclaw init --llm"),
    "broken": (Answer(status=500), "llm.api_base"),
}


def test_doctor_calls_each_model_and_says_what_is_wrong_and_what_to_do(
    empty: Deployment, server: LlmServer
):
    set_up(empty, server, "--llm-key-env", "MY_KEY")
    path = local(empty)
    names = ", ".join(f"openai/{name}" for name in FAULTS)
    path.write_text(f"{path.read_text('utf-8')}  fallbacks: [{names}]\n", "utf-8")
    calls = len(server.asked)
    server.answer = lambda asked: FAULTS.get(asked.model, ("ok", ""))[0]
    done = empty.run("doctor", "--probe", "--json", MY_KEY=KEY)
    assert done.returncode == 1
    first, *others = [one for one in yaml.safe_load(done.stdout) if one["check"] == "probe"]
    assert first["state"] == "ok"
    for line, (name, (_, hint)) in zip(others, FAULTS.items(), strict=True):
        assert line["state"] == "error"
        assert f"openai/{name}" in line["text"]
        assert hint in line["text"]
    assert KEY not in done.stdout + done.stderr
    asked = server.asked[calls:]
    assert [one.model for one in asked] == ["test", *FAULTS]
    assert {one.authorization for one in asked} == {f"Bearer {KEY}"}


class Questions:
    """`jobclaw init` on a terminal."""

    def __init__(self, deployment: Deployment, **env: str) -> None:
        self._child: pexpect.spawn[str] = pexpect.spawn(
            sys.executable,
            ["-m", "jobclaw", "init"],
            cwd=str(deployment.folder),
            env=deployment.environment(JOBCLAW_LANG="en", **env),
            encoding="utf-8",
            timeout=PATIENCE_S,
        )

    def answer(self, question: str, said: str) -> None:
        self._child.expect_exact(question)
        self._child.sendline(said)

    def end(self) -> str:
        self._child.expect(pexpect.EOF)
        said = self._child.before or ""
        self._child.close()
        assert self._child.exitstatus == 0, said
        return said


def test_on_a_terminal_enter_means_no_model(empty: Deployment):
    questions = Questions(empty)
    questions.answer("no model):", "")
    assert "keywords work all the same" in questions.end()
    assert not local(empty).exists()


def test_on_a_terminal_a_slip_is_asked_again(empty: Deployment):
    questions = Questions(empty)
    questions.answer("no model):", "deepseak")
    questions.answer("There is no provider deepseak", "")
    assert "keywords work all the same" in questions.end()


def test_on_a_terminal_it_asks_and_tries_a_server_that_needs_no_key(
    empty: Deployment, server: LlmServer
):
    server.answer = "ok"
    questions = Questions(empty)
    questions.answer("no model):", "7")
    questions.answer("interface", server.url)
    questions.answer("Model", "test")
    questions.answer("[Y/n]", "")
    assert "answered" in questions.end()
    assert section(empty)["model"] == "openai/test"
    assert section(empty)["api_key"] == ""


def test_on_a_terminal_the_probe_can_wait(empty: Deployment, server: LlmServer):
    calls = len(server.asked)
    questions = Questions(empty, MY_KEY=KEY)
    questions.answer("no model):", "deepseek")
    questions.answer("Model", "")
    questions.answer("holds the key", "MY_KEY")
    questions.answer("[Y/n]", "n")
    assert "jobclaw doctor --probe" in questions.end()
    assert section(empty)["api_key"] == "${MY_KEY}"
    assert len(server.asked) == calls
