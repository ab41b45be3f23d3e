"""What no request gets past, whatever it asks for; one server for all of these tests."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from web_host import TOKEN, Host, serving, settings_in

from jobclaw.web.headers import CSP

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def host(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Host]:
    async with serving(settings_in(tmp_path_factory.mktemp("gate"))) as host:
        yield host


EVERYWHERE = [
    "/",
    "/console",
    "/console/login",
    "/api/v1/agents",
    "/readyz",
    "/metrics",
    "/none",
]


@pytest.mark.parametrize("path", [*EVERYWHERE, "/healthz"])
@pytest.mark.parametrize("named", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost"])
async def test_a_foreign_host_is_refused(host: Host, path: str, named: str):
    refused = await host.ask(path, token=TOKEN, headers={"Host": named})
    assert refused.status == (200 if path == "/healthz" else 403)
    ours = await host.ask(path, token=TOKEN)
    assert ours.status in (200, 303, 307, 404)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Origin": "own"}, 200),
        ({"Sec-Fetch-Site": "same-origin", "Origin": "own"}, 200),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Origin": "own"}, 403),
    ],
)
async def test_a_change_from_another_site_is_refused(
    host: Host, headers: dict[str, str], status: int
):
    sent = {name: host.address if value == "own" else value for name, value in headers.items()}
    question = {"text": "推荐几个 Java 岗位"}
    answer = await host.api("/route", "POST", json=question, headers=sent)
    assert answer.status == status


async def test_a_websocket_of_another_site_is_refused(host: Host):
    upgrade = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    }
    foreign = await host.ask(
        "/console/login", headers={**upgrade, "Origin": "http://evil.example"}
    )
    assert foreign.status == 403
    own = await host.ask("/console/login", headers={**upgrade, "Origin": host.address})
    assert own.status == 200


PATHS = [
    ("GET", "/agents"),
    ("GET", "/health"),
    ("GET", "/users"),
    ("GET", "/users/u1"),
    ("PUT", "/users/u1/role"),
    ("POST", "/users/codes"),
    ("GET", "/sessions"),
    ("GET", "/sessions/x"),
    ("POST", "/sessions/x/reset"),
    ("GET", "/decisions"),
    ("GET", "/decisions/newest"),
    ("GET", "/decisions/x"),
    ("POST", "/route"),
    ("POST", "/explain"),
    ("POST", "/messages"),
    ("GET", "/messages/x"),
    ("GET", "/no-such-path"),
]


@pytest.mark.parametrize(("method", "path"), PATHS)
async def test_every_path_of_the_api_needs_the_token(host: Host, method: str, path: str):
    for headers in (
        {},
        {"Authorization": ""},
        {"Authorization": "Bearer "},
        {"Authorization": f"Basic {TOKEN}"},
        {"Authorization": TOKEN},
        {"Cookie": f"jobclaw_console={TOKEN}"},
    ):
        refused = await host.ask(f"/api/v1{path}", method, headers=headers)
        assert refused.status == 401, headers
        assert refused.headers["www-authenticate"].startswith("Bearer")
    assert (await host.api(path, method)).status in (200, 201, 404, 422)


async def test_the_document_names_no_path_that_is_not_tested(host: Host):
    document = (await host.ask("/api/openapi.json")).json
    tested = {(method, path.replace("u1", "{}").replace("/x", "/{}")) for method, path in PATHS}
    for path, operations in document["paths"].items():
        plain = re.sub(r"\{[^}]*\}", "{}", path.removeprefix("/api/v1"))
        assert {(method.upper(), plain) for method in operations} <= tested


@pytest.mark.parametrize("path", [*EVERYWHERE, "/healthz", "/console/static/console.css"])
async def test_every_answer_carries_the_headers(host: Host, path: str):
    for headers in ({}, {"Host": "evil.example"}):
        answer = await host.ask(path, headers=headers)
        assert answer.headers["content-security-policy"] == CSP
        assert answer.headers["x-content-type-options"] == "nosniff"
        referrer = "same-origin" if path.startswith("/console") else "no-referrer"
        assert answer.headers["referrer-policy"] == referrer
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert "server" not in answer.headers
    answer = await host.ask(path)
    cached = answer.headers.get("cache-control", "")
    kept_back = path.startswith(("/console", "/api", "/healthz", "/readyz", "/metrics"))
    assert (cached in ("no-store", "no-cache")) is kept_back
