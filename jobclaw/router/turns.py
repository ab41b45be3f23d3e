"""Handles one accepted message from claim to what is committed.

Everything a turn changes is one value (`Handled`): decision, session, user, agent memory,
replies. It is stored in one transaction by the lane, or not at all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import assert_never

import msgspec

from jobclaw.model import (
    CORRECTION,
    Button,
    Buttons,
    InboundMessage,
    Markdown,
    Offer,
    OutboundMessage,
    Outcome,
    Session,
    Turn,
    User,
)
from jobclaw.router.draft import Draft
from jobclaw.router.gate import ProfileGate, resumed
from jobclaw.router.msg_router import MsgRouter
from jobclaw.router.outcomes import Answer, Drop, Route, Verdict
from jobclaw.router.reading import Reader
from jobclaw.router.record import decision_of, decision_without_turn
from jobclaw.router.steps.execute import Executed, ExecuteStep, failure_detail
from jobclaw.router.voice import Voice
from jobclaw.spi.clock import Clock
from jobclaw.spi.local import AgentFailure
from jobclaw.spi.store import Handled, InboxRow, InboxState, Label, MemoryWrite

INTERRUPTING = frozenset({"stop", "reset"})


@dataclass
class _Effects:
    """What a turn has changed so far."""

    draft: Draft
    user: User
    memory: list[MemoryWrite] = field(default_factory=list[MemoryWrite])
    labels: list[Label] = field(default_factory=list[Label])
    correctable: bool = False


@dataclass(frozen=True)
class Stages:
    """The three things that happen to a message, in order."""

    reader: Reader
    router: MsgRouter
    execute: ExecuteStep


class Turns:
    """The lanes' runner: reads, decides, executes and records.

    `revision` names the keyword table and settings that decisions are stamped with.
    """

    def __init__(
        self,
        stages: Stages,
        gate: ProfileGate,
        voice: Voice,
        clock: Clock,
        revision: Callable[[], str],
    ) -> None:
        self._reader = stages.reader
        self._router = stages.router
        self._execute = stages.execute
        self._gate = gate
        self._voice = voice
        self._clock = clock
        self._revision = revision

    async def handle(self, row: InboxRow) -> Handled:
        """Decide and run one message."""
        turn, stored = await self._reader.read(row.message, self._clock.now())
        effects = _Effects(Draft(row.message), stored)
        turn, agent, outcome = await self._conclude(await self._router.decide(turn), effects)
        if self._gate_opened(turn, agent, outcome):
            turn = _again(resumed(turn))
            turn, agent, outcome = await self._conclude(
                await self._router.decide(turn), effects
            )
        session = _closed(turn, effects.draft.offers, outcome)
        outbox = effects.draft.close()
        if effects.correctable and outbox:
            wrong = self._correction(turn)
            outbox = (*outbox[:-1], _with_button(outbox[-1], wrong))
            offer = Offer(id=wrong.id, label=wrong.label)
            session = msgspec.structs.replace(session, offers=(*session.offers, offer))
        state: InboxState = "dropped" if outcome == "dropped" else "done"
        return Handled(
            seq=row.seq,
            state=state,
            decision=decision_of(turn, agent, outcome, self._revision()),
            session=session,
            user=None if turn.user == effects.user else turn.user,
            user_was=effects.user,
            memory=tuple(effects.memory),
            outbox=outbox,
            labels=tuple(effects.labels),
        )

    def superseded(self, row: InboxRow) -> Handled:
        """See `bus.lanes.TurnRunner`."""
        return self._unrouted(row, "superseded", "superseded", ())

    def dead(self, row: InboxRow) -> Handled:
        """See `bus.lanes.TurnRunner`."""
        text = self._voice.say_in(self._reader.locale(row.message), "router.dead-letter")
        return self._unrouted(row, "dead", "failed", (_sorry(row.message, text),))

    def abandoned(self, failure: AgentFailure, row: InboxRow) -> Handled:
        """The record of a message whose agent did not end when its time was up."""
        locale = self._reader.locale(row.message)
        text = self._voice.say_in(locale, "router.agent-failed", id=failure.error_id)
        handled = self._unrouted(row, "done", "failed", (_sorry(row.message, text),))
        decision = msgspec.structs.replace(
            handled.decision, agent=failure.agent, detail=failure_detail(failure)
        )
        return msgspec.structs.replace(handled, decision=decision)

    def interrupts(self, message: InboundMessage) -> bool:
        """See `bus.lanes.TurnRunner`."""
        if message.kind == "stop":
            return True
        if not message.text and message.command is None:
            return False
        call = self._reader.command_of(message)
        return call is not None and call.kind == "system" and call.name in INTERRUPTING

    def _correction(self, turn: Turn) -> Button:
        """The button that says that the wrong agent answered."""
        label = self._voice.say(turn, "wrong.button")
        return Button(id=f"{CORRECTION}{turn.message.id}", label=label)

    def _unrouted(
        self,
        row: InboxRow,
        state: InboxState,
        outcome: Outcome,
        outbox: tuple[OutboundMessage, ...],
    ) -> Handled:
        decision = decision_without_turn(
            row.message, outcome, state, self._clock.now(), self._revision()
        )
        return Handled(seq=row.seq, state=state, decision=decision, outbox=outbox)

    async def _conclude(self, verdict: Verdict, effects: _Effects) -> tuple[Turn, str, Outcome]:
        match verdict:
            case Route(turn=turn, agent=agent):
                done = await self._execute.run(turn, agent, effects.draft)
                return self._executed(done, effects)
            case Answer():
                return await self._answered(verdict, effects)
            case Drop(turn=turn, reason=reason):
                return msgspec.structs.replace(turn, detail=reason), "", "dropped"
            case _:
                assert_never(verdict)

    def _executed(self, done: Executed, effects: _Effects) -> tuple[Turn, str, Outcome]:
        turn = done.turn
        effects.memory.extend(done.memory)
        effects.correctable = done.correctable
        pressed = turn.pressed
        if pressed is not None and pressed.pick and turn.replayed and turn.label:
            source = "wrong" if turn.detail == "pick-wrong" else "clarify"
            label = Label(text=turn.text, intent=turn.label, agent=done.agent, source=source)
            effects.labels.append(label)
        return turn, done.agent, done.outcome

    async def _answered(self, answer: Answer, effects: _Effects) -> tuple[Turn, str, Outcome]:
        turn, parts = answer.turn, answer.parts
        if answer.action is not None:
            reply = await answer.action(turn)
            turn, parts = reply.turn, reply.parts
            effects.memory.extend(reply.memory)
        effects.draft.lead(turn.notices)
        effects.draft.speak("")
        for part in parts:
            effects.draft.add(part)
        return turn, "", answer.outcome

    def _gate_opened(self, turn: Turn, agent: str, outcome: Outcome) -> bool:
        """Whether the gate's last question was just answered and a message waits."""
        kept = turn.session.parked
        return (
            outcome == "answered"
            and agent == self._gate.agent_id
            and kept is not None
            and kept.why == "gate"
            and not self._gate.missing(turn.user)
        )


def _with_button(message: OutboundMessage, button: Button) -> OutboundMessage:
    """The message with one more button under it."""
    *before, last = message.parts
    if isinstance(last, Buttons):
        last = msgspec.structs.replace(last, buttons=(*last.buttons, button))
        return msgspec.structs.replace(message, parts=(*before, last))
    return msgspec.structs.replace(message, parts=(*message.parts, Buttons((button,))))


def _sorry(message: InboundMessage, text: str) -> OutboundMessage:
    """An apology for a message that never became a turn."""
    return OutboundMessage(
        id=f"{message.id}.0",
        target=message.reply,
        parts=(Markdown(text),),
        in_reply_to=message.platform_message_id or message.id,
    )


def _again(turn: Turn) -> Turn:
    """A turn that starts over with another text."""
    return Turn(
        message=turn.message,
        text=turn.text,
        at=turn.at,
        user=turn.user,
        role=turn.role,
        locale=turn.locale,
        session=turn.session,
        replayed=turn.replayed,
        seen=turn.seen,
    )


def _closed(turn: Turn, offers: tuple[Offer, ...], outcome: Outcome) -> Session:
    """The session as the next message finds it."""
    session = turn.session
    if outcome == "dropped":
        return session
    kept = session.parked
    if kept is not None and kept.why != "gate" and not offers:
        kept = None
    routed = outcome in ("answered", "failed", "clarify", "refused") and turn.step != "command"
    return msgspec.structs.replace(
        session,
        offers=offers,
        parked=kept,
        clarified=outcome == "clarify",
        last_message=turn.message.id if routed or turn.intent else session.last_message,
    )
