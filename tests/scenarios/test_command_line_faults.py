"""What the command line says and returns where a terminal, argument or file lets it down."""

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from driver import Deployment

PROGRAM = f"{sys.executable} -m jobclaw"
LOST = 'echo \'{{"text":"你好"}}\' | {program} chat --jsonl'


def shell(
    deployment: Deployment, script: str, **more: str
) -> subprocess.CompletedProcess[bytes]:
    """Run a line of shell; `{program}` stands for jobclaw."""
    return subprocess.run(
        ["/bin/bash", "-c", script.format(program=PROGRAM)],
        cwd=deployment.folder,
        env=deployment.environment(**more),
        capture_output=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    "script",
    [
        "{program} chat --once 你好 >/dev/full",
        "{program} chat --once 你好 >&-",
        "echo 你好 | {program} chat >/dev/full",
        LOST + " >/dev/full",
        LOST + " >&-",
    ],
)
def test_an_output_that_refuses_ends_the_chat_and_keeps_the_answer(
    deployment: Deployment, script: str
):
    failed = shell(deployment, script)
    assert failed.returncode == 74
    [sentence] = failed.stderr.decode().splitlines()
    assert "输出写不出去" in sentence
    with deployment.chat() as chat:
        replies = [line for line in chat.wait() if line["type"] == "reply"]
        assert len(replies) == 1
        assert chat.end() == []


@pytest.mark.parametrize(
    "script",
    [
        "{program} chat --once 你好 | true",
        LOST + " | true",
        "{program} agents | true",
    ],
)
def test_a_reader_that_has_gone_ends_everything_in_silence(deployment: Deployment, script: str):
    failed = shell(deployment, f"set -o pipefail; {script}")
    assert failed.returncode in {1, 141}
    assert failed.stderr == b""


@pytest.mark.parametrize("command", ["agents", "--help", "version", "config show"])
def test_an_output_that_refuses_is_an_error_of_every_command(
    deployment: Deployment, command: str
):
    failed = shell(deployment, f"{{program}} {command} >/dev/full")
    assert failed.returncode == 74
    assert failed.stderr.decode().count("\n") == 1


@pytest.mark.parametrize("coding", ["ascii", "latin-1", "gbk"])
def test_everything_leaves_as_utf8(deployment: Deployment, coding: str):
    for script in ("{program} chat --once 你好", LOST, "{program} agents"):
        done = shell(deployment, script, PYTHONIOENCODING=coding)
        assert done.returncode == 0, done.stderr
        assert any(char >= "一" for char in done.stdout.decode())


def test_a_chat_shows_only_what_belongs_to_its_conversation(deployment: Deployment):
    assert shell(deployment, "{program} chat --once 你好 --user other >/dev/full").returncode
    mine = deployment.run("chat", "--once", "/help", "--user", "me")
    assert mine.returncode == 0
    assert mine.stdout.count("›") == 1
    other = deployment.run("chat", "--once", "/help", "--user", "other")
    assert other.stdout.count("›") == 2
    with deployment.chat() as chat:
        assert chat.end() == []


@pytest.mark.parametrize(
    "script",
    [
        "{program} route --json $'\\xff'",
        "{program} chat --once $'\\xff bad'",
        "{program} why $'\\xc3('",
        "{program} decisions --limit 99999999999999999999",
        "{program} decisions --limit many",
        "{program} users list --limit 0",
        "{program} users codes create --days 99999999",
        "{program} users role u1 vip --days 3651",
    ],
)
def test_an_argument_that_cannot_be_is_wrong_usage(deployment: Deployment, script: str):
    failed = shell(deployment, script)
    assert failed.returncode == 2
    assert failed.stdout == b""
    assert failed.stderr.decode().count("\n") == 1
    assert "jobclaw-error" not in failed.stderr.decode()


def test_codes_may_be_good_for_ten_years(deployment: Deployment):
    assert deployment.run("users", "codes", "create", "--days", "3650").returncode == 0


@pytest.mark.parametrize("folder", ["/dev/null", "/proc/x", "/sys"])
def test_init_where_nothing_can_be_written(deployment: Deployment, folder: str):
    failed = deployment.run("init", folder)
    assert failed.returncode == 74
    assert folder in failed.stderr
    assert failed.stderr.count("\n") == 1


def test_why_before_anything_was_said(deployment: Deployment):
    failed = deployment.run("why", JOBCLAW_LANG="en")
    assert failed.returncode == 2
    assert failed.stderr == "Nothing is recorded yet. Say something first: jobclaw chat\n"


def test_a_second_chat_names_the_first(deployment: Deployment):
    with deployment.chat() as chat:
        chat.wait()
        second = deployment.run("chat", "--once", "你好", JOBCLAW_LANG="en")
        assert second.returncode == 73
        assert f"jobclaw chat (process {chat.process.pid}" in second.stderr
        assert "jobclaw jobclaw" not in second.stderr


def test_a_terminal_that_hangs_up_lets_the_chat_finish(deployment: Deployment):
    with deployment.chat() as chat:
        chat.say("你好")
        chat.process.send_signal(signal.SIGHUP)
        assert list(chat.read()) == []
        assert chat.process.wait(timeout=30) == 0, chat.errors()


def test_a_very_long_name_leaves_the_list_readable(deployment: Deployment):
    with deployment.chat() as chat:
        chat.say("你好", user="长" * 100_000)
    listed = deployment.run("users", "list")
    assert listed.returncode == 0
    assert all(len(line) < 1000 for line in listed.stdout.splitlines())


def test_the_exit_code_tells_where_standard_error_is_shut(
    deployment: Deployment, tmp_path: Path
):
    assert os.access("/dev/full", os.W_OK)
    for closed in ("2>&-", "2>/dev/full"):
        script = f"{{program}} config check --config {tmp_path}/none.yaml {closed}"
        assert shell(deployment, script).returncode == 78


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ("intent: {keywords_file: /dev/zero}", "/dev/zero"),
        ("intent: {keywords_file: pipe}", "pipe"),
        ("roles: {file: pipe}", "pipe"),
        ("llm: {model: 'file:pipe'}", "llm.model"),
        ("llm: {model: 'file:/dev/zero'}", "/dev/zero"),
    ],
)
def test_what_never_ends_is_not_read(deployment: Deployment, config: str, named: str):
    os.mkfifo(deployment.folder / "pipe")
    deployment.configure(config)
    for command in (["config", "check"], ["doctor"]):
        failed = deployment.run(*command)
        assert failed.returncode in {1, 78}
        assert "不是普通文件" in failed.stdout + failed.stderr
        assert named in failed.stdout + failed.stderr


def test_a_pipe_in_place_of_the_configuration(deployment: Deployment):
    os.mkfifo(deployment.folder / "pipe")
    for file in ("pipe", "/dev/zero"):
        failed = deployment.run("config", "check", "--config", file)
        assert failed.returncode == 78
        assert "不是普通文件" in failed.stderr


def test_a_control_character_is_shown_with_its_line(deployment: Deployment):
    deployment.configure("locale: {}\nrouter:\n  default_agent: 'a\0b'\n")
    failed = deployment.run("config", "check")
    assert failed.returncode == 78
    assert "第 3 行" in failed.stderr


def test_doctor_names_a_damaged_journal_so_that_the_advice_works(deployment: Deployment):
    with deployment.chat() as chat:
        chat.say("你好")
        chat.end()
    journal = deployment.workspace / "journal.db"
    journal.write_bytes(b"not a database, but longer than a page header is" * 40)
    failed = deployment.run("doctor")
    assert failed.returncode == 1
    assert f"mv {journal} {journal}.damaged" in failed.stdout
    assert "mode=ro" not in failed.stdout


PLACES = "locale: {}\n"


@pytest.mark.parametrize(
    ("config", "path", "value"),
    [
        ("router: {default_agent: nosuch}", "router.default_agent", "nosuch"),
        ("router: {required_fields: [skills, shoe]}", "router.required_fields[1]", "shoe"),
        ("roles: {file: config/none.yaml}", "roles.file", "none.yaml"),
        ("plugins: {disabled: [chat, ghost]}", "plugins.disabled[1]", "ghost"),
        ("channels: {nosuch: {enabled: true}}", "channels.nosuch", "nosuch"),
        ("channels: {web: {default_agent: ghost}}", "channels.web.default_agent", "ghost"),
        ("channels: {web: {agents: [chat, ghost]}}", "channels.web.agents[1]", "ghost"),
    ],
)
def test_a_name_that_nothing_answers_to_is_named_with_its_place(
    deployment: Deployment, config: str, path: str, value: str
):
    deployment.configure(f"{PLACES}{config}\n")
    for command, code in (("config check", 78), ("doctor", 1)):
        failed = deployment.run(*command.split())
        said = failed.stdout + failed.stderr
        assert failed.returncode == code, said
        [line] = [line for line in said.splitlines() if f"jobclaw.yaml:2：{path} " in line]
        assert value in line


@pytest.mark.parametrize(
    ("config", "code"),
    [
        ("router: {default_agent: nosuch}", 78),
        ("router: {required_fields: [shoe]}", 78),
        ("router: {required_fields: [shoe], identity_gate: 'off'}", 0),
        ("router: {required_fields: []}", 0),
    ],
)
def test_a_chat_does_not_start_with_a_router_that_cannot_work(
    deployment: Deployment, config: str, code: int
):
    deployment.configure(config)
    assert deployment.run("chat", "--once", "你好").returncode == code


HEAD = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8"\n\n'


@pytest.mark.parametrize(
    ("sentence", "named"),
    [
        ('msgid "router.nosuch"\nmsgstr "x"', "router.nosuch"),
        ('msgid "users.unknown"\nmsgstr "no {usr}"', "usr"),
        ('msgid "users.unknown"\nmsgstr "no {user"', "users.unknown"),
        ('msgid "identity.done"\nmsgstr "{shoe}"', "shoe"),
        ('msgid "users.unknown\nmsgstr broken', "own.zh.po"),
    ],
)
def test_a_sentence_of_ones_own_that_cannot_work(
    deployment: Deployment, sentence: str, named: str
):
    folder = deployment.folder / "config" / "locales"
    folder.mkdir()
    (folder / "own.zh.po").write_text(f"{HEAD}{sentence}\n", "utf-8")
    failed = deployment.run("config", "check")
    assert failed.returncode == 78
    assert "own.zh.po" in failed.stderr
    assert named in failed.stderr


def test_sentences_of_ones_own_that_are_good(deployment: Deployment):
    folder = deployment.folder / "config" / "locales"
    folder.mkdir()
    sentences = (
        'msgid "users.unknown"\nmsgstr "查无此人：{user}"',
        'msgid "console.hello"\nmsgstr "嗨"',
    )
    (folder / "own.zh.po").write_text(HEAD + "\n\n".join(sentences) + "\n", "utf-8")
    assert deployment.run("config", "check").returncode == 0


@pytest.mark.parametrize("language", ["zh", "en"])
def test_a_line_that_is_refused_has_a_code_and_a_sentence(
    deployment: Deployment, language: str
):
    with deployment.chat(JOBCLAW_LANG=language) as chat:
        chat.put_raw(b"{\n")
        [error] = chat.wait()
        assert error["code"] == "console.bad-line"
        assert error["error"].startswith({"zh": "这一行", "en": "This line"}[language])


def test_a_disk_that_is_full_is_a_sentence_for_scripts(deployment: Deployment):
    """No file may grow beyond what it is now: what a full disk does to the journal."""
    with deployment.chat() as chat:
        chat.say("你好")
        resource.prlimit(chat.process.pid, resource.RLIMIT_FSIZE, (1, 1))
        errors = [line for line in chat.tell("还在吗") if line["type"] == "error"]
        assert errors
        assert errors[0]["code"].startswith("storage.")
        assert errors[0]["error"] != errors[0]["code"]
        assert errors[0]["error"][0] >= "一"
