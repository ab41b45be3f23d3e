"""Recommends postings for what the user says and what the profile holds."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import jobclaw_jobs
from jobclaw.spi import Agent, AgentIntro, AgentRequest, Markdown, hookimpl
from jobclaw_jobs.listing import PostingList
from jobclaw_jobs.postings import PostingIndex, load_postings


class RecommendAgent(Agent):
    """Answers RECOMMEND from the posting file, five at a time, each with its reason."""

    intro = AgentIntro(
        id="job-recommend",
        name="Job recommendations",
        description="recommends postings that fit you",
        examples=("recommend some Java jobs",),
    )
    intents = ("RECOMMEND",)
    requires_profile = True
    locales = (Path(jobclaw_jobs.__path__[0]) / "locales", Path(__file__).parent / "locales")

    def __init__(self) -> None:
        self._index = PostingIndex(load_postings())

    async def handle(self, request: AgentRequest) -> AsyncIterator[Markdown]:
        """Answer about the shown list, else recommend by the words, else by the profile."""
        listing = PostingList(self._index, request)
        answer = listing.follow_up()
        if answer is None:
            found = self._index.find(request.plain)
            heading = "recommend.by-words"
            if not found:
                found = self._index.find(request.tools.profile.get("skills"))
                heading = "recommend.by-profile"
            if not found and request.message.attachments:
                yield listing.about_file()
                return
            if not found and self._index.is_unspecific(request.plain):
                found, heading = self._index.newest(), "list.unspecific"
            if not found:
                if listing.is_empty:
                    request.session.release()
                yield Markdown(request.say("recommend.nothing"))
                return
            answer = listing.show(found, heading)
        for part in answer:
            yield part


@hookimpl
def jobclaw_agents() -> list[Agent]:
    """Provide the agent."""
    return [RecommendAgent()]
