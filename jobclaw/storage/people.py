"""Users, their channel identities, and codes. Nothing is cached: a role counts at once."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import msgspec
from ulid import ULID

from jobclaw.errors import StorageError
from jobclaw.model import User, to_json
from jobclaw.storage.failures import EXIT_IO
from jobclaw.storage.known_users import KnownUsers
from jobclaw.storage.part import Access, Part
from jobclaw.storage.rows import ManyRows
from jobclaw.storage.states import from_ms, to_ms
from jobclaw.storage.writer import Txn, run_each

_INSERT_USERS = ManyRows("INSERT INTO user (id, user)", 2)
_INSERT_IDENTITIES = ManyRows("INSERT INTO identity (channel, account, sender, user_id)", 4)
_KNOWN = ManyRows(
    "WITH asked (number, channel, account, sender) AS (",
    4,
    """) SELECT json_group_array(json_array(asked.number, user.user)) FROM asked
    CROSS JOIN identity USING (channel, account, sender)
    CROSS JOIN user ON user.id = identity.user_id""",
)
_SAVE = """
    INSERT INTO user (id, user) VALUES (?, ?)
    ON CONFLICT (id) DO UPDATE SET user = excluded.user"""
_BY_ID = "SELECT user FROM user WHERE id = ?"
_BY_IDENTITY = """
    SELECT user.user FROM identity JOIN user ON user.id = identity.user_id
    WHERE channel = ? AND account = ? AND sender = ?"""
_BY_ID_ALL = "SELECT user FROM user WHERE id = ?1"
_BY_SENDER = """
    SELECT DISTINCT user.user FROM identity JOIN user ON user.id = identity.user_id
    WHERE identity.sender = ?1 ORDER BY user.rowid"""
_BY_NAME = """
    SELECT user.user FROM identity JOIN user ON user.id = identity.user_id
    WHERE identity.channel = ?1 AND account || ':' || sender = ?2"""
_LIST = """
    SELECT user FROM user
    WHERE ?1 = '' OR rowid < (SELECT rowid FROM user WHERE id = ?1)
    ORDER BY rowid DESC LIMIT ?2"""
_IDENTITIES = """
    SELECT channel, account, sender FROM identity WHERE user_id = ?
    ORDER BY channel, account, sender"""
_OWNER = "SELECT user_id FROM identity WHERE channel = ? AND account = ? AND sender = ?"
_LINK = (
    "INSERT OR REPLACE INTO identity (channel, account, sender, user_id) VALUES (?, ?, ?, ?)"
)
_SAVE_CODE = "INSERT OR REPLACE INTO code (kind, hash, payload, expires_at) VALUES (?, ?, ?, ?)"
_SPEND_CODE = "DELETE FROM code WHERE kind = ? AND hash = ? RETURNING payload, expires_at"
_DECODER = msgspec.json.Decoder(User)


class _Newcomer(NamedTuple):
    channel: str
    account: str
    sender: str
    name: str


def _fresh(txn: Txn, name: str) -> User:
    return User(id=f"u{ULID()}".lower(), name=name, created_at=from_ms(txn.now))


def _text(user: User) -> str:
    return to_json(user).decode()


def _create(txn: Txn, newcomers: Sequence[_Newcomer]) -> list[User]:
    asked = [(number, *new[:3]) for number, new in enumerate(newcomers)]
    users = {
        newcomers[number][:3]: _DECODER.decode(text)
        for number, text in _KNOWN.ask(txn.db, asked, tuple[int, str])
    }
    created: dict[tuple[str, str, str], User] = {}
    for new in newcomers:
        if new[:3] not in users:
            users[new[:3]] = created[new[:3]] = _fresh(txn, new.name)
    _INSERT_USERS.run(txn.db, [(user.id, _text(user)) for user in created.values()])
    _INSERT_IDENTITIES.run(txn.db, [(*who, user.id) for who, user in created.items()])
    return [users[new[:3]] for new in newcomers]


def save_users(txn: Txn, users: Sequence[User]) -> list[None]:
    """Write users as they are."""
    for user in users:
        txn.db.execute(_SAVE, (user.id, _text(user)))
    return [None] * len(users)


def merge_user(txn: Txn, was: User | None, wanted: User) -> None:
    """Write what a turn changed of the user that it read, and leave the rest as it is now."""
    row = None if was is None else txn.db.execute(_BY_ID, (wanted.id,)).fetchone()
    if was is not None and row is not None:
        wanted = _merged(_DECODER.decode(row[0]), was, wanted)
    txn.db.execute(_SAVE, (wanted.id, _text(wanted)))


def _merged(now: User, was: User, wanted: User) -> User:
    changes = {
        name: getattr(wanted, name)
        for name in User.__struct_fields__
        if getattr(wanted, name) != getattr(was, name)
    }
    if "profile" in changes:
        gone = was.profile.keys() - wanted.profile.keys()
        changed = {k: v for k, v in wanted.profile.items() if was.profile.get(k) != v}
        kept = {key: value for key, value in now.profile.items() if key not in gone}
        changes["profile"] = kept | changed
    return msgspec.structs.replace(now, **changes)


def _hash(kind: str, code: str) -> bytes:
    return hashlib.sha256(f"{kind}\0{code}".encode()).digest()


class PeoplePart(Part):
    """`spi.store.People`."""

    def __init__(self, access: Access) -> None:
        super().__init__(access)
        writer = access.writer
        self._known = None if writer is None else KnownUsers(lambda: writer.foreign)

    def user(self, user_id: str) -> User | None:
        """See `People.user`."""
        row = self._reader.one(_BY_ID, user_id)
        return None if row is None else _DECODER.decode(row[0])

    def user_by_identity(self, channel: str, account: str, sender: str) -> User | None:
        """See `People.user_by_identity`."""
        who = (channel, account, sender)
        known = None if self._known is None else self._known.get(who)
        if known is not None:
            return known
        row = self._reader.one(_BY_IDENTITY, *who)
        if row is None:
            return None
        user = _DECODER.decode(row[0])
        if self._known is not None:
            self._known.keep(who, user)
        return user

    def find_users(self, text: str) -> tuple[User, ...]:
        """See `People.find_users`."""
        channel, _, rest = text.partition(":")
        rows = [
            *self._reader.all(_BY_ID_ALL, (text,)),
            *self._reader.all(_BY_SENDER, (text,)),
            *self._reader.all(_BY_NAME, (channel, rest)),
        ]
        return tuple(_DECODER.decode(user) for user in dict.fromkeys(user for (user,) in rows))

    def list_users(self, limit: int, before: str = "") -> tuple[User, ...]:
        """See `People.list_users`."""
        rows = self._reader.all(_LIST, (before, limit))
        return tuple(_DECODER.decode(user) for (user,) in rows)

    def identities(self, user_id: str) -> tuple[tuple[str, str, str], ...]:
        """See `People.identities`."""
        rows = self._reader.all(_IDENTITIES, (user_id,))
        return tuple((channel, account, sender) for channel, account, sender in rows)

    async def create_user(self, channel: str, account: str, sender: str, name: str) -> User:
        """See `People.create_user`."""
        return await self._writer.submit(_create, _Newcomer(channel, account, sender, name))

    async def save_user(self, user: User) -> None:
        """See `People.save_user`."""
        await self._writer.submit(save_users, user, lambda _: self._written(user.id))

    async def link(self, channel: str, account: str, sender: str, user_id: str) -> None:
        """See `People.link`; an unknown user is a StorageError."""

        def write(txn: Txn) -> StorageError | None:
            if txn.db.execute(_BY_ID, (user_id,)).fetchone() is None:
                return StorageError("storage.no-such-user", exit_code=EXIT_IO, user=user_id)
            txn.db.execute(_LINK, (channel, account, sender, user_id))
            return None

        await self._writer.submit(run_each, write, self._moved)

    async def unlink(self, channel: str, account: str, sender: str) -> User | None:
        """See `People.unlink`; None for an unknown identity, too."""

        def write(txn: Txn) -> User | None:
            owner = txn.db.execute(_OWNER, (channel, account, sender)).fetchone()
            if owner is None or len(txn.db.execute(_IDENTITIES, owner).fetchall()) == 1:
                return None
            [text] = txn.db.execute(_BY_ID, owner).fetchone()
            user = _fresh(txn, _DECODER.decode(text).name)
            save_users(txn, [user])
            txn.db.execute(_LINK, (channel, account, sender, user.id))
            return user

        result: User | None = await self._writer.submit(run_each, write, self._moved)
        return result

    def _written(self, user_id: str) -> None:
        if self._known is not None:
            self._known.forget(user_id)

    def _moved(self, _: object) -> None:
        if self._known is not None:
            self._known.clear()

    async def create_code(
        self, kind: str, code: str, payload: str, expires_at: datetime
    ) -> None:
        """See `People.create_code`."""
        row = (kind, _hash(kind, code), payload, to_ms(expires_at))

        def write(txn: Txn) -> None:
            txn.db.execute(_SAVE_CODE, row)

        await self._writer.submit(run_each, write)

    async def use_code(self, kind: str, code: str, now: datetime) -> str | None:
        """See `People.use_code`."""
        row = (kind, _hash(kind, code))

        def write(txn: Txn) -> str | None:
            found = txn.db.execute(_SPEND_CODE, row).fetchall()
            return next((str(payload) for payload, until in found if until > to_ms(now)), None)

        result: str | None = await self._writer.submit(run_each, write)
        return result
