"""Messages that an operator or a program sends to a chat, and what became of them.

A push goes only where somebody has written before: nobody is addressed whom the bot does not
know. It is in the outbox, on disk, before its id is given out; the same id is sent once.
"""

from __future__ import annotations

import re

from ulid import ULID

from jobclaw.model import Markdown, OutboundMessage, ReplyTarget, chat_key
from jobclaw.service.operations import Push, PushState, PushStatus, Running
from jobclaw.service.people import the_user
from jobclaw.service.refusals import ConflictError, InvalidError, NotFoundError
from jobclaw.spi.store import Delivery, OutboxState, Store

TEXT_MOST = 20_000
_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
_PREFIX = "push-"  # so that no caller's id meets that of a reply
_STATUS: dict[OutboxState, PushState] = {
    "ready": "pending",
    "sending": "pending",
    "sent": "sent",
    "unknown": "unknown",
    "dead": "dead",
}


class Pushes:
    """Puts pushes into the outbox of a running daemon."""

    def __init__(self, store: Store, running: Running | None) -> None:
        self._store = store
        self._running = running

    async def push(self, push: Push) -> PushStatus:
        """Store it, or find the one of the same id; see `Operations.push`."""
        push_id = push.id or f"{ULID()}"
        if _ID.fullmatch(push_id) is None:
            raise InvalidError("push.bad-id", id=push_id)
        target = self._target(push)
        self._check_user(push, target)
        message = OutboundMessage(
            id=f"{_PREFIX}{push_id}",
            target=target,
            parts=(Markdown(_text(push)),),
            push=True,
        )
        row = await self._store.push(message)
        if row is None:
            return self._repeated(push, push_id, chat_key(target))
        if self._running is not None:
            self._running.dispatch((row,))
        return PushStatus(id=push_id, status="pending")

    def status(self, push_id: str) -> PushStatus:
        """See `Operations.message_status`."""
        found = self._find(push_id)
        if found is None:
            raise NotFoundError("push.unknown", id=push_id)
        return PushStatus(id=push_id, status=_STATUS[found.state])

    def _find(self, push_id: str) -> Delivery | None:
        if _ID.fullmatch(push_id) is None:
            return None
        return next(iter(self._store.deliveries(f"{_PREFIX}{push_id}")), None)

    def _repeated(self, push: Push, push_id: str, chat: str) -> PushStatus:
        earlier = self._find(push_id)
        if earlier is not None and (earlier.chat, earlier.text) != (chat, _text(push)):
            raise ConflictError("push.other", id=push_id)
        return self.status(push_id)

    def _target(self, push: Push) -> ReplyTarget:
        served = self._running is None or self._running.serves(push.channel, push.account)
        if not served:
            raise NotFoundError("push.no-channel", channel=f"{push.channel}/{push.account}")
        return ReplyTarget(
            channel=push.channel, account=push.account, conversation=push.conversation
        )

    def _check_user(self, push: Push, target: ReplyTarget) -> None:
        said = self._store.said(chat_key(target), 0, 1)
        if not said:
            raise NotFoundError("push.no-conversation", conversation=push.conversation)
        if not push.user:
            return
        user = the_user(self._store, push.user)
        newest = said[0].message
        who = (push.channel, push.account, newest.sender.id)
        is_direct = newest.conversation.kind == "direct"
        if is_direct and who not in self._store.identities(user.id):
            raise NotFoundError("push.not-theirs", conversation=push.conversation)


def _text(push: Push) -> str:
    text = push.text.strip()
    if not text:
        raise InvalidError("push.empty")
    if len(text) > TEXT_MOST:
        raise InvalidError("push.too-long", length=len(text), most=TEXT_MOST)
    return text
