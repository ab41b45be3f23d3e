"""Opens `journal.db`: checks it, brings its tables up to date, and reads from it.

A file that is damaged or of a newer version is refused and left as it is. After an unclean stop
(a write-ahead log was left behind) the whole file is checked up to `CHECK_DIRTY_BYTES`, else up
to `CHECK_CLEAN_BYTES`, so that a start never waits for seconds; damage beyond is met as an
error when it is read.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jobclaw.errors import StorageError
from jobclaw.storage.failures import EXIT_DAMAGED, EXIT_IO, storage_error
from jobclaw.storage.schema import MIGRATIONS

CHECK_CLEAN_BYTES = 32 * 1024 * 1024
CHECK_DIRTY_BYTES = 256 * 1024 * 1024
BUSY_TIMEOUT_S = 5.0
FILE_MODE = 0o600
FOLDER_MODE = 0o700
_STATEMENTS = 256
_CACHE_KIB = 16_000
_Row = tuple[Any, ...]


class Reader:
    """A connection that only reads; its errors come out as StorageError."""

    def __init__(self, db: sqlite3.Connection, file: str) -> None:
        self._db = db
        self._file = file

    def one(self, query: str, *values: object) -> _Row | None:
        """The first row."""
        try:
            return self._db.execute(query, values).fetchone()
        except sqlite3.Error as error:
            raise storage_error(error, self._file) from error

    def all(self, query: str, values: Sequence[object]) -> list[_Row]:
        """All rows."""
        try:
            return self._db.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise storage_error(error, self._file) from error

    def close(self) -> None:
        """Release the connection."""
        self._db.close()


def secure_folder(folder: Path) -> None:
    """Make a folder for its owner only."""
    try:
        folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    except OSError as error:
        raise io_error(error, folder) from error


def io_error(error: OSError, path: Path) -> StorageError:
    """The StorageError for what the file system said."""
    problem = error.strerror or str(error)
    return StorageError("storage.io", exit_code=EXIT_IO, file=str(path), problem=problem)


def open_for_writing(path: Path) -> sqlite3.Connection:
    """Open, check and migrate the database, made if missing.

    Raises:
        StorageError: damaged or newer (exit 65), or the disk refuses (74).
    """
    try:
        dirty = _make_private(path)
    except OSError as error:
        raise io_error(error, path) from error
    db = connect(path)
    try:
        _check(db, path, CHECK_DIRTY_BYTES if dirty else CHECK_CLEAN_BYTES)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")  # a batch must fit, or it spills
        db.execute("PRAGMA temp_store = MEMORY")  # statement journals, else in a file
        _migrate(db, path)
    except sqlite3.Error as error:
        db.close()
        raise storage_error(error, str(path)) from error
    except StorageError:
        db.close()
        raise
    return db


def open_for_reading(path: Path) -> Reader:
    """Open a database that a writer has brought up to date; a missing one reads as empty.

    Raises:
        StorageError: damaged, newer or not yet brought up to date (exit 65).
    """
    missing = not path.exists()
    db = connect(Path(":memory:") if missing else path, read_only=not missing)
    try:
        if missing:
            _migrate(db, path)
        version = _version(db, path)
        db.execute("PRAGMA query_only = 1")
    except sqlite3.Error as error:
        db.close()
        raise storage_error(error, str(path)) from error
    except StorageError:
        db.close()
        raise
    if version < len(MIGRATIONS):
        db.close()
        raise StorageError("storage.outdated", exit_code=EXIT_DAMAGED, file=str(path))
    return Reader(db, str(path))


def close_writing(db: sqlite3.Connection) -> None:
    """Fold the log into the database and release it."""
    try:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        db.close()


def connect(path: Path, *, read_only: bool = False) -> sqlite3.Connection:
    """Open a connection that may be used by any thread, one at a time; each syncs in full."""
    place = f"file:{quote(str(path.absolute()))}?mode=ro" if read_only else str(path)
    try:
        db = sqlite3.connect(
            place,
            timeout=BUSY_TIMEOUT_S,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=_STATEMENTS,
            uri=read_only,
        )
        db.execute("PRAGMA synchronous = FULL")
    except sqlite3.Error as error:
        raise storage_error(error, str(path)) from error
    return db


def _make_private(path: Path) -> bool:
    """Make the file with its modes before SQLite does; True after an unclean stop."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE))
    except FileExistsError:  # never opened here: closing it would drop SQLite's locks on it
        if stat.S_IMODE(path.stat().st_mode) & 0o077:
            path.chmod(FILE_MODE)
    log = path.with_name(path.name + "-wal")
    return log.exists() and log.stat().st_size > 0


def _check(db: sqlite3.Connection, path: Path, limit_bytes: int) -> None:
    db.execute("SELECT count(*) FROM sqlite_schema").fetchone()  # reads the header
    if path.stat().st_size > limit_bytes:
        return
    [problem] = db.execute("PRAGMA quick_check(1)").fetchone()
    if problem != "ok":
        raise StorageError(
            "storage.damaged", exit_code=EXIT_DAMAGED, file=str(path), problem=problem
        )


def _version(db: sqlite3.Connection, path: Path) -> int:
    [version] = db.execute("PRAGMA user_version").fetchone()
    if version > len(MIGRATIONS):
        raise StorageError(
            "storage.newer",
            exit_code=EXIT_DAMAGED,
            file=str(path),
            version=version,
            known=len(MIGRATIONS),
        )
    return int(version)


def _migrate(db: sqlite3.Connection, path: Path) -> None:
    if _version(db, path) == len(MIGRATIONS):
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        for version in range(_version(db, path), len(MIGRATIONS)):
            for statement in MIGRATIONS[version]:
                db.execute(statement)
            db.execute(f"PRAGMA user_version = {version + 1}")
        db.execute("COMMIT")
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")
