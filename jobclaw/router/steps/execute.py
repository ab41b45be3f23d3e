"""Step 7: bind, run the agent within its deadline, and gather what it says and changes."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import msgspec

from jobclaw.intent.normalise import fold
from jobclaw.model import (
    InboundMessage,
    Markdown,
    OutboundMessage,
    Outcome,
    ReplyPart,
    Session,
    Turn,
    User,
    chat_key,
)
from jobclaw.registry.agents import AgentEntry, AgentRegistry
from jobclaw.router.agent_run import AgentFault, run_agent
from jobclaw.router.binding import bound, paused, remembered, unbound
from jobclaw.router.deadline import Deadlines, Task
from jobclaw.router.draft import Draft
from jobclaw.router.permission import obstacle
from jobclaw.router.policy import Policy
from jobclaw.router.voice import Voice
from jobclaw.router.workbench import TurnMemory, TurnProfile, TurnSession
from jobclaw.spi.agent import AgentRequest, Tools
from jobclaw.spi.fetch import Fetcher
from jobclaw.spi.llm import LlmClient
from jobclaw.spi.local import AgentFailure
from jobclaw.spi.store import MemoryWrite, Store

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Surroundings:
    """What a turn needs of the world: missing fields, who watches, who is told, a model.

    `abandon`: the turn of this task failed and will not end; whoever waits for it must not.
    `clean` takes secrets out of what an agent's failure says.
    """

    missing: Callable[[User], tuple[str, ...]]
    streams: Callable[[InboundMessage], bool]
    preview: Callable[[OutboundMessage], None]
    failed: Callable[[AgentFailure], None]
    abandon: Callable[[Task, AgentFailure], None]
    clean: Callable[[str], str]
    llm: LlmClient | None = None
    fetch: Fetcher | None = None


@dataclass(frozen=True)
class Executed:
    """The turn after its agent: session and user as they are to be stored.

    `correctable`: the router found the agent by the words, so it may have been the wrong one.
    """

    turn: Turn
    agent: str
    outcome: Outcome
    memory: tuple[MemoryWrite, ...] = ()
    correctable: bool = False


class ExecuteStep:
    """Runs the chosen agent; a failing one gives a neutral sentence with an error id."""

    def __init__(
        self,
        agents: AgentRegistry,
        store: Store,
        voice: Voice,
        policy: Policy,
        surroundings: Surroundings,
    ) -> None:
        self._agents = agents
        self._store = store
        self._voice = voice
        self._policy = policy
        self._around = surroundings
        self._deadlines = Deadlines(policy.agent_timeout_s)

    async def run(self, turn: Turn, agent_id: str, draft: Draft) -> Executed:
        """Bind and run; what is said goes into the draft."""
        entry = self._agents.get(agent_id)
        if entry is None or obstacle(entry, turn.role) is not None:
            return self._refused(turn, "refused.unavailable", agent_id, draft)
        if entry.agent.private and turn.is_group:
            return self._refused(turn, "refused.private", agent_id, draft)
        turn = self._bound(turn, entry)
        memory = TurnMemory(self._store, turn.session.key, entry.id)
        session = TurnSession(self._store, turn.session.key, memory)
        profile = TurnProfile(turn.user)
        draft.lead(turn.notices)
        draft.speak(entry.id, self._voice.agent(turn.locale, entry.id))
        fault = await self._run(entry, self._request(turn, entry, session, profile), draft)
        if fault is not None:
            return self._failed(turn, entry, fault, draft)
        turn = msgspec.structs.replace(
            turn, session=self._left(turn, session), user=_user(turn, profile)
        )
        found = self._was_found(turn, entry)
        return Executed(turn, entry.id, "answered", memory.writes(), correctable=found)

    def _was_found(self, turn: Turn, entry: AgentEntry) -> bool:
        """Whether the words led here; who asks questions in a row hears every answer itself."""
        by_words = turn.step == "classify" or turn.detail == "escape"
        is_default = entry.id == self._policy.default_agent
        return by_words and not is_default and not entry.agent.holds

    def _refused(self, turn: Turn, text_id: str, agent_id: str, draft: Draft) -> Executed:
        name = self._voice.agent(turn.locale, agent_id)
        draft.lead(turn.notices)
        draft.add(Markdown(self._voice.say(turn, text_id, agent=name)))
        return Executed(turn, "", "refused")

    async def _run(
        self, entry: AgentEntry, request: AgentRequest, draft: Draft
    ) -> AgentFault | None:
        take: Callable[[ReplyPart], object] = draft.add
        if self._around.streams(request.message):
            take = partial(_shown, draft, self._around.preview)
        try:
            stuck = partial(self._stuck, entry, request.message)
            await run_agent(entry, request, self._deadlines, take, stuck)
        except AgentFault as fault:
            return fault
        return AgentFault("said nothing") if draft.is_silent() else None

    def _request(
        self, turn: Turn, entry: AgentEntry, session: TurnSession, profile: TurnProfile
    ) -> AgentRequest:
        return AgentRequest(
            message=turn.message,
            text=turn.text,
            plain=fold(turn.text),
            args=turn.args,
            user=_copied(turn.user),
            locale=turn.locale,
            session=session,
            tools=Tools(profile=profile, llm=self._around.llm, fetch=self._around.fetch),
            say=partial(_say, entry, self._voice, turn),
            at=turn.at,
            intent=turn.intent,
            missing=turn.missing or self._around.missing(turn.user),
        )

    def _bound(self, turn: Turn, entry: AgentEntry) -> Turn:
        session = turn.session
        if entry.id == self._policy.default_agent:
            session = paused(session, turn.at, self._policy.default_pause)
        elif turn.bind and not (turn.step == "binding" and session.bound_agent == entry.id):
            session = bound(session, entry.id, turn.at, self._policy.ttl)
        if turn.classification is not None:
            session = remembered(session, turn, entry.id)
        return msgspec.structs.replace(turn, session=session)

    def _left(self, turn: Turn, session: TurnSession) -> Session:
        return unbound(turn.session) if session.released else turn.session

    def _failed(
        self, turn: Turn, entry: AgentEntry, fault: AgentFault, draft: Draft
    ) -> Executed:
        failure = self._report(entry, turn.message, fault)
        said = "" if draft.is_silent() else "\n\n"
        draft.end_thought()
        text = self._voice.say(turn, "router.agent-failed", id=failure.error_id)
        draft.add(Markdown(said + text))
        detail = failure_detail(failure)
        return Executed(msgspec.structs.replace(turn, detail=detail), entry.id, "failed")

    def _stuck(
        self, entry: AgentEntry, message: InboundMessage, fault: AgentFault, task: Task
    ) -> None:
        self._around.abandon(task, self._report(entry, message, fault))

    def _report(
        self, entry: AgentEntry, message: InboundMessage, fault: AgentFault
    ) -> AgentFailure:
        """Log a failure under a fresh error id and tell who watches."""
        error_id = f"E{secrets.token_hex(3)}"
        _log.error(
            "agent %s failed on message %s (%s): %s\n%s",
            entry.id,
            message.id,
            error_id,
            fault.reason,
            fault.trace,
        )
        failure = AgentFailure(
            error_id=error_id,
            agent=entry.id,
            message=message.platform_message_id or message.id,
            reason=self._around.clean(fault.reason),
            traceback=self._around.clean(fault.trace),
            chat=chat_key(message.reply),
        )
        self._around.failed(failure)
        return failure


def failure_detail(failure: AgentFailure) -> str:
    """How a decision names a failure."""
    return f"error {failure.error_id}: {failure.reason[:200]}"


def _shown(draft: Draft, preview: Callable[[OutboundMessage], None], part: ReplyPart) -> None:
    """Take a part and show the answer as far as it is written."""
    if draft.add(part) and (current := draft.current()) is not None:
        preview(current)


def _say(entry: AgentEntry, voice: Voice, turn: Turn, text_id: str, /, **values: object) -> str:
    if entry.texts is not None:
        return entry.texts.say(turn.locale, text_id, **values)
    return voice.say(turn, text_id, **values)


def _copied(user: User) -> User:
    """A copy for the agent: whatever it does to it changes nobody's role."""
    return msgspec.structs.replace(user, profile=dict(user.profile))


def _user(turn: Turn, profile: TurnProfile) -> User:
    if not profile.changed:
        return turn.user
    return msgspec.structs.replace(turn.user, profile=profile.fields())
