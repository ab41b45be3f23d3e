"""Keeps the user's applications of a chat and lists them."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path

import msgspec

from jobclaw.spi import Agent, AgentIntro, AgentRequest, Markdown, hookimpl

_APPLIED = re.compile(
    r"(?:我|刚|已经|今天|昨天)*(?:投了|投递了|申请了|已投)\s*(?P<zh>[^，。,.!?！？\n]{2,40})"
    r"|\bI(?:'ve| have)?\s+applied\s+(?:to|for|at)\s+(?P<en>[^,.!?\n]{2,40})",
    re.IGNORECASE,
)
_QUESTION = re.compile(r"[?？吗呢]\s*$|多少|哪些|几家|什么")


class Application(msgspec.Struct, frozen=True):
    """One application as the user told it."""

    what: str
    at: datetime


class ProgressAgent(Agent):
    """Answers QUERY from what the user said was applied for."""

    intro = AgentIntro(
        id="progress",
        name="Application progress",
        description="keeps track of what you applied for",
        examples=("how are my applications going",),
    )
    intents = ("QUERY",)
    private = True
    locales = Path(__file__).parent / "locales"

    async def handle(self, request: AgentRequest) -> AsyncIterator[Markdown]:
        """Note an application, or list those noted."""
        request.session.release()  # one question, one answer: what comes next is heard afresh
        kept = request.session.memory.get("applications")
        noted = msgspec.json.decode(kept, type=list[Application]) if kept else []
        told = _APPLIED.search(request.text)
        if told is not None and not _QUESTION.search(request.plain):
            what = (told.group("zh") or told.group("en")).strip()
            noted.append(Application(what, request.at))
            memory = msgspec.json.encode(noted[-50:]).decode()
            request.session.memory.set("applications", memory)
            yield Markdown(request.say("progress.noted", what=what, n=len(noted)))
            return
        if not noted:
            yield Markdown(request.say("progress.nothing"))
            return
        yield Markdown(request.say("progress.list", n=len(noted)))
        for item in noted:
            yield Markdown(f"\n- {item.at:%Y-%m-%d} {item.what}")


@hookimpl
def jobclaw_agents() -> list[Agent]:
    """Provide the agent."""
    return [ProgressAgent()]
