"""A shown list of postings and the questions that people ask about it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from jobclaw.spi import AgentRequest, Markdown
from jobclaw_jobs.postings import Match, Posting, PostingIndex

PAGE = 5
_SALARY = re.compile(r"薪资|工资|薪水|待遇|多少钱|salary|\bpay\b|how much", re.IGNORECASE)
_PLACE = re.compile(r"地点|在哪|哪里|哪个城市|where|location|which city", re.IGNORECASE)
_LINK = re.compile(r"链接|网址|怎么投|怎么申请|在哪投|link|how (do|can) i apply", re.IGNORECASE)
_MORE = re.compile(
    r"^(换一批|更多|还有吗|还有别的吗|下一页|more|show more|next page)\W*$", re.IGNORECASE
)
_NTH = re.compile(
    r"第\s*([一二三四五12345])\s*(个|条|份)|\b(first|second|third|fourth|fifth)\b"
)
_NUMBERS = {
    **dict(zip("一二三四五", range(5), strict=True)),
    **dict(zip("12345", range(5), strict=True)),
    **dict(zip(("first", "second", "third", "fourth", "fifth"), range(5), strict=True)),
}
_SHORT = 14


class Listing(msgspec.Struct, frozen=True):
    """What was shown last: all found postings, and where the shown page starts."""

    ids: tuple[str, ...] = ()
    start: int = 0


class PostingList:
    """The list of one session and agent, kept in its memory."""

    def __init__(self, index: PostingIndex, request: AgentRequest) -> None:
        self._index = index
        self._request = request
        kept = request.session.memory.get("listing")
        self._listing = msgspec.json.decode(kept, type=Listing) if kept else Listing()

    @property
    def is_empty(self) -> bool:
        """Whether no list has been shown that one could ask about."""
        return not self._listing.ids

    def follow_up(self) -> Iterator[Markdown] | None:
        """The answer to a question about the shown list, None for something new."""
        text = self._request.plain.strip()
        if not self._listing.ids:
            return None
        if _MORE.match(text):
            return self._page(self._listing.start + PAGE)
        chosen = self._chosen(text)
        if chosen is None and len(text) > _SHORT and text.isascii() is False:
            return None
        return self._answer(text, chosen)

    def _answer(self, text: str, chosen: Posting | None) -> Iterator[Markdown] | None:
        shown = (chosen,) if chosen is not None else self._shown()
        for pattern, field in ((_LINK, "link"), (_SALARY, "salary"), (_PLACE, "place")):
            if pattern.search(text):
                return self._fields(shown, field)
        return None if chosen is None else self._detail(chosen)

    def show(self, found: tuple[Match, ...], reasons: str) -> Iterator[Markdown]:
        """Show the first page of what was found; `reasons` is the text id of the heading."""
        self._keep(Listing(tuple(match.posting.id for match in found), 0))
        yield Markdown(self._request.say(reasons, n=len(found)) + "\n")
        for number, match in enumerate(found[:PAGE], start=1):
            yield Markdown(self._line(number, match.posting, match.words))
        if len(found) > PAGE:
            yield Markdown("\n\n" + self._request.say("list.more"))

    def about_file(self) -> Markdown:
        """What is said of a file that was sent: nobody here reads one."""
        return Markdown(self._request.say("list.file"))

    def _shown(self) -> tuple[Posting, ...]:
        ids = self._listing.ids[self._listing.start : self._listing.start + PAGE]
        return tuple(posting for id_ in ids if (posting := self._index.get(id_)) is not None)

    def _chosen(self, text: str) -> Posting | None:
        named = _NTH.search(text.casefold())
        if named is None:
            return None
        number = _NUMBERS[named.group(1) or named.group(3)]
        shown = self._shown()
        return shown[number] if number < len(shown) else None

    def _page(self, start: int) -> Iterator[Markdown]:
        if start >= len(self._listing.ids):
            yield Markdown(self._request.say("list.end"))
            return
        self._keep(Listing(self._listing.ids, start))
        for number, posting in enumerate(self._shown(), start=1):
            yield Markdown(self._line(number, posting, ()))

    def _fields(self, shown: tuple[Posting, ...], field: str) -> Iterator[Markdown]:
        yield Markdown(self._request.say(f"list.{field}"))
        for number, posting in enumerate(shown, start=1):
            value = {
                "link": posting.link,
                "salary": posting.salary,
                "place": self._list(posting.locations),
            }[field]
            lead = f"{number}. " if len(shown) > 1 else "- "
            field_line = self._request.say(
                "list.field", company=posting.company, title=posting.title, value=value
            )
            yield Markdown(f"\n{lead}{field_line}")

    def _detail(self, posting: Posting) -> Iterator[Markdown]:
        yield Markdown(
            self._request.say(
                "list.detail",
                company=posting.company,
                title=posting.title,
                places=self._list(posting.locations),
                salary=posting.salary,
                target=posting.target,
                skills=self._list(posting.skills),
                description=posting.description,
                link=posting.link,
            )
        )

    def _line(self, number: int, posting: Posting, words: tuple[str, ...]) -> str:
        line = self._request.say(
            "list.line",
            number=number,
            company=posting.company,
            title=posting.title,
            places=self._list(posting.locations),
            salary=posting.salary,
        )
        reason = self._request.say("list.reason", words=self._list(words)) if words else ""
        return f"\n{line}{reason}"

    def _list(self, words: tuple[str, ...]) -> str:
        return self._request.say("list.separator").join(words)

    def _keep(self, listing: Listing) -> None:
        self._listing = listing
        self._request.session.memory.set("listing", msgspec.json.encode(listing).decode())
