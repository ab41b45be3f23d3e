"""Users as they were read last, for the path of every message.

Asking SQLite lets go of the interpreter lock, and beside a busy writer thread getting it back
takes longer than the question. What this process writes is forgotten here when it is on disk;
what another process wrote is noticed by the writer's next transaction (`foreign`), such as the
acceptance of a message.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from jobclaw.model import User

USERS_KEPT = 8192
Who = tuple[str, str, str]


class KnownUsers:
    """A bounded memory of users by channel identity; belongs to the event loop."""

    def __init__(self, foreign: Callable[[], int]) -> None:
        self._foreign = foreign
        self._seen = foreign()
        self._ids: OrderedDict[Who, str] = OrderedDict()
        self._users: dict[str, User] = {}

    def get(self, who: Who) -> User | None:
        """The user, if nothing can have changed since."""
        foreign = self._foreign()
        if foreign != self._seen:
            self._seen = foreign
            self.clear()
            return None
        user_id = self._ids.get(who)
        return None if user_id is None else self._users.get(user_id)

    def keep(self, who: Who, user: User) -> None:
        """Remember what was just read."""
        self._ids[who] = user.id
        self._users[user.id] = user
        if len(self._ids) > USERS_KEPT:
            _, oldest = self._ids.popitem(last=False)
            self._users.pop(oldest, None)

    def forget(self, user_id: str) -> None:
        """A user was written."""
        self._users.pop(user_id, None)

    def clear(self) -> None:
        """Identities have moved."""
        self._ids.clear()
        self._users.clear()
