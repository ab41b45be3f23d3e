"""Roles are exact, fail closed, and follow their file."""

import logging
import os
from pathlib import Path

import pytest

from jobclaw.errors import ConfigError
from jobclaw.settings.roles import RoleFile, load_roles


def write(path: Path, text: str, at: int = 0) -> Path:
    path.write_text(text, "utf-8")
    os.utime(path, ns=(at, at))
    return path


class Ticks:
    """A monotonic clock that a test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_exact_identities(tmp_path: Path):
    table = load_roles(
        write(
            tmp_path / "roles.yaml",
            'admin: ["telegram:123456:987", "dingtalk:default:$:LWCP_v1:$x"]\n'
            'vip: ["telegram:123456:0061234", "telegram:123456:987", "console:default:no"]\n',
        )
    )
    assert table.role_of("telegram", "123456", "987") == "admin", "the higher role counts"
    assert table.role_of("dingtalk", "default", "$:LWCP_v1:$x") == "admin"
    assert table.role_of("telegram", "123456", "0061234") == "vip"
    assert table.role_of("console", "default", "no") == "vip"
    for identity in [("telegram", "123456", "61234"), ("telegram", "", "987"), ("", "", "")]:
        assert table.role_of(*identity) is None


@pytest.mark.parametrize("text", ["", "# nobody", "{}", "admin:", "admin: []\nvip: []"])
def test_an_empty_table_lists_nobody(tmp_path: Path, text: str):
    assert not load_roles(write(tmp_path / "roles.yaml", text)).roles


def test_a_missing_table_lists_nobody(tmp_path: Path):
    assert not load_roles(tmp_path / "absent.yaml").roles


@pytest.mark.parametrize(
    ("text", "line", "text_id"),
    [
        ("admin: [987654]", 1, "id-not-text"),
        ("vip: []\nadmin:\n  - 'a:b:c'\n  - 0061234", 4, "id-not-text"),
        ("admin: [1e5]", 1, "bad-identity"),
        ("admin: [no]", 1, "id-not-text"),
        ("admin: [~]", 1, "id-not-text"),
        ("admin: [1:30]", 1, "id-not-text"),
        ("admin: ['1:30']", 1, "bad-identity"),
        ("admin: ['987']", 1, "bad-identity"),
        ("admin: ['*']", 1, "bad-identity"),
        ("admin: ['telegram:x:*']", 1, "bad-identity"),
        ("admin: ['telegram::987']", 1, "bad-identity"),
        ("admin: ['telegram:x: ']", 1, "bad-identity"),
        ("admin: 'telegram:x:987'", 1, "not-list"),
        ("admin: {a: b}", 1, "not-list"),
        ("vip: []\nroot: ['a:b:c']", 2, "unknown-key-of"),
        ("free: ['a:b:c']", 1, "unknown-key-of"),
    ],
)
def test_a_malformed_table_is_refused_with_the_line(
    tmp_path: Path, text: str, line: int, text_id: str
):
    path = write(tmp_path / "roles.yaml", text)
    with pytest.raises(ConfigError) as caught:
        load_roles(path)
    (problem,) = caught.value.problems
    assert problem.text_id == f"config.{text_id}"
    assert problem.values["where"] == f"{path}:{line}"


@pytest.mark.parametrize("text", ["[]", "text", "admin: [", "admin: []\nadmin: []"])
def test_what_is_no_table_is_refused(tmp_path: Path, text: str):
    with pytest.raises(ConfigError):
        load_roles(write(tmp_path / "roles.yaml", text))


def test_the_file_is_followed_once_a_second(tmp_path: Path):
    path, ticks = tmp_path / "roles.yaml", Ticks()
    roles = RoleFile(path, monotonic=ticks)
    assert roles.role_of("t", "a", "1") is None
    write(path, "vip: ['t:a:1']", at=1)
    ticks.now = 0.9
    assert roles.role_of("t", "a", "1") is None
    ticks.now = 1.0
    assert roles.role_of("t", "a", "1") == "vip"
    write(path, "admin: ['t:a:1']", at=2)
    ticks.now = 2.0
    assert roles.role_of("t", "a", "1") == "admin"
    path.unlink()
    ticks.now = 3.0
    assert roles.role_of("t", "a", "1") is None


def test_a_broken_version_keeps_the_last_good_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    path, ticks = write(tmp_path / "roles.yaml", "vip: ['t:a:1']", at=1), Ticks()
    roles = RoleFile(path, monotonic=ticks)
    assert roles.role_of("t", "a", "1") == "vip"
    assert roles.problem is None
    write(path, "vip: ['t:a:1', 5]\nadmin: ['t:a:2']", at=2)
    with caplog.at_level(logging.WARNING):
        for tick in range(1, 5):
            ticks.now = float(tick)
            assert roles.role_of("t", "a", "1") == "vip"
            assert roles.role_of("t", "a", "2") is None
    assert len(caplog.records) == 1
    assert roles.problem is not None
    write(path, "admin: ['t:a:2']", at=3)
    ticks.now = 5.0
    assert roles.role_of("t", "a", "1") is None
    assert roles.role_of("t", "a", "2") == "admin"
    assert roles.problem is None


def test_a_table_that_was_never_good_gives_nobody_a_role(tmp_path: Path):
    roles = RoleFile(write(tmp_path / "roles.yaml", "admin: 't:a:1'"))
    assert roles.role_of("t", "a", "1") is None
    assert roles.problem is not None
