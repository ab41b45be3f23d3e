"""Shows answers that are no data: pages from templates for people, problems for programs.

Everything is escaped by the templates; what a template is given is text, never HTML.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import Response

from jobclaw.errors import JobclawError
from jobclaw.model import Locale
from jobclaw.texts import Catalogue
from jobclaw.web.head import RequestHead, reader_language, wants_page
from jobclaw.web.refusal import Refusal

TEMPLATES = Path(__file__).parent / "templates"


class Problem(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why a request failed: a fixed code, a sentence in the reader's language, and advice."""

    code: str
    error: str
    next: str = ""


class Pages:
    """Renders in the language of whoever reads."""

    def __init__(self, texts: Catalogue, otherwise: Locale) -> None:
        self._texts = texts
        self._otherwise: Locale = otherwise
        self._templates = Environment(
            loader=FileSystemLoader(TEMPLATES),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )

    def locale(self, head: RequestHead) -> Locale:
        """The language of an answer."""
        return reader_language(head.header("accept-language"), self._otherwise)

    def say(self, locale: Locale, text_id: str, /, **values: object) -> str:
        """A sentence."""
        return self._texts.say(locale, text_id, **values)

    def page(
        self, name: str, locale: Locale, values: dict[str, object], status: int = 200
    ) -> Response:
        """Render a template; in it, `say` gives sentences."""
        say: Callable[..., str] = partial(self._texts.say, locale)
        content = self._templates.get_template(name).render(values, say=say, locale=locale)
        response = Response(content, status, media_type="text/html; charset=utf-8")
        response.headers["Content-Language"] = "zh-CN" if locale == "zh" else "en"
        return response

    def refuse(self, head: RequestHead, refusal: Refusal) -> Response:
        """Show why a request is not answered, as a page or as a problem."""
        locale = self.locale(head)
        sentence = self._texts.say(locale, refusal.text_id, **refusal.values)
        if wants_page(head):
            values: dict[str, object] = {
                "status": refusal.status,
                "sentence": sentence,
                "advice": refusal.advice,
            }
            response = self.page("refusal.html", locale, values, refusal.status)
        else:
            problem = Problem(code=refusal.text_id, error=sentence, next=refusal.advice)
            response = json_of(problem, refusal.status, "application/problem+json")
        response.headers["Vary"] = "Accept, Accept-Language"
        for name, value in refusal.headers:
            response.headers[name] = value
        return response

    def sentence(self, head: RequestHead, error: JobclawError) -> str:
        """What an error says to the reader."""
        return self._texts.say(self.locale(head), error.text_id, **error.values)


def json_of(value: object, status: int = 200, media_type: str = "application/json") -> Response:
    """An answer with a value as JSON."""
    return Response(msgspec.json.encode(value), status, media_type=media_type)
