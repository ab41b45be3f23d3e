"""What the chat page asks for: who is asking, what was said, what is new, and files."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime

from jobclaw.errors import JobclawError, PermanentChannelError
from jobclaw.model import File, Image, ReplyTarget, Sender
from jobclaw.spi import Catalogue, HttpRoute, Posted, RawRequest, RawResponse, Sink
from jobclaw_channels.web.convert import (
    content_type,
    cursor_of,
    event,
    history_of,
    identity_cookie,
    is_from_elsewhere,
    locale_of,
    merged,
    name_of,
    place_of,
    read_post,
    said_item,
    seen_of,
    to_message,
    token_of,
)
from jobclaw_channels.web.identity import chat_of, is_token, new_token, user_of
from jobclaw_channels.web.markdown_tree import MarkdownTree, safe_link
from jobclaw_channels.web.multipart import read_file
from jobclaw_channels.web.pages import Pages
from jobclaw_channels.web.responses import Header, event_response, file_response, json_response
from jobclaw_channels.web.settings import WebSettings
from jobclaw_channels.web.streams import Streams
from jobclaw_channels.web.uploads import Uploads
from jobclaw_channels.web.workspace_files import is_private, names_below, open_file

_log = logging.getLogger(__name__)
PAGE = 50
FORM_ROOM = 64 * 1024  # what a form adds around its file
STATUS = {
    "web.no-json": 415,
    "web.no-form": 415,
    "web.text-too-long": 413,
    "web.file-too-large": 413,
    "web.too-many-streams": 429,
    "web.uploads-used-up": 429,
    "web.storage-used-up": 507,
    "web.no-identity": 401,
    "web.not-found": 404,
    "web.not-ready": 503,
    "web.not-stored": 503,
}
REFUSED = 422
UNAVAILABLE = 503


class Account:
    """The conversations of one account, once there is a sink, and the pages that show them."""

    def __init__(self, name: str, streams: Streams, trees: MarkdownTree) -> None:
        self.name = name
        self.streams = streams
        self.trees = trees
        self.last_in: datetime | None = None
        self._sink: Sink | None = None

    def open(self, sink: Sink) -> None:
        """From now on messages are taken."""
        self._sink = sink

    def close(self) -> None:
        """From now on none is; every page is told so by the end of its stream."""
        self._sink = None
        self.streams.close()

    @property
    def is_open(self) -> bool:
        """Whether messages are taken."""
        return self._sink is not None

    @property
    def sink(self) -> Sink:
        """Where messages go.

        Raises:
            PermanentChannelError: the daemon is starting or stopping.
        """
        if self._sink is None:
            raise PermanentChannelError("web.not-ready")
        return self._sink

    def target(self, user: str) -> ReplyTarget:
        """A user's chat."""
        return chat_of(self.name, user)


class ChatRoutes:
    """The routes below `/chat`."""

    def __init__(
        self, account: Account, settings: WebSettings, texts: Catalogue, uploads: Uploads
    ) -> None:
        self._account = account
        self._settings = settings
        self._texts = texts
        self._uploads = uploads
        self._pages = Pages(settings, texts)

    def routes(self) -> Sequence[HttpRoute]:
        """All of them; whatever goes wrong in one is said in the reader's language."""
        form = self._settings.upload_most + FORM_ROOM
        text = 4 * self._settings.text_most + FORM_ROOM
        api = "/chat/api"
        return (
            HttpRoute("GET", "/chat", self._said_well(self._page)),
            HttpRoute("GET", "/chat/static/{name}", self._said_well(self._static)),
            HttpRoute("GET", f"{api}/history", self._said_well(self._history)),
            HttpRoute("GET", f"{api}/stream", self._said_well(self._stream)),
            HttpRoute("POST", f"{api}/messages", self._said_well(self._post), body_most=text),
            HttpRoute("POST", f"{api}/uploads", self._said_well(self._upload), body_most=form),
            HttpRoute("POST", f"{api}/forget", self._said_well(self._forget)),
            HttpRoute("GET", "/chat/uploads/{name}", self._said_well(self._uploaded)),
            HttpRoute("GET", "/chat/files/{message}/{n}", self._said_well(self._file)),
        )

    def _said_well(
        self, route: Callable[[RawRequest], Awaitable[RawResponse]]
    ) -> Callable[[RawRequest], Awaitable[RawResponse]]:
        async def answered(request: RawRequest) -> RawResponse:
            try:
                return await route(request)
            except PermanentChannelError as error:
                return self._refused(request, error)
            except (JobclawError, OSError):
                _log.exception("a message or file could not be stored")
                return self._refused(request, PermanentChannelError("web.not-stored"))

        return answered

    def _refused(self, request: RawRequest, error: PermanentChannelError) -> RawResponse:
        status = STATUS.get(error.text_id, REFUSED)
        locale = locale_of(request, self._settings.locale)
        sentence = self._texts.say(locale, error.text_id, **error.values)
        again = (("retry-after", "2"),) if status == UNAVAILABLE else ()
        return json_response({"error": error.text_id, "message": sentence}, status, again)

    async def _page(self, request: RawRequest) -> RawResponse:
        page = self._pages.chat(request)
        if is_from_elsewhere(request) or is_token(token_of(request)):
            return page
        _, cookies = _identified(request)
        return RawResponse(headers=(*page.headers, *cookies), body=page.body)

    async def _static(self, request: RawRequest) -> RawResponse:
        found = self._pages.static(name_of(request), request)
        if found is None:
            raise _not_found()
        return found

    async def _history(self, request: RawRequest) -> RawResponse:
        user, cookies = _identified(request)
        sink, before, target = (
            self._account.sink,
            cursor_of(request),
            self._account.target(user),
        )
        said = sink.said(target, before.said, PAGE)
        posted = sink.posted_before(target, before.posted, PAGE)
        together = merged(said, posted)
        more = len(together) > PAGE or PAGE in (len(said), len(posted))
        page = await asyncio.to_thread(
            history_of, together[-PAGE:], before, more=more, trees=self._account.trees
        )
        return json_response({"me": user, **page}, headers=cookies)

    async def _stream(self, request: RawRequest) -> RawResponse:
        user = _known(request)
        sink, target = self._account.sink, self._account.target(user)

        def read(after: int, limit: int) -> Sequence[Posted]:
            return sink.posted(target, after, limit)

        stream = self._account.streams.open(user, read, seen_of(request))
        if stream is None:
            raise PermanentChannelError("web.too-many-streams")
        return event_response(stream)

    async def _post(self, request: RawRequest) -> RawResponse:
        post = read_post(request, self._settings.text_most)
        user, cookies = _identified(request)
        sink = self._account.sink
        attachments = await asyncio.to_thread(self._uploads.attach, user, post.attachments)
        locale = locale_of(request, self._settings.locale)
        at = datetime.now(UTC)
        name = self._texts.say(locale, "web.guest", id=user[1:5])
        sender = Sender(id=user, name=name, locale=locale)
        message = to_message(post, attachments, sender, self._account.name, at)
        accepted = await sink.accept(message)
        self._account.last_in = at
        item = {**said_item(message, at), "id": accepted.message_id}
        if not accepted.duplicate:
            self._account.streams.said(user, event("said", item))
        answer = {"id": accepted.message_id, "duplicate": accepted.duplicate, "me": user}
        return json_response(answer, 202, cookies)

    async def _upload(self, request: RawRequest) -> RawResponse:
        name, data = read_file(content_type(request), request.body)
        user, cookies = _identified(request)
        upload = await asyncio.to_thread(self._uploads.keep, user, name, data)
        item = {field: getattr(upload, field) for field in upload.__struct_fields__}
        return json_response(item, 201, cookies)

    async def _forget(self, request: RawRequest) -> RawResponse:
        token = new_token()
        if is_token(token_of(request)):
            self._account.streams.close(user_of(token_of(request)))
        cookie = identity_cookie(token, secure=request.secure)
        return json_response({"me": user_of(token)}, headers=(cookie,))

    async def _uploaded(self, request: RawRequest) -> RawResponse:
        user, upload_id = _known(request), name_of(request)
        upload = await asyncio.to_thread(self._uploads.find, user, upload_id)
        if upload is None:
            raise _not_found()
        try:
            return file_response(self._uploads.open(user, upload_id), upload.name)
        except OSError as error:
            raise _not_found() from error

    async def _file(self, request: RawRequest) -> RawResponse:
        part = self._part(_known(request), *place_of(request))
        if part is None or safe_link(part.ref):
            raise _not_found()
        workspace = self._settings.workspace.absolute()
        names = names_below(workspace, part.ref)
        if names is None or is_private(names):
            raise _not_found()
        try:
            handle = await asyncio.to_thread(open_file, workspace, names)
        except OSError as error:
            raise _not_found() from error
        name = part.name if isinstance(part, File) and part.name else names[-1]
        return file_response(handle, name)

    def _part(self, user: str, seq: int, number: int) -> File | Image | None:
        """The file of one of the user's own replies."""
        target = self._account.target(user)
        found = [one for one in self._account.sink.posted(target, seq - 1, 1) if one.seq == seq]
        parts = found[0].message.parts if found else ()
        part = parts[number] if number < len(parts) else None
        return part if isinstance(part, File | Image) else None


def _identified(request: RawRequest) -> tuple[str, tuple[Header, ...]]:
    """The user, and the cookie to set if the browser is new."""
    token = token_of(request)
    if is_token(token):
        return user_of(token), ()
    token = new_token()
    return user_of(token), (identity_cookie(token, secure=request.secure),)


def _known(request: RawRequest) -> str:
    token = token_of(request)
    if not is_token(token):
        raise PermanentChannelError("web.no-identity")
    return user_of(token)


def _not_found() -> PermanentChannelError:
    return PermanentChannelError("web.not-found")
