"""One account of the web channel over a real store: what the daemon does around it, in memory.

Routes are called as functions; what a browser would do with the cookie and the stream is here.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qsl

import msgspec
from starlette.routing import Match, Route
from store_samples import handled

from jobclaw.app.core import SystemClock
from jobclaw.bus.events import EventBus
from jobclaw.bus.inbox import Inbox
from jobclaw.bus.outbox import Outbox, UnknownPolicy, preview_of
from jobclaw.bus.topics import MESSAGE_RECEIVED
from jobclaw.model import (
    InboundMessage,
    Markdown,
    OutboundMessage,
    ReplyPart,
    ReplyTarget,
    chat_key,
)
from jobclaw.spi import (
    Accepted,
    HttpChannel,
    Posted,
    RawRequest,
    RawResponse,
    Said,
)
from jobclaw.spi.store import InboxRow, Store
from jobclaw.storage import open_store
from jobclaw_channels.web.adapter import create

Item = dict[str, Any]
WAIT_S = 10.0
JSON = {"content-type": "application/json"}


class Place:
    """The sink: a real inbox, outbox and store, in a workspace that outlives the account."""

    def __init__(self, workspace: Path, **settings: object) -> None:
        self.workspace = workspace
        self.store: Store = open_store(workspace, SystemClock(), dedup_days=8)
        self.received: asyncio.Queue[InboxRow] = asyncio.Queue()
        bus = EventBus()
        bus.attach(MESSAGE_RECEIVED, self.received.put_nowait)
        self._inbox = Inbox(self.store, bus)
        adapter = create("default", {"workspace": workspace, **settings})
        assert isinstance(adapter, HttpChannel)
        self.adapter: HttpChannel = adapter
        self.outbox = Outbox(self.store, bus, lambda _: adapter, UnknownPolicy())

    async def accept(self, message: InboundMessage) -> Accepted:
        return await self._inbox.accept(message)

    async def idle(self) -> None:
        await self.outbox.idle()

    def said(self, target: ReplyTarget, before: int, limit: int) -> tuple[Said, ...]:
        return self.store.said(chat_key(target), before, limit)

    def posted(self, target: ReplyTarget, after: int, limit: int) -> tuple[Posted, ...]:
        return self.store.posted(chat_key(target), after, limit)

    def posted_before(self, target: ReplyTarget, before: int, limit: int) -> tuple[Posted, ...]:
        return self.store.posted_before(chat_key(target), before, limit)

    async def answer(self, *parts: ReplyPart) -> OutboundMessage:
        """Handle the oldest message that waits: say this, and wait until it has left."""
        row = await self.next()
        reply = OutboundMessage(
            id=f"{row.message.id}.0",
            target=row.message.reply,
            parts=parts,
            in_reply_to=row.message.platform_message_id,
        )
        [out] = await self.store.commit(handled(row.seq, row.message, reply))
        self.outbox.dispatch((out,))
        await self.idle()
        return out.message

    def preview(self, row: InboxRow, text: str) -> None:
        """Show the answer to a message as far as it is written."""
        growing = OutboundMessage(
            id=f"{row.message.id}.0",
            target=row.message.reply,
            parts=(Markdown(text),),
            in_reply_to=row.message.platform_message_id,
        )
        self.outbox.preview(preview_of(growing))

    async def next(self) -> InboxRow:
        """The oldest message that waits."""
        async with asyncio.timeout(WAIT_S):
            return await self.received.get()

    async def call(self, request: RawRequest) -> RawResponse:
        """Find the route of a request as the server would, and ask it."""
        scope = {"type": "http", "method": request.method, "path": request.path}
        for route in self.adapter.routes():
            match, found = Route(route.path, _nothing, methods=[route.method]).matches(scope)
            if match is Match.FULL:
                params = cast("Mapping[str, str]", found["path_params"])
                return await route.handle(msgspec.structs.replace(request, params=params))
        raise LookupError(f"{request.method} {request.path}")

    async def close(self) -> None:
        await self.adapter.stop(1.0)
        await self.outbox.drain(WAIT_S)
        await self.store.close()


async def _nothing() -> None:
    """Stands for a route's endpoint; only the path is matched."""


@dataclass
class Browser:
    """Keeps cookies, asks, and listens."""

    place: Place
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    cookies: dict[str, str] = field(default_factory=dict[str, str])
    secure: bool = False
    sent: int = 0

    async def get(self, path: str, headers: Mapping[str, str] | None = None) -> RawResponse:
        """Ask for something."""
        path, _, query = path.partition("?")
        return await self._ask("GET", path, b"", headers or {}, dict(parse_qsl(query)))

    async def post(
        self, path: str, body: object = b"", headers: Mapping[str, str] = JSON
    ) -> RawResponse:
        """Send something."""
        data = body if isinstance(body, bytes) else msgspec.json.encode(body)
        return await self._ask("POST", path, data, headers, {})

    async def say(self, text: str, **more: object) -> Item:
        """Post one message that must be accepted."""
        self.sent += 1
        said = {"client_msg_id": f"m{self.sent}", "text": text, **more}
        response = await self.post("/chat/api/messages", said)
        assert response.status == 202, response
        return json_of(response)

    async def upload(self, name: str, data: bytes) -> RawResponse:
        """Upload one file."""
        body = form(name, data)
        kind = {"content-type": "multipart/form-data; boundary=frontier"}
        return await self.post("/chat/api/uploads", body, kind)

    async def history(self, before: str = "") -> Item:
        """A page of the conversation."""
        query = f"?before={before}" if before else ""
        return json_of(await self.get(f"/chat/api/history{query}"))

    async def listen(self, after: int = 0, header: str = "") -> "Listener":
        """Open a stream, past its hello."""
        headers = {"last-event-id": header} if header else {}
        response = await self.get(f"/chat/api/stream?after={after}", headers)
        assert response.status == 200, response
        listener = Listener(response)
        assert (await listener.next())["event"] == "hello"
        return listener

    async def _ask(
        self,
        method: str,
        path: str,
        body: bytes,
        headers: Mapping[str, str],
        query: Mapping[str, str],
    ) -> RawResponse:
        request = RawRequest(
            method=method,
            path=path,
            query=query,
            headers={**self.headers, **headers},
            cookies=dict(self.cookies),
            body=body,
            client="127.0.0.1",
            secure=self.secure,
        )
        response = await self.place.call(request)
        for name, value in response.headers:
            if name == "set-cookie":
                key, _, rest = value.partition("=")
                self.cookies[key] = rest.partition(";")[0]
        return response


class Listener:
    """Reads one stream."""

    def __init__(self, response: RawResponse) -> None:
        assert not isinstance(response.body, bytes)
        self.body: AsyncIterator[bytes] = response.body
        self._waiting: list[Item] = []

    async def next(self) -> Item:
        """The next event: its `event`, `id` and `data`."""
        while not self._waiting:
            async with asyncio.timeout(WAIT_S):
                chunk = await anext(self.body)
            self._waiting += [_event(text) for text in chunk.decode().split("\n\n") if text]
        return self._waiting.pop(0)

    async def until(self, name: str) -> Item:
        """The next event of that name; others are skipped."""
        while (found := await self.next())["event"] != name:
            pass
        return found

    async def over(self) -> bool:
        """Whether the stream ends, after whatever it has left to say."""
        async with asyncio.timeout(WAIT_S):
            async for _ in self.body:
                pass
        return True

    async def leave(self) -> None:
        """Close the page."""
        close = getattr(self.body, "aclose", None)
        assert close is not None
        await close()


def _event(text: str) -> Item:
    lines = [line.partition(": ")[::2] for line in text.splitlines()]
    fields: Item = {name: value for name, value in lines if name}
    item: Item = {"event": "", "id": "", **fields}
    return {**item, "data": msgspec.json.decode(item["data"])} if "data" in item else item


def form(name: str, data: bytes, field_name: str = "file") -> bytes:
    """A multipart form with one file."""
    head = f'Content-Disposition: form-data; name="{field_name}"; filename="{name}"'
    return b"\r\n".join(
        [
            b"--frontier",
            head.encode(),
            b"Content-Type: image/png",
            b"",
            data,
            b"--frontier--",
            b"",
        ]
    )


def json_of(response: RawResponse) -> Item:
    """The JSON of an answer."""
    assert isinstance(response.body, bytes)
    return cast("Item", msgspec.json.decode(response.body))


def header_of(response: RawResponse, name: str) -> str:
    """One header of an answer, empty if it is not there."""
    return next((value for key, value in response.headers if key == name), "")


async def bytes_of(response: RawResponse) -> bytes:
    """The whole body of an answer."""
    if isinstance(response.body, bytes):
        return response.body
    return b"".join([chunk async for chunk in response.body])


def texts_of(items: Sequence[Item]) -> list[str]:
    """What was said and answered, each as its plain text."""
    return [
        item["text"] if item["type"] == "said" else "".join(map(plain, item["blocks"]))
        for item in items
    ]


def plain(node: Item | str) -> str:
    """The text of a tree."""
    return node if isinstance(node, str) else "".join(map(plain, node.get("c", ())))
