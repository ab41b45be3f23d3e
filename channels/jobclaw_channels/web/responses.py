"""The forms that answers take on the wire."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from urllib.parse import quote

import msgspec

from jobclaw.spi import RawResponse
from jobclaw_channels.web.convert import Json
from jobclaw_channels.web.uploads import CHUNK, UNKNOWN_TYPE, picture_type

Header = tuple[str, str]
HEAD_BYTES = 16


def json_response(
    item: Json, status: int = 200, headers: tuple[Header, ...] = ()
) -> RawResponse:
    """An answer for scripts; never kept by caches."""
    own = (("content-type", "application/json; charset=utf-8"), ("cache-control", "no-store"))
    return RawResponse(status=status, headers=(*own, *headers), body=msgspec.json.encode(item))


def event_response(events: AsyncIterator[bytes]) -> RawResponse:
    """A stream of server-sent events, which no proxy may hold back."""
    headers = (
        ("content-type", "text/event-stream; charset=utf-8"),
        ("cache-control", "no-store"),
        ("x-accel-buffering", "no"),
    )
    return RawResponse(headers=headers, body=events)


def file_response(handle: int, name: str) -> RawResponse:
    """A file's content, shown only if it is a picture; takes over the descriptor."""
    size = os.fstat(handle).st_size
    picture = picture_type(os.pread(handle, HEAD_BYTES, 0))
    disposition = "inline" if picture else "attachment"
    headers = (
        ("content-type", picture or UNKNOWN_TYPE),
        ("content-length", str(size)),
        ("content-disposition", f"{disposition}; filename*=UTF-8''{quote(name, safe='')}"),
        ("cache-control", "private, max-age=3600"),
        ("x-content-type-options", "nosniff"),
    )
    return RawResponse(headers=headers, body=_FileBody(handle, size))


class _FileBody:
    """The bytes of a file up to the announced size; closed at its end or when the peer goes."""

    def __init__(self, handle: int, size: int) -> None:
        self._file = os.fdopen(handle, "rb")
        self._left = size

    def __aiter__(self) -> _FileBody:
        return self

    async def __anext__(self) -> bytes:
        chunk = b""
        if self._left and not self._file.closed:
            chunk = await asyncio.to_thread(self._file.read, min(CHUNK, self._left))
        if not chunk:
            self._file.close()
            raise StopAsyncIteration
        self._left -= len(chunk)
        return chunk

    async def aclose(self) -> None:
        """The peer has gone."""
        self._file.close()
