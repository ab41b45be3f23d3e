"""What an agent holds in its hands during a turn; written with the turn, or not at all."""

from __future__ import annotations

from collections.abc import Mapping

from jobclaw.model import User
from jobclaw.router.language import is_blank
from jobclaw.router.reply_parts import repaired
from jobclaw.spi.agent import PastTurn
from jobclaw.spi.store import MemoryWrite, Store

HISTORY_SLACK = 3


def kept(value: object) -> str:
    """A value as it can be stored: a text, or a number as its text.

    Raises:
        TypeError: it is neither; raised in the agent, so that its author sees the line.
    """
    if isinstance(value, str):
        return repaired(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise TypeError(f"only texts and numbers can be kept, not {type(value).__name__}")


class TurnMemory:
    """The memory of one session and agent, read on first use."""

    def __init__(self, store: Store, session: str, agent: str) -> None:
        self._store = store
        self._session = session
        self._agent = agent
        self._stored: Mapping[str, str] | None = None
        self._changed: dict[str, str] = {}

    def get(self, key: str, default: str = "") -> str:
        """See `spi.Memory`."""
        if key in self._changed:
            return self._changed[key] or default
        if self._stored is None:
            self._stored = self._store.memory(self._session, self._agent)
        return self._stored.get(key, default)

    def set(self, key: str, value: str) -> None:
        """See `spi.Memory`."""
        self._changed[kept(key)] = kept(value)

    def writes(self) -> tuple[MemoryWrite, ...]:
        """What changed."""
        return tuple(
            MemoryWrite(session=self._session, agent=self._agent, key=key, value=value)
            for key, value in self._changed.items()
        )


class TurnProfile:
    """The profile of the user with this turn's changes."""

    def __init__(self, user: User) -> None:
        self._fields = dict(user.profile)
        self.changed = False

    def get(self, field: str) -> str:
        """See `spi.Profile`."""
        return self._fields.get(field, "")

    def set(self, field: str, value: str) -> None:
        """See `spi.Profile`."""
        field, value = kept(field), kept(value)
        self.changed = True
        if value:
            self._fields[field] = value
        else:
            self._fields.pop(field, None)

    def fields(self) -> dict[str, str]:
        """The profile as it stands."""
        return dict(self._fields)


class TurnSession:
    """The session as an agent may touch it."""

    def __init__(self, store: Store, session: str, memory: TurnMemory) -> None:
        self._store = store
        self.id = session
        self.memory = memory
        self.released = False

    def release(self) -> None:
        """See `spi.SessionView`."""
        self.released = True

    def history(self, limit: int = 20) -> tuple[PastTurn, ...]:
        """See `spi.SessionView`; what no agent answered (commands, codes) is left out."""
        past = self._store.history(self.id, HISTORY_SLACK * limit)
        said = [turn for turn in past if turn.agent and not is_blank(turn.text)]
        return tuple(said[-limit:]) if limit > 0 else ()
