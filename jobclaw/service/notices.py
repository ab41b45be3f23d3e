"""Tells the operator what should not wait until somebody looks, in the log and in chats."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from ulid import ULID

from jobclaw.bus.topics import Notice
from jobclaw.model import Locale, Markdown, OutboundMessage, ReplyTarget
from jobclaw.spi.store import Journal, OutboxRow
from jobclaw.texts import Catalogue

_log = logging.getLogger(__name__)


class Notices:
    """Sends notices to the chats of `operator.notify`, as `channel:account:conversation`."""

    def __init__(
        self,
        texts: Catalogue,
        locale: Locale,
        chats: Sequence[str],
        journal: Journal,
        dispatch: Callable[[tuple[OutboxRow, ...]], None],
    ) -> None:
        self._texts = texts
        self._locale: Locale = locale
        self._targets = tuple(map(target_of, chats))
        self._journal = journal
        self._dispatch = dispatch

    async def send(self, notice: Notice) -> None:
        """Log a notice, and put it into the outbox once for each chat."""
        text = self._texts.say(self._locale, notice.text_id, **notice.values)
        _log.warning("%s", text, extra={"notice": notice.text_id})
        for target in self._targets:
            message = OutboundMessage(
                id=f"notice-{ULID()}", target=target, parts=(Markdown(text),), push=True
            )
            row = await self._journal.push(message)
            if row is not None:
                self._dispatch((row,))


def target_of(chat: str) -> ReplyTarget:
    """The chat that `channel:account:conversation` names; an id may hold further colons."""
    channel, _, rest = chat.partition(":")
    account, _, conversation = rest.partition(":")
    return ReplyTarget(channel=channel, account=account, conversation=conversation)
