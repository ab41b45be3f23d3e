"""The operations of a running daemon, over its API."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar
from urllib.parse import quote

import msgspec

from jobclaw.cli.remote import Remote
from jobclaw.model import Locale, RouteDecision, Session, User, to_json
from jobclaw.service.operations import (
    AgentLine,
    Health,
    Person,
    Push,
    PushStatus,
    Question,
)
from jobclaw.spi.store import DecisionFilter

T = TypeVar("T")
PAGE = 1000


class _RoleChange(msgspec.Struct):
    role: str
    days: int | None


class _CodeOrder(msgspec.Struct):
    role: str
    days: int
    count: int


class _Explanation(msgspec.Struct):
    explanation: str


class RemoteOperations:
    """See `service.operations.Operations`."""

    def __init__(self, remote: Remote) -> None:
        self._remote = remote

    async def agents(self, locale: Locale) -> tuple[AgentLine, ...]:  # noqa: ARG002 - asked for in the connection's language
        """See `Operations.agents`."""
        return await self._remote.call("GET", "/agents", tuple[AgentLine, ...])

    async def users(self, limit: int, before: str = "") -> tuple[Person, ...]:
        """See `Operations.users`."""

        async def part(most: int, after: str) -> tuple[Person, ...]:
            query = {"limit": str(most), "before": after}
            return await self._remote.call("GET", "/users", tuple[Person, ...], query=query)

        return await _paged(part, limit, before, lambda person: person.user.id)

    async def user(self, named: str) -> Person:
        """See `Operations.user`."""
        return await self._remote.call("GET", f"/users/{_part(named)}", Person)

    async def set_role(self, named: str, role: str, days: int | None = None) -> User:
        """See `Operations.set_role`."""
        body = to_json(_RoleChange(role, days))
        path = f"/users/{_part(named)}/role"
        return (await self._remote.call("PUT", path, Person, body=body)).user

    async def create_codes(self, role: str, days: int, count: int) -> tuple[str, ...]:
        """See `Operations.create_codes`."""
        body = to_json(_CodeOrder(role, days, count))
        return await self._remote.call("POST", "/users/codes", tuple[str, ...], body=body)

    async def sessions(self, limit: int, before: str = "") -> tuple[Session, ...]:
        """See `Operations.sessions`."""

        async def part(most: int, after: str) -> tuple[Session, ...]:
            query = {"limit": str(most), "before": after}
            return await self._remote.call("GET", "/sessions", tuple[Session, ...], query=query)

        return await _paged(part, limit, before, lambda session: session.key)

    async def session(self, key: str) -> Session:
        """See `Operations.session`."""
        return await self._remote.call("GET", f"/sessions/{_part(key)}", Session)

    async def reset_session(self, key: str) -> Session:
        """See `Operations.reset_session`."""
        return await self._remote.call("POST", f"/sessions/{_part(key)}/reset", Session)

    async def decisions(self, query: DecisionFilter) -> tuple[RouteDecision, ...]:
        """See `Operations.decisions`."""
        named = {
            "user": query.user,
            "session": query.session,
            "agent": query.agent,
            "tier": query.tier,
            "since": query.since.isoformat() if query.since is not None else "",
        }
        given = {name: value for name, value in named.items() if value}

        async def part(most: int, after: str) -> tuple[RouteDecision, ...]:
            asked = {**given, "limit": str(most), "before": after}
            kind = tuple[RouteDecision, ...]
            return await self._remote.call("GET", "/decisions", kind, query=asked)

        return await _paged(part, query.limit, query.before, lambda found: found.message)

    async def decision(self, message_id: str = "", user: str = "") -> RouteDecision:
        """See `Operations.decision`."""
        path = f"/decisions/{_part(message_id)}" if message_id else "/decisions/newest"
        return await self._remote.call("GET", path, RouteDecision, query={"user": user})

    async def explain(self, decision: RouteDecision, locale: Locale) -> str:
        """See `Operations.explain`."""
        body = to_json(decision)
        found = await self._remote.call(
            "POST", "/explain", _Explanation, query={"locale": locale}, body=body
        )
        return found.explanation

    async def route(self, question: Question) -> RouteDecision:
        """See `Operations.route`."""
        return await self._remote.call("POST", "/route", RouteDecision, body=to_json(question))

    async def push(self, push: Push) -> PushStatus:
        """See `Operations.push`."""
        return await self._remote.call("POST", "/messages", PushStatus, body=to_json(push))

    async def message_status(self, push_id: str) -> PushStatus:
        """See `Operations.message_status`."""
        return await self._remote.call("GET", f"/messages/{_part(push_id)}", PushStatus)

    async def health(self) -> Health:
        """See `Operations.health`."""
        return await self._remote.call("GET", "/health", Health)


async def _paged(
    part: Callable[[int, str], Awaitable[Sequence[T]]],
    limit: int,
    before: str,
    key: Callable[[T], str],
) -> tuple[T, ...]:
    """A list of any length, asked for in parts."""
    found: list[T] = []
    while len(found) < limit:
        most = min(PAGE, limit - len(found))
        got = await part(most, before)
        found += got
        if len(got) < most:
            break
        before = key(got[-1])
    return tuple(found)


def _part(name: str) -> str:
    return quote(name, safe="")
