"""What users upload: one file each under a name of chance, in a folder of its user.

`uploads/USER/ID` is the content, `ID.new` says what it is. The note is renamed to `ID.json`
before a message that names the file is accepted, so that what the journal names is kept; what
no message named within a day is removed. The type that a browser claims is not believed: a
picture is what begins like one.
"""

from __future__ import annotations

import asyncio
import logging
import mimetypes
import os
import re
import secrets
import threading
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from jobclaw.errors import PermanentChannelError
from jobclaw.model import Attachment
from jobclaw_channels.web.identity import is_user
from jobclaw_channels.web.settings import WebSettings
from jobclaw_channels.web.workspace_files import (
    names_below,
    open_file,
    open_folder,
    write_new,
)

_log = logging.getLogger(__name__)
FOLDER = "uploads"
DAY_S = 24 * 3600.0
PURGE_EVERY_S = 3600.0
CHUNK = 65536
NAME_MOST = 120
NOTE_MOST = 4096
UNKNOWN_TYPE = "application/octet-stream"
_ID = re.compile(r"[A-Za-z0-9_-]{24}")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f/\\\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_PICTURES = (
    (re.compile(rb"\x89PNG\r\n\x1a\n"), "image/png"),
    (re.compile(rb"\xff\xd8\xff"), "image/jpeg"),
    (re.compile(rb"GIF8[79]a"), "image/gif"),
    (re.compile(rb"RIFF....WEBP", re.DOTALL), "image/webp"),
)


class Upload(msgspec.Struct, frozen=True):
    """A stored file."""

    id: str
    name: str
    mime: str
    size: int
    kind: Literal["image", "file"]


def picture_type(head: bytes) -> str:
    """The type of the picture that begins so; empty for anything else."""
    return next((mime for magic, mime in _PICTURES if magic.match(head)), "")


def clean_name(name: str) -> str:
    """A file's name for people: no path, no control or direction characters, not too long."""
    last = re.split(r"[/\\]", name)[-1]
    text = _UNPRINTABLE.sub("", last).strip(" .")
    if len(text) > NAME_MOST:
        stem, dot, ending = text.rpartition(".")
        keep = f"{dot}{ending}" if dot and len(ending) <= 10 else ""  # noqa: PLR2004 - an ending
        text = (stem if keep else text)[: NAME_MOST - len(keep)] + keep
    return text or "file"


def _described(upload_id: str, name: str, data: bytes) -> Upload:
    name = clean_name(name)
    picture = picture_type(data[:16])
    mime = picture or mimetypes.guess_type(name)[0] or UNKNOWN_TYPE
    if not picture and mime.startswith("image/"):
        mime = UNKNOWN_TYPE
    kind = "image" if picture else "file"
    return Upload(id=upload_id, name=name, mime=mime, size=len(data), kind=kind)


class Uploads:
    """The folder `uploads`; everything that touches the disk is for a thread."""

    def __init__(self, settings: WebSettings) -> None:
        self._workspace = settings.workspace
        self._settings = settings
        self._writing = threading.Lock()
        self._purged_at: float | None = None
        self._stored = 0

    def keep(self, user: str, name: str, data: bytes) -> Upload:
        """Store a file.

        Raises:
            PermanentChannelError: it is too large, or the user's or all users' room is used up.
        """
        if len(data) > self._settings.upload_most:
            raise PermanentChannelError("web.file-too-large", mib=self._mib())
        upload = _described(secrets.token_urlsafe(18), name, data)
        with self._writing:
            self._purge_if_due()
            place = open_folder(self._workspace, (FOLDER, user), create=True)
            try:
                used = _used_today(place)
                if used + len(data) > self._settings.uploads_most:
                    raise PermanentChannelError("web.uploads-used-up")
                if self._stored + len(data) > self._settings.storage_most:
                    raise PermanentChannelError("web.storage-used-up")
                write_new(place, upload.id, data)
                write_new(place, f"{upload.id}.new", msgspec.json.encode(upload))
            finally:
                os.close(place)
            self._stored += len(data)
        return upload

    def attach(self, user: str, ids: Sequence[str]) -> tuple[Attachment, ...]:
        """The user's files as attachments of a message, kept from now on.

        Raises:
            PermanentChannelError: the user has no such file.
        """
        found = [self.find(user, upload_id) for upload_id in dict.fromkeys(ids)]
        uploads = [upload for upload in found if upload is not None]
        if len(uploads) != len(found):
            raise PermanentChannelError("web.no-such-file")
        for upload in uploads:
            self._retain(user, upload.id)
        return tuple(
            Attachment(
                kind=upload.kind,
                ref=f"{FOLDER}/{user}/{upload.id}",
                name=upload.name,
                mime=upload.mime,
                size=upload.size,
            )
            for upload in uploads
        )

    def find(self, user: str, upload_id: str) -> Upload | None:
        """One of the user's own files."""
        if _ID.fullmatch(upload_id) is None:
            return None
        for ending in (".json", ".new"):
            try:
                handle = open_file(self._workspace, (FOLDER, user, upload_id + ending))
            except OSError:
                continue
            with os.fdopen(handle, "rb") as note:
                return _read_note(note.read(NOTE_MOST))
        return None

    def open(self, user: str, upload_id: str) -> int:
        """A descriptor of the content.

        Raises:
            OSError: it is not there.
        """
        return open_file(self._workspace, (FOLDER, user, upload_id))

    async def fetch(self, attachment: Attachment) -> AsyncIterator[bytes]:
        """The content of an attachment that `attach` made, in chunks.

        Raises:
            PermanentChannelError: it is not there any more, or never was one of these.
        """
        names = names_below(self._workspace, attachment.ref)
        if names is None or len(names) != len((FOLDER, "user", "id")) or names[0] != FOLDER:
            raise PermanentChannelError("web.no-such-file")
        try:
            handle = await asyncio.to_thread(open_file, self._workspace, names)
        except OSError as error:
            raise PermanentChannelError("web.no-such-file") from error
        with os.fdopen(handle, "rb") as file:
            while chunk := await asyncio.to_thread(file.read, CHUNK):
                yield chunk

    def purge(self, now: float) -> None:
        """Remove what no message has named within a day, and count what stays."""
        with self._writing:
            self._purge(now)

    def _mib(self) -> int:
        return self._settings.upload_most // (1024 * 1024)

    def _retain(self, user: str, upload_id: str) -> None:
        place = open_folder(self._workspace, (FOLDER, user))
        try:
            os.rename(
                f"{upload_id}.new", f"{upload_id}.json", src_dir_fd=place, dst_dir_fd=place
            )
        except FileNotFoundError:  # an earlier message has named it
            return
        finally:
            os.close(place)

    def _purge_if_due(self) -> None:
        now = time.time()
        if self._purged_at is None or now - self._purged_at > PURGE_EVERY_S:
            self._purge(now)

    def _purge(self, now: float) -> None:
        self._purged_at = now
        self._stored = 0
        for user in _listed(self._workspace / FOLDER):
            if is_user(user):
                self._stored += self._purge_user(user, now)

    def _purge_user(self, user: str, now: float) -> int:
        place = open_folder(self._workspace, (FOLDER, user))
        try:
            sizes = dict(_contents(place, now + DAY_S))
            for upload_id, _ in _contents(place, now - DAY_S):
                if not _exists(f"{upload_id}.json", place):
                    os.unlink(upload_id, dir_fd=place)
                    if _exists(f"{upload_id}.new", place):
                        os.unlink(f"{upload_id}.new", dir_fd=place)
                    del sizes[upload_id]
            return sum(sizes.values())
        finally:
            os.close(place)


def _read_note(data: bytes) -> Upload | None:
    """What a note says; one that a crash cut short says nothing."""
    try:
        return msgspec.json.decode(data, type=Upload)
    except msgspec.DecodeError as error:
        _log.warning("the note of an upload cannot be read: %s", error)
        return None


def _listed(folder: Path) -> list[str]:
    try:
        return sorted(path.name for path in folder.iterdir())
    except FileNotFoundError:
        return []


def _exists(name: str, place: int) -> bool:
    try:
        os.stat(name, dir_fd=place, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _contents(place: int, before: float) -> Iterator[tuple[str, int]]:
    """Id and size of the files written before a time."""
    for name in os.listdir(place):
        if _ID.fullmatch(name) is not None:
            found = os.stat(name, dir_fd=place, follow_symlinks=False)
            if found.st_mtime < before:
                yield name, found.st_size


def _used_today(place: int) -> int:
    everything = dict(_contents(place, time.time() + DAY_S))
    older = dict(_contents(place, time.time() - DAY_S))
    return sum(everything.values()) - sum(older.values())
