"""The security matrix of the web server, each refusal beside what is let through."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import timedelta
from io import BytesIO
from pathlib import Path

import pytest
from store_samples import SteppedClock
from web_host import TOKEN, Answer, Host, serving, settings_in

WRONG = "not-the-operator-s-token-at-all"
PAGE = {"Accept": "text/html", "Accept-Language": "en"}


@pytest.fixture
async def host(tmp_path: Path) -> AsyncIterator[Host]:
    async with serving(settings_in(tmp_path)) as host:
        yield host


@pytest.fixture
async def own_token(tmp_path: Path) -> AsyncIterator[Host]:
    """A server whose token is in the workspace's file."""
    async with serving(settings_in(tmp_path, "port: 0")) as host:
        yield host


async def test_the_refusal_is_a_page_with_the_line_to_add(host: Host):
    page = await host.ask("/console", headers={**PAGE, "Host": "nas.example:9000"})
    assert page.status == 403
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "config/local.yaml" in page.text
    assert "allowed_hosts: [&#34;nas.example:9000&#34;]" in page.text
    hostile = await host.ask("/console", headers={**PAGE, "Host": "<script>alert(1)</script>"})
    assert hostile.status == 403
    assert "<script" not in hostile.text


async def test_an_allowed_host_is_answered(tmp_path: Path):
    web = f'operator_token: {TOKEN}, allowed_hosts: ["nas.example:9000"]'
    async with serving(settings_in(tmp_path, web)) as host:
        answer = await host.ask("/console/login", headers={"Host": "nas.example:9000"})
        assert answer.status == 200


@pytest.mark.parametrize("path", ["/agents", "/messages/x", "/no-such-path"])
async def test_a_wrong_token_opens_nothing(host: Host, path: str):
    for scheme in ("Bearer", "bearer"):
        headers = {"Authorization": f"{scheme} {WRONG}"}
        assert (await host.ask(f"/api/v1{path}", headers=headers)).status == 401
        headers = {"Authorization": f"{scheme} {TOKEN}"}
        assert (await host.ask(f"/api/v1{path}", headers=headers)).status in (200, 404)


async def test_twenty_wrong_tokens(tmp_path: Path):
    clock = SteppedClock()
    async with serving(settings_in(tmp_path), clock=clock) as host:
        asked = [await host.ask("/api/v1/agents", token=WRONG) for _ in range(20)]
        assert [answer.status for answer in asked] == [401] * 10 + [429] * 10
        assert asked[-1].headers["retry-after"] == "300"
        right = await host.api("/agents")
        assert right.status == 429, "a limit that lets the right guess through limits nothing"
        assert (await log_in(host, TOKEN)).status == 429
        assert (await host.ask("/healthz")).status == 200
        clock.move(timedelta(seconds=300))
        assert (await host.api("/agents")).status == 200


async def test_no_token_is_no_guess(host: Host):
    asked = [await host.ask("/api/v1/agents") for _ in range(20)]
    assert {answer.status for answer in asked} == {401}
    assert (await host.api("/agents")).status == 200


@pytest.mark.parametrize("name", ["token", "access_token", "Token"])
async def test_a_token_in_an_address_is_refused(host: Host, name: str):
    refused = await host.ask(f"/console?{name}={TOKEN}", headers=PAGE)
    assert refused.status == 400
    assert TOKEN not in refused.text
    both = await host.api("/agents", params={name: TOKEN})
    assert both.status == 400
    assert (await host.api("/agents", params={"other": "1"})).status == 200


CSRF = re.compile(r'name="csrf" value="([^"]+)"')


def csrf_of(page: Answer) -> str:
    """What a page's form carries."""
    found = CSRF.search(page.text)
    assert found is not None, page.text
    return found[1]


async def log_in(host: Host, token: str, **changed: str) -> Answer:
    """Fill in the login form, as a browser that shows it."""
    page = await host.ask("/console/login", headers=PAGE)
    form = {"csrf": csrf_of(page), "token": token} | changed
    return await host.ask("/console/login", "POST", data=form, headers=PAGE)


async def test_the_console_is_behind_the_login(host: Host):
    outside = await host.ask("/console")
    assert (outside.status, outside.headers["location"]) == (303, "/console/login")
    wrong = await log_in(host, WRONG)
    assert wrong.status == 401
    assert (await host.ask("/console")).status == 303
    inside = await log_in(host, TOKEN)
    assert (inside.status, inside.headers["location"]) == (303, "/console")
    cookie = inside.headers["set-cookie"]
    for part in ("HttpOnly", "SameSite=strict", "Path=/console", "Max-Age=43200"):
        assert part in cookie
    assert TOKEN not in cookie
    assert "Secure" not in cookie
    assert (await host.ask("/console")).status == 200
    assert (await host.ask("/api/v1/agents")).status == 401, "a cookie is no bearer"


async def test_behind_https_the_cookie_is_secure(tmp_path: Path):
    web = f"operator_token: {TOKEN}, public_url: https://bot.example.com"
    async with serving(settings_in(tmp_path, web)) as host:
        assert "Secure" in (await log_in(host, TOKEN)).headers["set-cookie"]


@pytest.mark.parametrize("csrf", ["", "x", "0" * 64])
async def test_the_login_form_is_our_own(host: Host, csrf: str):
    assert (await log_in(host, TOKEN, csrf=csrf)).status == 403
    assert (await host.ask("/console")).status == 303


async def test_a_login_form_of_another_browser_is_refused(host: Host):
    page = await host.ask("/console/login")
    host.http.cookie_jar.clear()
    form = {"csrf": csrf_of(page), "token": TOKEN}
    assert (await host.ask("/console/login", "POST", data=form)).status == 403


async def test_a_form_from_another_origin_is_refused(host: Host):
    await log_in(host, TOKEN)
    csrf = csrf_of(await host.ask("/console"))
    foreign = {"Origin": "http://evil.example"}
    refused = await host.ask("/console/logout", "POST", data={"csrf": csrf}, headers=foreign)
    assert refused.status == 403
    for forged in ({}, {"csrf": ""}, {"csrf": csrf[:-1]}):
        assert (await host.ask("/console/logout", "POST", data=forged)).status == 403
    as_json = await host.ask("/console/logout", "POST", json={"csrf": csrf})
    assert as_json.status == 403
    assert (await host.ask("/console")).status == 200
    done = await host.ask("/console/logout", "POST", data={"csrf": csrf})
    assert (done.status, done.headers["location"]) == (303, "/console/login")
    assert (await host.ask("/console")).status == 303


async def test_logging_out_ends_the_login_and_not_only_the_cookie(host: Host):
    cookie = (await log_in(host, TOKEN)).headers["set-cookie"].partition(";")[0]
    csrf = csrf_of(await host.ask("/console"))
    await host.ask("/console/logout", "POST", data={"csrf": csrf})
    host.http.cookie_jar.clear()
    assert (await host.ask("/console", headers={"Cookie": cookie})).status == 303


async def test_a_login_lasts_twelve_hours(tmp_path: Path):
    clock = SteppedClock()
    async with serving(settings_in(tmp_path), clock=clock) as host:
        cookie = (await log_in(host, TOKEN)).headers["set-cookie"].partition(";")[0]
        clock.move(timedelta(hours=11, minutes=59))
        assert (await host.ask("/console", headers={"Cookie": cookie})).status == 200
        clock.move(timedelta(minutes=1))
        assert (await host.ask("/console", headers={"Cookie": cookie})).status == 303


async def test_a_rotated_token_ends_everything_of_the_old_one_at_once(own_token: Host):
    host, old = own_token, own_token.token_file.read_text("ascii").strip()
    assert (await host.ask("/api/v1/agents", token=old)).status == 200
    assert (await log_in(host, old)).status == 303
    assert (await host.ask("/console")).status == 200
    new = "the-new-token-of-the-operator"
    host.token_file.write_text(f"{new}\n", "ascii")
    assert (await host.ask("/api/v1/agents", token=old)).status == 401
    assert (await host.ask("/console")).status == 303
    assert (await host.ask("/api/v1/agents", token=new)).status == 200
    assert (await log_in(host, old)).status == 401
    assert (await log_in(host, new)).status == 303
    host.token_file.write_text(f"{old}\n", "ascii")
    assert (await host.ask("/console")).status == 303


async def test_a_token_file_that_others_may_write_opens_nothing(own_token: Host):
    token = own_token.token_file.read_text("ascii").strip()
    own_token.token_file.chmod(0o666)
    assert (await own_token.ask("/api/v1/agents", token=token)).status == 401
    own_token.token_file.chmod(0o600)
    assert (await own_token.ask("/api/v1/agents", token=token)).status == 200


async def test_no_page_has_a_script_or_a_style_of_its_own(host: Host):
    await log_in(host, TOKEN)
    for path in ("/console", "/console/login", "/no-such-page"):
        page = await host.ask(path, headers=PAGE)
        assert not re.search(r"<script|<style|\sstyle=|\son\w+=", page.text), path


def too_long() -> BytesIO:
    return BytesIO(b"x" * (1024 * 1024 + 1))


async def test_a_body_is_read_from_who_may_send_it_and_bounded(host: Host):
    assert (await host.api("/route", "POST", data=too_long())).status == 413
    assert (await host.ask("/api/v1/route", "POST", data=too_long())).status == 401
    assert (await host.ask("/console/login", "POST", data=too_long())).status == 413
    fits = await host.api("/route", "POST", json={"text": "x" * 1000})
    assert fits.status == 200


async def chunked(host: Host, chunks: int) -> bytes:
    """The first line that is answered to a body whose length is not announced."""
    name, _, port = host.netloc.rpartition(":")
    reader, writer = await asyncio.open_connection(name, int(port))
    writer.write(
        f"POST /console/login HTTP/1.1\r\nHost: {host.netloc}\r\n"
        "Content-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    )
    for _ in range(chunks):
        writer.write(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")
    writer.write(b"0\r\n\r\n")
    async with asyncio.timeout(10):
        line = await reader.readline()
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()
    return line


@pytest.mark.parametrize(("chunks", "status"), [(2, b"403"), (17, b"413")])
async def test_a_body_of_unknown_length_is_bounded(host: Host, chunks: int, status: bytes):
    assert (await chunked(host, chunks)).split()[1] == status


async def test_nothing_inside_shows(host: Host):
    await host.core.store.close()  # what every path needs is gone
    for path in ("/users", "/sessions", "/decisions", "/users/u1"):
        broken = await host.api(path)
        assert broken.status in (500, 503)
        assert "Traceback" not in broken.text
        assert str(host.core.settings.workspace) not in broken.text
        assert re.fullmatch(r"http\.(internal|no-storage)", broken.json["code"])
        assert re.search(r"[0-9a-f]{8}", broken.json["error"])
