"""The operations on the store of this process.

Plugins and the router are asked for only when an operation needs them: they take longer to load
than most operations take.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import msgspec

from jobclaw.model import Locale, RouteDecision, Session, User
from jobclaw.observe.why import Explainer
from jobclaw.router.binding import unbound
from jobclaw.router.msg_router import MsgRouter
from jobclaw.router.reading import Reader
from jobclaw.router.system_commands.account import new_code
from jobclaw.service.dry_run import NOBODY, anybody, dry_run, sample_message
from jobclaw.service.health import HealthCheck
from jobclaw.service.operations import (
    AgentLine,
    Health,
    Person,
    Push,
    PushStatus,
    Question,
    Running,
)
from jobclaw.service.people import create_codes, known_role, set_role, the_user
from jobclaw.service.pushes import Pushes
from jobclaw.service.refusals import NoDaemonError, NotFoundError
from jobclaw.service.roster import Roster, agent_lines
from jobclaw.spi.clock import Clock
from jobclaw.spi.store import DecisionFilter, RoleGrant, Store

_PASSED_OVER = 50


class Deciding(Protocol):
    """What decides."""

    @property
    def explainer(self) -> Explainer:
        """Puts decisions into words."""
        ...

    def reader(self) -> Reader:
        """Makes turns of messages."""
        ...

    def router(self) -> MsgRouter:
        """The steps."""
        ...

    def revision(self) -> str:
        """The keywords and settings in use."""
        ...


class LocalOperations:
    """See `operations.Operations`; `running` is None where there is no daemon around it."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        roster: Callable[[], Roster],
        deciding: Callable[[], Deciding],
        running: Running | None = None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._roster = roster
        self._deciding = deciding
        self._running = running
        self._pushes = Pushes(store, running)
        self._health = HealthCheck(store, clock, running)

    async def agents(self, locale: Locale) -> tuple[AgentLine, ...]:
        """See `Operations.agents`."""
        return tuple(agent_lines(self._roster(), locale))

    async def users(self, limit: int, before: str = "") -> tuple[Person, ...]:
        """See `Operations.users`."""
        return tuple(map(self._person, self._store.list_users(limit, before)))

    async def user(self, named: str) -> Person:
        """See `Operations.user`."""
        return self._person(the_user(self._store, named))

    async def set_role(self, named: str, role: str, days: int | None = None) -> User:
        """See `Operations.set_role`."""
        user = the_user(self._store, named)
        return await set_role(self._store, user, known_role(role), days, self._clock.now())

    async def create_codes(self, role: str, days: int, count: int) -> tuple[str, ...]:
        """See `Operations.create_codes`."""
        grant = RoleGrant(role=known_role(role), days=days)
        codes = tuple(new_code() for _ in range(count))
        await create_codes(self._store, codes, grant, self._clock.now())
        return codes

    async def sessions(self, limit: int, before: str = "") -> tuple[Session, ...]:
        """See `Operations.sessions`."""
        return self._store.list_sessions(limit, before)

    async def session(self, key: str) -> Session:
        """See `Operations.session`."""
        session = self._store.session(key)
        if session is None:
            raise NotFoundError("sessions.unknown", session=key)
        return session

    async def reset_session(self, key: str) -> Session:
        """See `Operations.reset_session`."""
        session = unbound(await self.session(key))
        await self._store.save(session)
        return session

    async def decisions(self, query: DecisionFilter) -> tuple[RouteDecision, ...]:
        """See `Operations.decisions`."""
        if query.user:
            user = the_user(self._store, query.user)
            query = msgspec.structs.replace(query, user=user.id)
        return self._store.decisions(query)

    async def decision(self, message_id: str = "", user: str = "") -> RouteDecision:
        """See `Operations.decision`."""
        owner = the_user(self._store, user).id if user else ""
        if not message_id:
            return self._newest(owner)
        found = self._store.decision(message_id, owner)
        if found is None:
            raise NotFoundError("cli.why.unknown", message=message_id)
        return found

    async def explain(self, decision: RouteDecision, locale: Locale) -> str:
        """See `Operations.explain`."""
        return self._deciding().explainer.explain(decision, locale)

    async def route(self, question: Question) -> RouteDecision:
        """See `Operations.route`."""
        deciding, named = self._deciding(), question.user
        role = known_role(question.role) if question.role else None
        message = sample_message(question.text, named or NOBODY, role, self._clock.now())
        user = self._somebody(named)
        reader, router = deciding.reader(), deciding.router()
        return await dry_run(reader, router, message, user, deciding.revision())

    async def push(self, push: Push) -> PushStatus:
        """See `Operations.push`."""
        if self._running is None:
            raise NoDaemonError("push.no-daemon")
        return await self._pushes.push(push)

    async def message_status(self, push_id: str) -> PushStatus:
        """See `Operations.message_status`."""
        return self._pushes.status(push_id)

    async def health(self) -> Health:
        """See `Operations.health`."""
        return await self._health.now()

    def _person(self, user: User) -> Person:
        identities = tuple(":".join(who) for who in self._store.identities(user.id))
        return Person(user=user, identities=identities)

    def _newest(self, owner: str) -> RouteDecision:
        """The newest routed message; commands such as /why itself are passed over."""
        query = DecisionFilter(user=owner, limit=_PASSED_OVER)
        for decision in self._store.decisions(query):
            if decision.outcome not in ("command", "hint"):
                return decision
        raise NotFoundError("cli.why.nothing")

    def _somebody(self, named: str) -> User:
        """The user who is named, as the console knows them first; else one without a past."""
        if not named:
            return anybody()
        found = self._store.find_users(f"console:default:{named}")
        found = found or self._store.find_users(named)
        return found[0] if found else msgspec.structs.replace(anybody(), id=named, name=named)
