"""The operator's token and its file."""

import os
from pathlib import Path

import pytest

from jobclaw.errors import ConfigError
from jobclaw.settings.services import WebSettings
from jobclaw.web.bind import check_bind
from jobclaw.web.token import OperatorToken

GOOD = "a-good-operator-token"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "operator.token"


def test_the_first_start_makes_a_private_random_token(tmp_path: Path, file: Path):
    token = OperatorToken("", tmp_path)
    made = token.prepare()
    assert len(made.encode()) >= 32
    assert file.read_text("ascii") == f"{made}\n"
    assert file.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [file.name]
    assert OperatorToken("", tmp_path).prepare() == made
    assert token.matches(made)
    other = tmp_path / "other"
    other.mkdir()
    assert OperatorToken("", other).prepare() != made


def test_the_settings_come_first(tmp_path: Path, file: Path):
    token = OperatorToken(GOOD, tmp_path)
    assert token.prepare() == GOOD
    assert token.matches(GOOD)
    assert not file.exists()


@pytest.mark.parametrize("guess", ["", GOOD[:-1], f"{GOOD}x", GOOD.upper(), "\udce4", "é"])
def test_another_token_is_none(tmp_path: Path, guess: str):
    assert not OperatorToken(GOOD, tmp_path).matches(guess)


def test_a_new_token_counts_at_once(tmp_path: Path, file: Path):
    token = OperatorToken("", tmp_path)
    old, before = token.prepare(), token.generation()
    file.write_text("the-second-good-token\n", "ascii")
    assert not token.matches(old)
    assert token.matches("the-second-good-token")
    assert token.generation() != before
    file.unlink()
    assert not token.matches("the-second-good-token")
    assert token.matches(file.read_text("ascii").strip())


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604])
def test_a_readable_file_is_made_private(
    tmp_path: Path, file: Path, mode: int, caplog: pytest.LogCaptureFixture
):
    token = OperatorToken("", tmp_path)
    made = token.prepare()
    file.chmod(mode)
    assert token.matches(made)
    assert file.stat().st_mode & 0o777 == 0o600
    assert "readable by others" in caplog.text
    assert made not in caplog.text


@pytest.mark.parametrize("mode", [0o660, 0o602, 0o666])
def test_a_file_that_others_may_write_is_not_believed(tmp_path: Path, file: Path, mode: int):
    token = OperatorToken("", tmp_path)
    made = token.prepare()
    file.chmod(mode)
    assert not token.matches(made)
    with pytest.raises(ConfigError, match=r"http\.token-not-ours"):
        token.prepare()
    file.chmod(0o600)
    assert token.matches(made)


@pytest.mark.parametrize("content", ["", "short\n", "changeme-changeme-changeme", "x" * 40])
def test_a_weak_token_is_none(tmp_path: Path, file: Path, content: str):
    file.write_text(content, "ascii")
    file.chmod(0o600)
    token = OperatorToken("", tmp_path)
    assert not token.matches(content.strip())
    with pytest.raises(ConfigError, match=r"http\.token-weak"):
        token.prepare()


@pytest.mark.parametrize("kind", ["link", "folder", "pipe", "dangling"])
def test_what_is_no_plain_file_is_no_token(tmp_path: Path, file: Path, kind: str):
    real = tmp_path / "real"
    real.write_text(f"{GOOD}\n", "ascii")
    real.chmod(0o600)
    if kind == "link":
        file.symlink_to(real)
    elif kind == "dangling":
        file.symlink_to(tmp_path / "nowhere")
    elif kind == "folder":
        file.mkdir()
    else:
        os.mkfifo(file, 0o600)
    token = OperatorToken("", tmp_path)
    assert not token.matches(GOOD)
    with pytest.raises(ConfigError):
        token.prepare()
    assert not (tmp_path / "nowhere").exists()


LONG = "x1" * 16
EVERYWHERE = "0.0.0.0"  # noqa: S104 - what is refused


@pytest.mark.parametrize(
    ("host", "token", "allow", "problem"),
    [
        ("127.0.0.1", GOOD, False, ""),
        ("localhost", GOOD, False, ""),
        ("::1", GOOD, False, ""),
        ("127.0.0.1", GOOD, True, ""),
        (EVERYWHERE, LONG, True, ""),
        ("192.168.1.4", LONG, True, ""),
        (EVERYWHERE, LONG, False, "http.bind-remote"),
        (EVERYWHERE, GOOD, False, "http.bind-remote"),
        (EVERYWHERE, GOOD, True, "http.bind-weak"),
        (EVERYWHERE, LONG[:-1], True, "http.bind-weak"),
        ("::", LONG, False, "http.bind-remote"),
        ("bot.example.com", LONG, False, "http.bind-remote"),
        ("bot.example.com", LONG, True, ""),
    ],
)
def test_other_machines_need_a_strong_token_and_a_wish(
    host: str, token: str, allow: bool, problem: str
):
    settings = WebSettings(host=host)
    if not problem:
        check_bind(settings, token, allow_remote=allow)
        return
    with pytest.raises(ConfigError) as raised:
        check_bind(settings, token, allow_remote=allow)
    assert raised.value.text_id == problem
