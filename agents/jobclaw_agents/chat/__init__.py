"""Answers what no other agent answers, shortly, and says what can be asked."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

from jobclaw.spi import Agent, AgentIntro, AgentRequest, Markdown, hookimpl

_GREETING = re.compile(
    r"^\W*(你好|您好|嗨|哈喽|早上好|下午好|晚上好|(hi|hello|hey)\b)", re.IGNORECASE
)
_THANKS = re.compile(r"谢谢|多谢|感谢|\bthanks?\b|thank you", re.IGNORECASE)


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

    async def handle(self, request: AgentRequest) -> AsyncIterator[Markdown]:
        """Greet, take thanks, or say what can be asked."""
        if _THANKS.search(request.text):
            yield Markdown(request.say("chat.thanks"))
            return
        if _GREETING.search(request.text):
            yield Markdown(request.say("chat.hello") + "\n\n")
        else:
            yield Markdown(request.say("chat.unsure") + "\n\n")
        yield Markdown(request.say("chat.offers"))


@hookimpl
def jobclaw_agents() -> list[Agent]:
    """Provide the agent."""
    return [ChatAgent()]
