"""A workspace is held by one process, by name, and freed by its death."""

import subprocess
import sys
from pathlib import Path

import pytest
from store_samples import START

from jobclaw.errors import StorageError
from jobclaw.storage import WorkspaceLock

HOLD = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from jobclaw.storage import WorkspaceLock
lock = WorkspaceLock(Path(sys.argv[1]))
lock.acquire("run", datetime(2026, 8, 3, tzinfo=UTC))
print("held", flush=True)
sys.stdin.read()
"""


def test_a_second_process_is_refused_and_told_who_holds(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(StorageError) as caught:
            WorkspaceLock(tmp_path).acquire("chat", START)
        assert (caught.value.text_id, caught.value.exit_code) == ("storage.held-by", 73)
        assert caught.value.values["verb"] == "run"
        assert caught.value.values["pid"] == other.pid
        assert caught.value.values["since"] == "2026-08-03T00:00:00+00:00"
        other.kill()
    with WorkspaceLock(tmp_path).hold("chat", START):
        holder = WorkspaceLock(tmp_path).holder()
        assert holder is not None
        assert holder.verb == "chat"


def test_two_locks_of_one_process_exclude_each_other(tmp_path: Path) -> None:
    first, second = WorkspaceLock(tmp_path), WorkspaceLock(tmp_path)
    with first.hold("run", START), pytest.raises(StorageError):
        second.acquire("chat", START)
    second.acquire("chat", START)
    second.release()
    second.release()


def test_a_holder_that_left_no_readable_name_is_still_a_holder(tmp_path: Path) -> None:
    with WorkspaceLock(tmp_path).hold("run", START):
        (tmp_path / "workspace.holder.json").write_text("{")
        with pytest.raises(StorageError) as caught:
            WorkspaceLock(tmp_path).acquire("chat", START)
        assert (caught.value.text_id, caught.value.exit_code) == ("storage.held", 73)


def test_files_of_the_lock_are_private(tmp_path: Path) -> None:
    with WorkspaceLock(tmp_path / "new").hold("run", START):
        for path in (tmp_path / "new").iterdir():
            assert path.stat().st_mode & 0o077 == 0


def test_a_workspace_that_cannot_be_made_is_an_io_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError) as caught:
        WorkspaceLock(tmp_path / "file" / "x").acquire("run", START)
    assert caught.value.exit_code == 74
