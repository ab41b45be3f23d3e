"""Answers what no other agent answers, shortly, and says what can be asked."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

from jobclaw.spi import Agent, AgentIntro, AgentRequest, Markdown, hookimpl

_KINDS = (
    ("chat.thanks", r"谢谢|多谢|感谢|辛苦了|\bthanks?\b|thank you"),
    ("chat.goodbye", r"再见|拜拜|晚安|\b(good)?bye\b|see you|good night"),
    ("chat.person", r"人工|真人|客服|\b(human|real person|a person|someone)\b"),
    ("chat.about", r"你是谁|你叫什么|who are you|what are you"),
    ("chat.offer", r"能做什么|能干什么|能干嘛|会什么|怎么用|帮助|what can you"),
    ("chat.offer", r"^\W*help\W*$|how do(es)? (i|this)"),
    (
        "chat.hello",
        r"^\W*(你好|您好|嗨|哈喽|在吗|在不在|早上好|下午好|晚上好|(hi|hello|hey)\b)",
    ),
)
_NOT_OFFERED = frozenset({"SUBSCRIBE", "UNSUBSCRIBE", "PLAN", "COLLECT"})
_SHORT = frozenset({"chat.thanks", "chat.goodbye", "chat.person"})


class ChatAgent(Agent):
    """The default agent; lowest priority."""

    intro = AgentIntro(
        id="chat",
        name="Chat",
        description="small talk, and what you can ask for",
        examples=("what can you do",),
    )
    intents = ("CHAT",)
    priority = -1000
    locales = Path(__file__).parent / "locales"

    def __init__(self) -> None:
        self._kinds = [(name, re.compile(text, re.IGNORECASE)) for name, text in _KINDS]

    async def handle(self, request: AgentRequest) -> AsyncIterator[Markdown]:
        """Answer small talk by its kind; say plainly what is not offered, and what is."""
        text_id = self._kind(request)
        names = ", ".join(one.name or one.kind for one in request.message.attachments)
        yield Markdown(request.say(text_id, files=names))
        if text_id not in _SHORT:
            yield Markdown("\n\n" + request.say("chat.offers"))

    def _kind(self, request: AgentRequest) -> str:
        if request.intent in _NOT_OFFERED:
            return f"chat.not-yet-{request.intent.lower()}"
        for text_id, pattern in self._kinds:
            if pattern.search(request.plain):
                return text_id
        return "chat.file" if request.message.attachments else "chat.unsure"


@hookimpl
def jobclaw_agents() -> list[Agent]:
    """Provide the agent."""
    return [ChatAgent()]
