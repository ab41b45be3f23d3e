"""Opening the journal: migrated, checked, private, and refused rather than overwritten."""

import hashlib
import sqlite3
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from store_samples import SteppedClock, answered, message

from jobclaw.errors import StorageError
from jobclaw.storage import open_store
from jobclaw.storage.schema import MIGRATIONS


def version_of(path: Path) -> int:
    db = sqlite3.connect(path)
    try:
        [version] = db.execute("PRAGMA user_version").fetchone()
        return int(version)
    finally:
        db.close()


@pytest.fixture
async def journal(tmp_path: Path) -> Path:
    """A journal with some rows, closed."""
    store = open_store(tmp_path, SteppedClock())
    for number in range(60):
        await answered(store, number)
    await store.close()
    return tmp_path / "journal.db"


async def test_an_empty_file_is_brought_up_to_date_and_kept_private(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "workspace" / "journal.db"
    path.parent.mkdir(parents=True)
    path.touch(0o644)
    store = open_store(path.parent, SteppedClock())
    await answered(store, 1)
    assert version_of(path) == len(MIGRATIONS)
    for file in path.parent.glob("journal.db*"):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    await store.close()
    assert [file.name for file in path.parent.glob("journal.db*")] == ["journal.db"]


def garbage(path: Path) -> None:
    path.write_bytes(b"no database at all\n" * 500)


def damaged_page(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(4096 * 3)
        file.write(b"\xff" * 4096)


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: 4096 * 5])


def newer(path: Path) -> None:
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version = 99")
    db.close()


@pytest.mark.parametrize(
    ("spoil", "text_id"),
    [
        (garbage, "storage.damaged"),
        (damaged_page, "storage.damaged"),
        (cut_short, "storage.damaged"),
        (newer, "storage.newer"),
    ],
)
def test_what_cannot_be_trusted_is_refused_and_left_as_it_is(
    journal: Path, spoil: Callable[[Path], None], text_id: str
) -> None:
    spoil(journal)
    before = hashlib.sha256(journal.read_bytes()).digest()
    with pytest.raises(StorageError) as caught:
        open_store(journal.parent, SteppedClock())
    assert (caught.value.text_id, caught.value.exit_code) == (text_id, 65)
    assert caught.value.values["file"] == str(journal)
    assert hashlib.sha256(journal.read_bytes()).digest() == before


@pytest.mark.parametrize(
    ("spoil", "text_id"), [(garbage, "storage.damaged"), (newer, "storage.newer")]
)
def test_reading_only_refuses_the_same(
    journal: Path, spoil: Callable[[Path], None], text_id: str
) -> None:
    spoil(journal)
    with pytest.raises(StorageError) as caught:
        open_store(journal.parent, SteppedClock(), read_only=True)
    assert (caught.value.text_id, caught.value.exit_code) == (text_id, 65)


def test_reading_only_does_not_bring_an_old_journal_up_to_date(tmp_path: Path) -> None:
    (tmp_path / "journal.db").touch()
    with pytest.raises(StorageError) as caught:
        open_store(tmp_path, SteppedClock(), read_only=True)
    assert caught.value.text_id == "storage.outdated"


async def test_damage_met_later_is_named_and_ends_all_writing(journal: Path) -> None:
    store = open_store(journal.parent, SteppedClock())
    damage = sqlite3.connect(journal)
    damage.execute("PRAGMA writable_schema = ON")
    damage.execute("UPDATE sqlite_schema SET rootpage = 9999 WHERE name = 'dedup'")
    damage.commit()
    damage.close()
    for _ in range(2):
        with pytest.raises(StorageError) as caught:
            await store.ingest(message(1000, keys=("k",)))
        assert (caught.value.text_id, caught.value.exit_code) == ("storage.damaged", 65)
    assert store.failure is not None
    await store.close()


async def test_reading_only_works_beside_a_writer_and_sees_its_rows(tmp_path: Path) -> None:
    writer = open_store(tmp_path, SteppedClock())
    reader = open_store(tmp_path, SteppedClock(), read_only=True)
    await answered(writer, 1)
    assert reader.decision("in-000001") is not None
    with pytest.raises(StorageError) as caught:
        await reader.ingest(message(2))
    assert caught.value.text_id == "storage.read-only"
    await reader.close()
    await writer.close()


async def test_reading_only_of_nothing_finds_nothing_and_makes_nothing(tmp_path: Path) -> None:
    workspace = tmp_path / "none"
    store = open_store(workspace, SteppedClock(), read_only=True)
    assert store.list_users(10) == ()
    assert store.read("k", "u1").bound_agent == ""
    assert store.failure is None
    await store.close()
    assert not workspace.exists()


async def test_a_second_writer_changes_users_while_the_first_works(tmp_path: Path) -> None:
    daemon = open_store(tmp_path, SteppedClock())
    user = await daemon.create_user("console", "main", "u1", "n")
    beside = open_store(tmp_path, SteppedClock())
    changed = type(user)(id=user.id, role="vip")
    await beside.save_user(changed)
    await beside.close()
    assert daemon.user_by_identity("console", "main", "u1") == changed
    await answered(daemon, 1)
    await daemon.close()


def test_a_folder_that_cannot_be_made_is_an_io_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError) as caught:
        open_store(tmp_path / "file" / "workspace", SteppedClock())
    assert (caught.value.text_id, caught.value.exit_code) == ("storage.io", 74)
