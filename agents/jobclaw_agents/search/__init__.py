"""Searches postings by the words of the user."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import jobclaw_jobs
from jobclaw.spi import Agent, AgentIntro, AgentRequest, Markdown, hookimpl
from jobclaw_jobs.listing import PostingList
from jobclaw_jobs.postings import PostingIndex, load_postings


class SearchAgent(Agent):
    """Answers SEARCH from the posting file, five at a time."""

    intro = AgentIntro(
        id="job-search",
        name="Job search",
        description="finds postings by city, skill, type or company",
        examples=("find Python jobs in Toronto",),
    )
    intents = ("SEARCH",)
    locales = (Path(jobclaw_jobs.__path__[0]) / "locales", Path(__file__).parent / "locales")

    def __init__(self) -> None:
        self._index = PostingIndex(load_postings())

    async def handle(self, request: AgentRequest) -> AsyncIterator[Markdown]:
        """Answer about the shown list, else search."""
        listing = PostingList(self._index, request)
        answer = listing.follow_up()
        if answer is None:
            found, heading = self._index.find(request.plain), "search.found"
            if not found and request.message.attachments:
                yield listing.about_file()
                return
            if not found and self._index.is_unspecific(request.plain):
                found, heading = self._index.newest(), "list.unspecific"
            if not found:
                if listing.is_empty:
                    request.session.release()
                yield Markdown(request.say("search.nothing"))
                return
            answer = listing.show(found, heading)
        for part in answer:
            yield part


@hookimpl
def jobclaw_agents() -> list[Agent]:
    """Provide the agent."""
    return [SearchAgent()]
