"""Asks a newcomer two questions and keeps the answers; shows and changes them later."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from jobclaw.model import User
from jobclaw.spi import (
    Agent,
    AgentIntro,
    AgentRequest,
    Button,
    Buttons,
    IdentityGate,
    Markdown,
    ReplyPart,
    hookimpl,
)

AGENT_ID = "identity"
FIELDS = ("skills", "education")
ANSWER_LIMIT = 300
_CHANGE = re.compile(
    r"^(?:请?把)?(?:我的)?(?P<zh>技能|[学學][历歷]|教育|[学學]校)(?:改成|改[为為]|[换換]成|更新[为為]|是)\s*"
    r"(?P<zv>(?!什么|啥|哪|怎么).+)$"
    r"|^(?:change|set|update) (?:my )?(?P<en>skills|education) (?:to|as) (?P<ev>.+)$",
    re.IGNORECASE | re.DOTALL,
)
_NO_ANSWER = re.compile(
    r"^\W*(你好|您好|嗨|哈喽|在吗|谢谢|好的?|嗯+|哦+)\W*$"
    r"|^\W*(ok|okay|hi|hello|hey|thanks|thank you|yes|no)\W*$"
    r"|[?？]\s*$|[吗么呢]\W*$|^\W*$"
    r"|^(我?不想|不要|不用|不填|不告诉|别|算了|没有|以后)"
    r"|^(why\b|what\b|how\b|i don't|i do not|no thanks)",
    re.IGNORECASE,
)
_SKIP = re.compile(r"^\W*(跳过|稍后|skip|later)\W*$", re.IGNORECASE)
_SHOW = re.compile(r"看看|查看|显示|是什么|\b(show|see|what)\b", re.IGNORECASE)
_REQUEST = re.compile(
    r"^[/／@]|岗位|职位|招聘|投递|简历|资料"
    r"|^(帮我|给我|我想|我要|请|推荐|搜|查|找|看看|订阅|取消)"
    r"|\b(jobs?|subscribe|recommend|search|find|show|looking for|apply|applied|application)\b"
    r"|\b(résumé|resume)\b"
    r"|^(i want|i need|i'd like|can you|could you|please|tell me|my profile)\b",
    re.IGNORECASE,
)
_NAMES = {
    "技能": "skills",
    "学历": "education",
    "學歷": "education",
    "學校": "education",
    "教育": "education",
    "学校": "education",
    "skills": "skills",
    "education": "education",
}


class ProfileQuestions:
    """The gate: a field is missing until it has an answer."""

    agent_id = AGENT_ID
    fields: tuple[str, ...] = FIELDS

    def missing(self, user: User, required: Sequence[str]) -> tuple[str, ...]:
        """See `spi.IdentityGate`."""
        return tuple(field for field in required if not user.profile.get(field))


class IdentityAgent(Agent):
    """Answers PROFILE, and every message of a newcomer until the questions are answered."""

    intro = AgentIntro(
        id=AGENT_ID,
        name="Your profile",
        description="asks what is needed to serve you, and shows or changes it",
        examples=("show my profile",),
    )
    intents = ("PROFILE",)
    priority = 10
    holds = True
    private = True
    locales = Path(__file__).parent / "locales"

    async def handle(self, request: AgentRequest) -> AsyncIterator[ReplyPart]:
        """Take the answer to the question asked last, then ask the next one."""
        asking = self._asked(request)
        text, plain = request.text.strip(), request.plain.strip()
        if _SKIP.match(plain):
            yield self._left(request, "identity.skipped")
            return
        changed = self._change(request, text)
        if asking in request.missing and request.args is None and not changed:
            text_id = _why_no_answer(plain)
            if text_id:
                yield Markdown(request.say(text_id) + "\n\n")
            else:
                request.tools.profile.set(asking, _answer(text))
        left = tuple(f for f in request.missing if not request.tools.profile.get(f))
        if not left or changed or (request.intent and _SHOW.search(plain)):
            done = asking and not changed and not left
            yield self._left(request, "identity.done" if done else "identity.profile")
            return
        request.session.memory.set("asking", f"{left[0]} {request.user.gate.postponed}")
        first = not asking and len(left) == len(FIELDS)
        lead = request.say("identity.welcome") + "\n\n" if first else ""
        yield Markdown(lead + request.say(f"identity.ask-{left[0]}"))
        yield Buttons((Button(id="skip", label=request.say("identity.skip")),))

    def _change(self, request: AgentRequest, text: str) -> bool:
        """Make a change that the text spells out; False if it does not."""
        change = _CHANGE.match(text)
        if change is None:
            return False
        field = _NAMES[(change.group("zh") or change.group("en")).casefold()]
        request.tools.profile.set(field, _answer(change.group("zv") or change.group("ev")))
        return True

    def _left(self, request: AgentRequest, text_id: str) -> Markdown:
        """The last word of the agent, which then lets the session go."""
        request.session.memory.set("asking", "")
        request.session.release()
        fields = {name: request.tools.profile.get(name) or "-" for name in FIELDS}
        return Markdown(request.say(text_id, **fields))

    def _asked(self, request: AgentRequest) -> str:
        """The field that was asked for last, if this message can answer it.

        It cannot once the questions were put off, or another agent has answered since.
        """
        field, _, postponed = request.session.memory.get("asking").partition(" ")
        last = request.session.history(1)
        if postponed != str(request.user.gate.postponed) or not last:
            return ""
        return field if last[-1].agent == AGENT_ID else ""


def _why_no_answer(text: str) -> str:
    """The sentence that says why a text is no answer to a question, empty if it is one."""
    if _REQUEST.search(text):
        return "identity.first-this"
    return "identity.no-answer" if _NO_ANSWER.search(text) else ""


def _answer(text: str) -> str:
    return " ".join(text.split())[:ANSWER_LIMIT]


@hookimpl
def jobclaw_agents() -> list[Agent]:
    """Provide the agent."""
    return [IdentityAgent()]


@hookimpl
def jobclaw_identity_gate() -> IdentityGate:
    """Provide the gate that sends newcomers to the agent."""
    return ProfileQuestions()
