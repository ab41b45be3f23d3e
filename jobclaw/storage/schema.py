"""The tables of `journal.db`, as steps from each version to the next.

A step is never edited once released: a later one follows it. The number of steps is the version
(`PRAGMA user_version`). States are small numbers (`states.py`), times milliseconds since 1970,
values JSON. Partial indexes keep what waits apart from what is done, whatever the backlog.
"""

from __future__ import annotations

_V1 = (
    """CREATE TABLE inbox (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        lane TEXT NOT NULL,
        platform_id TEXT NOT NULL,
        state INTEGER NOT NULL,
        attempts INTEGER NOT NULL,
        at INTEGER NOT NULL,
        message TEXT NOT NULL
    ) STRICT""",
    "CREATE INDEX inbox_waiting ON inbox (lane, seq) WHERE state < 2",
    "CREATE INDEX inbox_platform_id ON inbox (platform_id) WHERE platform_id <> ''",
    """CREATE TABLE dedup (
        channel TEXT NOT NULL,
        account TEXT NOT NULL,
        key TEXT NOT NULL,
        seq INTEGER NOT NULL,
        at INTEGER NOT NULL,
        UNIQUE (channel, account, key)
    ) STRICT""",
    """CREATE TABLE cursor (
        channel TEXT NOT NULL,
        account TEXT NOT NULL,
        value TEXT NOT NULL,
        PRIMARY KEY (channel, account)
    ) STRICT, WITHOUT ROWID""",
    """CREATE TABLE outbox (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        chat TEXT NOT NULL,
        state INTEGER NOT NULL,
        attempt INTEGER NOT NULL,
        at INTEGER NOT NULL,
        message TEXT NOT NULL,
        receipt TEXT
    ) STRICT""",
    "CREATE INDEX outbox_waiting ON outbox (chat, seq) WHERE state < 3",
    """CREATE TABLE decision (
        seq INTEGER PRIMARY KEY,
        session TEXT NOT NULL,
        user_id TEXT NOT NULL,
        agent TEXT NOT NULL,
        tier TEXT NOT NULL,
        at INTEGER NOT NULL,
        decision TEXT NOT NULL
    ) STRICT""",
    "CREATE INDEX decision_session ON decision (session)",
    "CREATE INDEX decision_user ON decision (user_id)",
    """CREATE TABLE session (
        key TEXT PRIMARY KEY,
        user_id TEXT NOT NULL,
        used_at INTEGER NOT NULL,
        file_due INTEGER,
        revision INTEGER NOT NULL,
        session TEXT NOT NULL
    ) STRICT""",
    "CREATE INDEX session_used ON session (used_at)",
    "CREATE INDEX session_file_due ON session (file_due) WHERE file_due IS NOT NULL",
    """CREATE TABLE session_file (
        key TEXT PRIMARY KEY,
        user_id TEXT NOT NULL,
        written BLOB NOT NULL,
        previous BLOB
    ) STRICT""",
    """CREATE TABLE memory (
        session TEXT NOT NULL,
        agent TEXT NOT NULL,
        key TEXT NOT NULL,
        value TEXT NOT NULL,
        PRIMARY KEY (session, agent, key)
    ) STRICT, WITHOUT ROWID""",
    """CREATE TABLE label (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        inbox INTEGER NOT NULL,
        text TEXT NOT NULL,
        intent TEXT NOT NULL,
        agent TEXT NOT NULL,
        source TEXT NOT NULL,
        at INTEGER NOT NULL
    ) STRICT""",
    """CREATE TABLE user (
        id TEXT PRIMARY KEY,
        user TEXT NOT NULL
    ) STRICT""",
    """CREATE TABLE identity (
        channel TEXT NOT NULL,
        account TEXT NOT NULL,
        sender TEXT NOT NULL,
        user_id TEXT NOT NULL,
        PRIMARY KEY (channel, account, sender)
    ) STRICT, WITHOUT ROWID""",
    "CREATE INDEX identity_user ON identity (user_id)",
    "CREATE INDEX identity_sender ON identity (sender)",
    """CREATE TABLE code (
        kind TEXT NOT NULL,
        hash BLOB NOT NULL,
        payload TEXT NOT NULL,
        expires_at INTEGER NOT NULL,
        PRIMARY KEY (kind, hash)
    ) STRICT, WITHOUT ROWID""",
)

_V2 = (
    "CREATE INDEX inbox_lane ON inbox (lane, seq)",
    "CREATE INDEX outbox_chat ON outbox (chat, seq)",
    "CREATE INDEX inbox_dead ON inbox (seq) WHERE state = 5",
    "CREATE INDEX outbox_dead ON outbox (seq) WHERE state = 4",
    """CREATE TABLE model_usage (
        month TEXT NOT NULL,
        model TEXT NOT NULL,
        calls INTEGER NOT NULL,
        tokens INTEGER NOT NULL,
        cost_usd REAL NOT NULL,
        PRIMARY KEY (month, model)
    ) STRICT, WITHOUT ROWID""",
)

MIGRATIONS: tuple[tuple[str, ...], ...] = (_V1, _V2)
