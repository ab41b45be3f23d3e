"""The open pages: what each one is still to be told, in order and within bounds.

A stream keeps its place in the outbox and reads what left after it, so replies need no queue
and none is lost. What only passes by is bounded: of a growing reply the newest text, of what
other tabs said a few; a reader who falls behind that is dropped, and resumes with its place.
Markdown is parsed on a thread, since a text can be made to take long.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial

from jobclaw.model import OutboundMessage
from jobclaw.spi import Posted
from jobclaw_channels.web.convert import event, posted_item, preview_item
from jobclaw_channels.web.markdown_tree import MarkdownTree

KEEP_ALIVE_S = 15.0
PREVIEW_EVERY_S = 0.08
SAID_MOST = 100
AT_ONCE = 20
RETRY_MS = 1500
KEEP_ALIVE = b": still here\n\n"


class Preview:
    """A reply as far as it is written, encoded once for all tabs, and only if one shows it."""

    def __init__(self, message: OutboundMessage, trees: MarkdownTree) -> None:
        self.id = message.id
        self.asked = message.in_reply_to
        self._message = message
        self._trees = trees
        self._event = b""

    def event(self) -> bytes:
        """The event that shows it."""
        if not self._event:
            self._event = event("delta", preview_item(self._message, self._trees))
        return self._event


class Stream:
    """One open page; an iterator of server-sent events that ends when it is closed."""

    def __init__(
        self,
        read: Callable[[int, int], Sequence[Posted]],
        after: int,
        first: bytes,
        trees: MarkdownTree,
    ) -> None:
        self.keep_alive_s = KEEP_ALIVE_S
        self._read = read
        self._after = after
        self._trees = trees
        self._first = first
        self._said: deque[bytes] = deque()
        self._previews: dict[str, Preview] = {}
        self._preview_due = 0.0
        self._unread = True
        self._over = False
        self._woken = asyncio.Event()
        self.left: Callable[[], None] = self._woken.set

    def __aiter__(self) -> Stream:
        """See `AsyncIterator`."""
        return self

    async def __anext__(self) -> bytes:
        """See `AsyncIterator`; waits for what is to be told, or says that it is still there."""
        try:
            while not self._over:
                if told := await self._next():
                    return told
                self._woken.clear()
                if not await self._waited():
                    return KEEP_ALIVE
        except asyncio.CancelledError:
            self.close()
            raise
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """The reader has gone."""
        self.close()

    def close(self) -> None:
        """End it; nothing is kept."""
        self._over = True
        self._said.clear()
        self._previews.clear()
        self._woken.set()
        self.left()

    def wake(self) -> None:
        """There is a reply to read."""
        self._unread = True
        self._woken.set()

    def said(self, said: bytes) -> None:
        """The user said this, in one of the tabs."""
        if len(self._said) >= SAID_MOST:
            self.close()
            return
        self._said.append(said)
        self._woken.set()

    def preview(self, preview: Preview) -> None:
        """A reply grows; an older state of it that was not shown yet is skipped."""
        self._previews[preview.id] = preview
        self._woken.set()

    async def _next(self) -> bytes:
        if self._first:
            first, self._first = self._first, b""
            return first
        if self._said:
            return self._said.popleft()
        if self._unread and (told := await self._replies()):
            return told
        if self._previews and time.monotonic() >= self._preview_due:
            preview = self._previews.pop(next(iter(self._previews)))
            told = await asyncio.to_thread(preview.event)
            self._preview_due = time.monotonic() + PREVIEW_EVERY_S
            return told
        return b""

    async def _replies(self) -> bytes:
        posted = self._read(self._after, AT_ONCE)
        self._unread = bool(posted)
        for one in posted:
            self._after = one.seq
            self._pass(one.message)
        return await asyncio.to_thread(self._told, posted) if posted else b""

    def _pass(self, message: OutboundMessage) -> None:
        """Forget the previews that a reply ends: its own, and those of what was asked before.

        A conversation is handled in order, so an earlier answer that still grows was stopped.
        """
        asked = message.in_reply_to
        self._previews = {
            one.id: one
            for one in self._previews.values()
            if one.id != message.id and asked in ("", one.asked)
        }

    def _told(self, posted: Sequence[Posted]) -> bytes:
        return b"".join(
            event("posted", posted_item(one, self._trees), one.seq) for one in posted
        )

    async def _waited(self) -> bool:
        """Whether something came, or a preview fell due; False after a while of silence."""
        pause = self._preview_due - time.monotonic() if self._previews else self.keep_alive_s
        try:
            async with asyncio.timeout(max(pause, 0.0)):
                await self._woken.wait()
        except TimeoutError:
            return bool(self._previews)
        return True


class Streams:
    """All open pages by user."""

    def __init__(self, trees: MarkdownTree, most: int) -> None:
        self._trees = trees
        self._most = most
        self._open: dict[str, set[Stream]] = {}

    def open(
        self, user: str, read: Callable[[int, int], Sequence[Posted]], after: int
    ) -> Stream | None:
        """A stream that goes on after a reply; None if the user has as many as there may be."""
        if len(self._open.get(user, ())) >= self._most:
            return None

        first = b"retry: %d\n" % RETRY_MS + event("hello", {"me": user})
        stream = Stream(read, after, first, self._trees)
        stream.left = partial(self._leave, user, stream)
        self._open.setdefault(user, set()).add(stream)
        return stream

    def count(self, user: str = "") -> int:
        """How many are open, of one user or of all."""
        if user:
            return len(self._open.get(user, ()))
        return sum(len(mine) for mine in self._open.values())

    def wake(self, user: str) -> None:
        """A reply to the user is leaving."""
        for stream in self._of(user):
            stream.wake()

    def said(self, user: str, said: bytes) -> None:
        """The user said something; every tab shows it."""
        for stream in self._of(user):
            stream.said(said)

    def preview(self, user: str, message: OutboundMessage) -> None:
        """A reply to the user grows."""
        mine = self._of(user)
        if mine:
            preview = Preview(message, self._trees)
            for stream in mine:
                stream.preview(preview)

    def close(self, user: str = "") -> None:
        """End a user's streams, or all."""
        users = [user] if user else list(self._open)
        for one in users:
            for stream in self._of(one):
                stream.close()

    def _leave(self, user: str, stream: Stream) -> None:
        mine = self._open.get(user, set())
        mine.discard(stream)
        if not mine:
            self._open.pop(user, None)

    def _of(self, user: str) -> tuple[Stream, ...]:
        return tuple(self._open.get(user, ()))
