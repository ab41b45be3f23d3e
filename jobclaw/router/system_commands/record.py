"""Commands about the last routed message: `/why` explains it, `/wrong` sends it elsewhere."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from jobclaw.model import Button, Buttons, Markdown, Parked, RouteDecision, Turn
from jobclaw.observe.why import Explainer
from jobclaw.registry.agents import AgentEntry, AgentRegistry
from jobclaw.router.outcomes import Action, Reply
from jobclaw.router.permission import sift
from jobclaw.router.voice import Voice
from jobclaw.spi.store import Store

CHOICES_SHOWN = 3


class RecordCommands:
    """`/why [ID]` and `/wrong [ID]`, over the sender's own messages only."""

    def __init__(
        self, store: Store, agents: AgentRegistry, voice: Voice, explainer: Explainer
    ) -> None:
        self._store = store
        self._agents = agents
        self._voice = voice
        self._explainer = explainer

    def actions(self) -> Mapping[str, Action]:
        """The actions by name."""
        return {"why": self._why, "wrong": self._wrong}

    def _says(self, turn: Turn, text_id: str, /, **values: object) -> Reply:
        return Reply(turn, (Markdown(self._voice.say(turn, text_id, **values)),))

    def _last(self, turn: Turn, message_id: str | None) -> RouteDecision | None:
        wanted = message_id or turn.session.last_message
        return self._store.decision(wanted, turn.user.id) if wanted else None

    async def _why(self, turn: Turn) -> Reply:
        args = turn.command.args if turn.command is not None else None
        decision = self._last(turn, args)
        if decision is None:
            return self._says(turn, "why.unknown-message" if args else "why.nothing-yet")
        return Reply(turn, (Markdown(self._explainer.explain(decision, turn.locale)),))

    async def _wrong(self, turn: Turn) -> Reply:
        args = turn.command.args if turn.command is not None else None
        decision = self._last(turn, args)
        if decision is None or not decision.text:
            return self._says(turn, "why.unknown-message" if args else "why.nothing-yet")
        buttons = tuple(
            Button(
                id=f"pick:{entry.id}",
                label=self._voice.agent(turn.locale, entry.id),
                pick=entry.id,
            )
            for entry in self._others(turn, decision)
        )
        if not buttons:
            return self._says(turn, "wrong.nobody-else")
        kept = Parked(
            message_id=decision.replayed or decision.message, text=decision.text, why="wrong"
        )
        session = msgspec.structs.replace(turn.session, parked=kept)
        after = msgspec.structs.replace(turn, session=session)
        text = self._voice.say(turn, "wrong.which", text=decision.text[:40])
        return Reply(after, (Buttons(buttons=buttons, text=text),))

    def _others(self, turn: Turn, decision: RouteDecision) -> list[AgentEntry]:
        """The best other agents: those whose keywords were hit first, then by priority."""
        usable, _ = sift(self._agents.all(), turn.role)
        others = [entry for entry in usable if entry.id != decision.agent]
        hit = {keyword.intent: keyword.weight for keyword in decision.keywords}
        others.sort(key=lambda entry: -max((hit.get(i, 0.0) for i in entry.intents), default=0))
        return others[:CHOICES_SHOWN]
