"""A store that is damaged while a process runs: that ends and says what to do."""

from pathlib import Path

from driver import Deployment


def damage(home: Deployment) -> None:
    """Overwrite the journal under whoever has it open."""
    for path in (home.workspace / "journal.db", home.workspace / "journal.db-wal"):
        with path.open("r+b") as file:
            file.write(b"\xff" * path.stat().st_size)


def test_the_daemon_ends_with_a_sentence_and_does_not_start_again(tmp_path: Path) -> None:
    home = Deployment(tmp_path)
    with home.daemon() as daemon:
        assert home.run("chat", "--once", "你好").returncode == 0
        damage(home)
        home.run("chat", "--once", "还在吗")
        assert daemon.process.wait(timeout=30) == 65
    said = daemon.log.read_text("utf-8").splitlines()[-1]
    assert "journal.db" in said
    assert "备份" in said
    again = home.run("run", "--port", "0")
    assert again.returncode == 65
    assert "journal.db" in again.stderr


def test_a_chat_without_a_daemon_does_not_wait_for_ever_either(tmp_path: Path) -> None:
    home = Deployment(tmp_path)
    with home.chat() as chat:
        chat.say("你好")
        damage(home)
        chat.put(id="m1", text="还在吗")
        assert chat.process.wait(timeout=30) == 65
        assert "journal.db" in chat.errors()
