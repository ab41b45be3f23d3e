"""Step 2: a registered command as the first token runs, or routes to its intent or agent."""

from __future__ import annotations

import msgspec

from jobclaw.model import Classification, Markdown, TierTrace, Turn
from jobclaw.router.outcomes import Answer, Next, Route, StepResult
from jobclaw.router.system_commands import SystemCommands
from jobclaw.router.voice import Voice


class CommandStep:
    """Runs system commands and turns intent commands into a certain classification."""

    def __init__(self, commands: SystemCommands, voice: Voice) -> None:
        self._commands = commands
        self._voice = voice

    async def run(self, turn: Turn) -> StepResult:
        """Act on the turn's command, if it is one of this step's kinds."""
        call = turn.command
        if turn.message.kind == "system":
            return Answer(_at(turn, "start"), "command", action=self._commands.get("start"))
        if call is None or call.kind == "switch":
            return Next(turn)
        here = _at(turn, call.name)
        match call.kind:
            case "system":
                return Answer(here, "command", action=self._commands.get(call.name))
            case "intent":
                return Next(_classified(here, call.target, call.args))
            case "agent":
                return Route(_with_text(here, call.args), call.target)
            case _:
                return self._hint(here, call.target)

    def _hint(self, turn: Turn, near: str) -> StepResult:
        if near:
            text = self._voice.say(turn, "command.did-you-mean", command=f"/{near}")
        else:
            text = self._voice.say(turn, "command.blank")
        return Answer(turn, "hint", (Markdown(text),))


def _at(turn: Turn, name: str) -> Turn:
    return msgspec.structs.replace(turn, step="command", tier="command", detail=f"/{name}")


def _with_text(turn: Turn, args: str | None) -> Turn:
    """The agent gets what followed the command, nothing when nothing did."""
    return msgspec.structs.replace(turn, args=args or "", text=args or "")


def _classified(turn: Turn, intent: str, args: str | None) -> Turn:
    result = Classification(
        intent=intent,
        confidence=1.0,
        tier="command",
        certain=True,
        tiers=(TierTrace(tier="command", outcome="hit", ms=0.0),),
    )
    return msgspec.structs.replace(
        _with_text(turn, args), intent=intent, confidence=1.0, classification=result
    )
