"""The way into the console and out: the login form, the cookie, and the check of forms."""

from __future__ import annotations

import re
import secrets
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from jobclaw.web.authentication import Authenticator
from jobclaw.web.console.logins import LIFE_S, Login, Logins, is_same
from jobclaw.web.head import head_of
from jobclaw.web.pages import Pages
from jobclaw.web.refusal import Refusal

HOME, LOGIN = "/console", "/console/login"
COOKIE = "jobclaw_console"
_BROWSER = "jobclaw_login"
_BROWSER_ID = re.compile(r"[A-Za-z0-9_-]{43}")
_BROWSER_S = 3600
_FORM_FIELDS_MOST = 20


class Entrance:
    """Lets the operator in."""

    def __init__(
        self, authenticator: Authenticator, logins: Logins, pages: Pages, *, secure: bool
    ) -> None:
        self._authenticator = authenticator
        self._logins = logins
        self._pages = pages
        self._secure = secure

    def login_of(self, request: Request) -> Login | None:
        """Who asks, None if nobody is logged in."""
        login_id = request.cookies.get(COOKIE, "")
        if not login_id:
            return None
        return self._logins.find(login_id, self._authenticator.generation())

    async def show(self, request: Request) -> Response:
        """The login form; who is in already goes on."""
        if self.login_of(request) is not None:
            return RedirectResponse(HOME, 303)
        return self._form(request, "", 200)

    async def log_in(self, request: Request) -> Response:
        """Take the token from the form, and give a cookie for it."""
        form = await read_form(request)
        browser = request.cookies.get(_BROWSER, "")
        expected = self._logins.form_token(browser) if browser else ""
        head = head_of(request.scope)
        if not is_same(form.get("csrf", ""), expected):
            return self._form(request, self._say(request, "login.stale"), 403)
        refusal = self._authenticator.attempt(form.get("token", "").strip(), head.peer)
        if refusal is not None:
            sentence = self._say(request, refusal.text_id, **refusal.values)
            response = self._form(request, sentence, refusal.status)
            response.headers.update(dict(refusal.headers))
            return response
        self._logins.end(request.cookies.get(COOKIE, ""))
        response = RedirectResponse(HOME, 303)
        self._set(
            response,
            COOKIE,
            self._logins.begin(self._authenticator.generation()),
            int(LIFE_S),
        )
        return response

    async def log_out(self, request: Request) -> Response:
        """End the login of a cookie."""
        refusal = await self.refused(request)
        if refusal is not None:
            return self._pages.refuse(head_of(request.scope), refusal)
        self._logins.end(request.cookies.get(COOKIE, ""))
        response = RedirectResponse(LOGIN, 303)
        response.delete_cookie(COOKIE, path=HOME, httponly=True, samesite="strict")
        return response

    async def refused(self, request: Request) -> Refusal | None:
        """Why a form of the console is not acted upon; None if it is the operator's own."""
        login = self.login_of(request)
        if login is None:
            return Refusal(401, "login.needed")
        form = await read_form(request)
        if not is_same(form.get("csrf", ""), login.csrf):
            return Refusal(403, "login.stale")
        return None

    def _form(self, request: Request, problem: str, status: int) -> Response:
        browser = request.cookies.get(_BROWSER, "")
        if _BROWSER_ID.fullmatch(browser) is None:
            browser = secrets.token_urlsafe(32)
        values: dict[str, object] = {
            "csrf": self._logins.form_token(browser),
            "problem": problem,
        }
        locale = self._pages.locale(head_of(request.scope))
        response = self._pages.page("login.html", locale, values, status)
        self._set(response, _BROWSER, browser, _BROWSER_S)
        return response

    def _set(self, response: Response, name: str, value: str, life_s: int) -> None:
        response.set_cookie(
            name,
            value,
            max_age=life_s,
            path=HOME,
            secure=self._secure,
            httponly=True,
            samesite="strict",
        )

    def _say(self, request: Request, text_id: str, /, **values: object) -> str:
        locale = self._pages.locale(head_of(request.scope))
        return self._pages.say(locale, text_id, **values)


async def read_form(request: Request) -> dict[str, str]:
    """The fields of a form; empty for anything that is none."""
    body = await request.body()
    if "application/x-www-form-urlencoded" not in request.headers.get("content-type", ""):
        return {}
    text = body.decode("utf-8", "replace")
    if text.count("&") >= _FORM_FIELDS_MOST:
        return {}
    return dict(parse_qsl(text, keep_blank_values=True))
