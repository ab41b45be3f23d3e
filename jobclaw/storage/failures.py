"""What SQLite reports, as the StorageError that people are shown.

Policy: a damaged file ends with exit code 65 and is never written again; everything else that
the disk refuses is 74. Only a failed fsync is final, because what it left on disk is unknown
and asking again can answer "fine" wrongly; a full disk or a busy file recovers by itself.
"""

from __future__ import annotations

import sqlite3

from jobclaw.errors import StorageError

_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT})
_REFUSED_BY_DISK = frozenset(
    {
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_NOLFS,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_READONLY,
    }
)
_FINAL = frozenset({sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_DIR_FSYNC})
_PRIMARY = 0xFF
EXIT_DAMAGED = 65
EXIT_IO = 74


def _code(error: BaseException) -> int:
    return getattr(error, "sqlite_errorcode", 0)


def storage_error(error: sqlite3.Error, file: str) -> StorageError:
    """The error to raise for one of SQLite's; `file` is the database."""
    code = _code(error) & _PRIMARY
    problem = str(error)
    if _code(error) in _FINAL:
        return StorageError("storage.fsync-failed", exit_code=EXIT_IO, file=file)
    if code in _DAMAGED:
        return StorageError(
            "storage.damaged", exit_code=EXIT_DAMAGED, file=file, problem=problem
        )
    if code == sqlite3.SQLITE_FULL:
        return StorageError("storage.full", exit_code=EXIT_IO, file=file)
    if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        return StorageError("storage.busy", exit_code=EXIT_IO, file=file)
    if code in _REFUSED_BY_DISK:
        return StorageError("storage.io", exit_code=EXIT_IO, file=file, problem=problem)
    return StorageError("storage.refused", exit_code=EXIT_IO, problem=problem)


def is_final(error: BaseException) -> bool:
    """Whether nothing may be written any more."""
    return _code(error) in _FINAL or _code(error) & _PRIMARY in _DAMAGED


def concerns_one(error: BaseException) -> bool:
    """Whether a single operation is to blame rather than the file or the disk."""
    code = _code(error) & _PRIMARY
    return code in {
        0,
        sqlite3.SQLITE_CONSTRAINT,
        sqlite3.SQLITE_TOOBIG,
        sqlite3.SQLITE_MISMATCH,
    }
