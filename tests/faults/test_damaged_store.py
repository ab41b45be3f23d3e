"""A store that is damaged while the daemon runs: it ends and says what to do."""

from pathlib import Path

from driver import Deployment


def test_the_daemon_ends_with_a_sentence_and_does_not_start_again(tmp_path: Path) -> None:
    home = Deployment(tmp_path)
    with home.daemon() as daemon:
        assert home.run("chat", "--once", "你好").returncode == 0
        for path in (home.workspace / "journal.db", home.workspace / "journal.db-wal"):
            with path.open("r+b") as file:
                file.write(b"\xff" * path.stat().st_size)
        home.run("chat", "--once", "还在吗")
        assert daemon.process.wait(timeout=30) == 65
    said = daemon.log.read_text("utf-8").splitlines()[-1]
    assert "journal.db" in said
    assert "备份" in said
    again = home.run("run", "--port", "0")
    assert again.returncode == 65
    assert "journal.db" in again.stderr
