"""The durable store: SQLite journal, session files, workspace lock."""

from jobclaw.storage.lock import Holder, WorkspaceLock
from jobclaw.storage.session_book import FileProblem
from jobclaw.storage.store import SqliteStore, open_store

__all__ = ["FileProblem", "Holder", "SqliteStore", "WorkspaceLock", "open_store"]
