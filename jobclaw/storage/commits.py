"""Everything that one handled message changes, in the transaction that it shares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from jobclaw.model import to_json
from jobclaw.spi.store import Handled, InboxState, Label, MemoryWrite, OutboxRow
from jobclaw.storage.outbox import put
from jobclaw.storage.part import one_json
from jobclaw.storage.people import merge_user
from jobclaw.storage.rows import ManyRows
from jobclaw.storage.session_rows import SessionWrite, save_sessions
from jobclaw.storage.states import INBOX_CODE, to_ms
from jobclaw.storage.writer import Txn

_OPEN = """
    SELECT json_group_array(seq) FROM inbox
    WHERE state < 2 AND seq IN (SELECT value FROM json_each(?))"""
_CLOSE = "UPDATE inbox SET state = ? WHERE seq IN (SELECT value FROM json_each(?))"
_DECIDE = ManyRows(
    "INSERT OR REPLACE INTO decision (seq, session, user_id, agent, tier, at, decision)", 7
)
_REMEMBER = ManyRows("INSERT OR REPLACE INTO memory (session, agent, key, value)", 4)
_FORGET = "DELETE FROM memory WHERE session = ? AND agent = ? AND key = ?"
_LABEL = ManyRows("INSERT INTO label (inbox, text, intent, agent, source, at)", 6)


class Commit(NamedTuple):
    """A handled message, what its session means for the file, and whether a reply leaves."""

    handled: Handled
    session: SessionWrite | None
    sending: bool


class Committed(NamedTuple):
    """The new outbox rows; `fresh` is False for a message that was handled before."""

    rows: tuple[OutboxRow, ...]
    fresh: bool


def commit_all(txn: Txn, commits: Sequence[Commit]) -> list[Committed]:
    """Make handled messages true; one that is handled already changes nothing."""
    asked = to_json([commit.handled.seq for commit in commits]).decode()
    open_ = one_json(txn, _OPEN, asked, set[int])
    first: dict[int, Commit] = {}
    for commit in commits:
        if commit.handled.seq in open_:
            first.setdefault(commit.handled.seq, commit)
    fresh = list(first.values())
    _close(txn, [commit.handled for commit in fresh])
    save_sessions(txn, [commit.session for commit in fresh if commit.session is not None])
    _decide(txn, [commit.handled for commit in fresh])
    for commit in fresh:
        _apply_rest(txn, commit.handled)
    replies = [message for commit in fresh for message in commit.handled.outbox]
    rows = iter(put(txn, replies, _sending(fresh)))
    return [
        Committed(_take(rows, len(commit.handled.outbox)), fresh=True)
        if first.get(commit.handled.seq) is commit
        else Committed((), fresh=False)
        for commit in commits
    ]


def _sending(commits: Sequence[Commit]) -> set[str]:
    """The ids of replies whose platform is called as soon as this is on disk."""
    return {
        commit.handled.outbox[0].id
        for commit in commits
        if commit.sending and commit.handled.outbox
    }


def _take(rows: Iterator[OutboxRow | None], count: int) -> tuple[OutboxRow, ...]:
    return tuple(row for row in islice(rows, count) if row is not None)


def _close(txn: Txn, all_handled: Sequence[Handled]) -> None:
    by_state: dict[InboxState, list[int]] = {}
    for handled in all_handled:
        by_state.setdefault(handled.state, []).append(handled.seq)
    for state, seqs in by_state.items():
        txn.db.execute(_CLOSE, (INBOX_CODE[state], to_json(seqs).decode()))


def _decide(txn: Txn, all_handled: Sequence[Handled]) -> None:
    _DECIDE.run(
        txn.db,
        [
            (
                handled.seq,
                handled.decision.session,
                handled.decision.user,
                handled.decision.agent,
                handled.decision.tier,
                to_ms(handled.decision.at),
                to_json(handled.decision).decode(),
            )
            for handled in all_handled
        ],
    )


def _apply_rest(txn: Txn, handled: Handled) -> None:
    """What most messages do not have."""
    if handled.user is not None:
        merge_user(txn, handled.user_was, handled.user)
    if handled.memory:
        _remember(txn, handled.memory)
    if handled.labels:
        _label(txn, handled.seq, handled.labels)


def _remember(txn: Txn, writes: Sequence[MemoryWrite]) -> None:
    last = {(write.session, write.agent, write.key): write.value for write in writes}
    _REMEMBER.run(txn.db, [(*place, value) for place, value in last.items() if value])
    for place, value in last.items():
        if not value:
            txn.db.execute(_FORGET, place)


def _label(txn: Txn, seq: int, labels: Sequence[Label]) -> None:
    _LABEL.run(
        txn.db,
        [(seq, one.text, one.intent, one.agent, one.source, txn.now) for one in labels],
    )
