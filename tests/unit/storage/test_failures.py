"""What SQLite reports, told apart: what passes, what is final, and how a process ends."""

import sqlite3

import pytest

from jobclaw.app.engine import LASTING
from jobclaw.bus.patience import PASSING
from jobclaw.storage.failures import is_final, storage_error


def reported(code: int) -> sqlite3.Error:
    error = sqlite3.OperationalError("made up")
    error.sqlite_errorcode = code
    return error


@pytest.mark.parametrize(
    ("code", "text_id", "exit_code", "final"),
    [
        (sqlite3.SQLITE_IOERR_FSYNC, "storage.fsync-failed", 74, True),
        (sqlite3.SQLITE_IOERR_DIR_FSYNC, "storage.fsync-failed", 74, True),
        (sqlite3.SQLITE_CORRUPT, "storage.damaged", 65, True),
        (sqlite3.SQLITE_NOTADB, "storage.damaged", 65, True),
        (sqlite3.SQLITE_FULL, "storage.full", 74, False),
        (sqlite3.SQLITE_BUSY, "storage.busy", 74, False),
        (sqlite3.SQLITE_IOERR_WRITE, "storage.io", 74, False),
        (sqlite3.SQLITE_READONLY, "storage.io", 74, False),
    ],
)
def test_what_is_final_ends_the_process_and_the_rest_is_waited_for(
    code: int, text_id: str, exit_code: int, final: bool
) -> None:
    shown = storage_error(reported(code), "journal.db")
    assert (shown.text_id, shown.exit_code) == (text_id, exit_code)
    assert is_final(reported(code)) is final
    assert (shown.text_id in LASTING) is final
    assert (shown.text_id in PASSING) is not final
