"""The page and its files, as they lie in this package."""

from __future__ import annotations

import hashlib
import mimetypes
from collections.abc import Mapping
from pathlib import Path

import msgspec
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from jobclaw.model import Locale
from jobclaw.spi import Catalogue, RawRequest, RawResponse
from jobclaw_channels.web.convert import (
    THEMES,
    asked_locale,
    etag_asked,
    language_cookie,
    locale_of,
    theme_of,
)
from jobclaw_channels.web.settings import MIB, WebSettings

HERE = Path(__file__).parent
PAGE_TEXTS = (
    "web.attach",
    "web.cancel",
    "web.forget-ask",
    "web.forget-title",
    "web.forget-yes",
    "web.greet",
    "web.hint",
    "web.input",
    "web.language",
    "web.language-switch",
    "web.log",
    "web.new",
    "web.new-below",
    "web.no-script",
    "web.older",
    "web.placeholder",
    "web.send",
    "web.skip-to-input",
    "web.state-connecting",
    "web.theme",
    "web.theme-dark",
    "web.theme-light",
    "web.theme-system",
    "web.title",
    "web.welcome",
    "web.welcome-more",
)
# What the page's scripts say, so that every sentence stays in the catalogues.
SCRIPT_TEXTS = (
    "web.bot",
    "web.copied",
    "web.copy",
    "web.failed",
    "web.file-too-large",
    "web.picture",
    "web.remove-file",
    "web.retry",
    "web.sending",
    "web.state-connecting",
    "web.state-offline",
    "web.state-online",
    "web.state-stopped",
    "web.text-too-long",
    "web.thinking",
    "web.thinking-long",
    "web.today",
    "web.upload-failed",
    "web.uploading",
    "web.yesterday",
    "web.you",
)


class StaticFile(msgspec.Struct, frozen=True):
    """A file as it is served."""

    data: bytes
    mime: str
    etag: str


class Pages:
    """Renders the page in a language; serves its files by their exact names."""

    def __init__(self, settings: WebSettings, texts: Catalogue) -> None:
        self._settings = settings
        self._texts = texts
        environment = Environment(
            loader=FileSystemLoader(HERE / "pages"), autoescape=True, undefined=StrictUndefined
        )
        self._page = environment.get_template("chat.html")
        self._files = _read_files(HERE / "static")

    def chat(self, request: RawRequest) -> RawResponse:
        """The chat page."""
        locale = locale_of(request, self._settings.locale)

        html = self._page.render(
            say={text_id: self._texts.say(locale, text_id) for text_id in PAGE_TEXTS},
            lang="zh-CN" if locale == "zh" else "en",
            other="en" if locale == "zh" else "zh",
            theme=theme_of(request),
            themes=THEMES,
            texts=msgspec.json.encode(self._script_texts(locale)).decode(),
            text_most=self._settings.text_most,
            upload_most=self._settings.upload_most,
        )
        headers = [("content-type", "text/html; charset=utf-8"), ("cache-control", "no-store")]
        asked = asked_locale(request)
        if asked is not None:
            headers.append(language_cookie(asked))
        return RawResponse(headers=tuple(headers), body=html.encode())

    def static(self, name: str, request: RawRequest) -> RawResponse | None:
        """A file of the page; None if there is none of that name."""
        file = self._files.get(name)
        if file is None:
            return None
        headers = (
            ("content-type", file.mime),
            ("cache-control", "no-cache"),
            ("etag", file.etag),
        )
        if file.etag in etag_asked(request):
            return RawResponse(status=304, headers=headers[1:])
        return RawResponse(headers=headers, body=file.data)

    def _script_texts(self, locale: Locale) -> Mapping[str, str]:
        values = {
            "limit": self._settings.text_most,
            "mib": self._settings.upload_most // MIB,
        }
        return {
            text_id.removeprefix("web."): self._texts.say(locale, text_id, **values)
            for text_id in SCRIPT_TEXTS
        }


def _read_files(folder: Path) -> Mapping[str, StaticFile]:
    return {path.name: _read_file(path) for path in sorted(folder.iterdir()) if path.is_file()}


def _read_file(path: Path) -> StaticFile:
    data = path.read_bytes()
    kinds = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}
    mime = kinds.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "text/plain"
    return StaticFile(data=data, mime=mime, etag=f'"{hashlib.sha256(data).hexdigest()[:20]}"')
