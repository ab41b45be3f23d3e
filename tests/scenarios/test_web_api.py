"""The REST API over a real core: what operators read, and what they change."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import pytest_asyncio
from fastapi.openapi.models import OpenAPI
from unit.bus.platform_double import SmallPlatform
from web_host import Host, serving, settings_in

pytestmark = pytest.mark.asyncio(loop_scope="module")
JAVA = "推荐几个 Java 岗位"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def host(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Host]:
    """A server that three people have talked to; nothing that a test changes is another's."""
    folder = tmp_path_factory.mktemp("api")
    (folder / "agents").mkdir()
    (folder / "agents" / "broken.py").write_text("import nothing_there\n", "utf-8")
    async with serving(settings_in(folder), adapter=SmallPlatform()) as host:
        for sender in ("ann", "bob", "cem"):
            await host.say(JAVA, sender)
        yield host


async def test_the_document_is_valid_and_complete(host: Host):
    answer = await host.ask("/api/openapi.json")
    document = answer.json
    OpenAPI(**document)
    assert document["security"] == [{"operator": []}]
    scheme = document["components"]["securitySchemes"]["operator"]
    assert (scheme["type"], scheme["scheme"]) == ("http", "bearer")
    refs = set(re.findall(r"#/components/schemas/([\w-]+)", answer.text))
    assert refs <= document["components"]["schemas"].keys()
    for operations in document["paths"].values():
        for operation in operations.values():
            assert operation["description"]
            good = [code for code in operation["responses"] if code.startswith("2")]
            assert len(good) == 1
            [content] = operation["responses"][good[0]]["content"].values()
            assert content["schema"]


async def test_no_page_of_documents_is_fetched_from_elsewhere(host: Host):
    for path in ("/docs", "/redoc", "/openapi.json"):
        assert (await host.ask(path)).status == 404


async def test_agents_and_the_plugin_that_failed(host: Host):
    chinese = (await host.api("/agents", headers={"Accept-Language": "zh-CN"})).json
    english = (await host.api("/agents", headers={"Accept-Language": "en;q=0.9,zh;q=0.1"})).json
    names = {line["id"]: line["name"] for line in english}
    assert names["job-recommend"] == "Job recommendations"
    assert {line["id"]: line["name"] for line in chinese}["job-recommend"] == "岗位推荐"
    assert {"id", "name", "description", "intents", "priority"} < english[0].keys()
    [failed] = [line for line in english if line["error"]]
    assert failed["name"] == "broken"
    assert "nothing_there" in failed["error"]
    assert not failed["available"]


@pytest.mark.parametrize(
    ("path", "key"),
    [("/users", "user"), ("/sessions", "key"), ("/decisions", "message")],
)
async def test_a_list_is_read_in_parts(host: Host, path: str, key: str):
    whole = (await host.api(path)).json
    assert len(whole) == 3
    found: list[Any] = []
    link, parts = f"{path}?limit=2", 0
    while link:
        answer = await host.api(link)
        found += answer.json
        parts += 1
        following = re.fullmatch(
            r'<(/api/v1[^>]+)>; rel="next"', answer.headers.get("link", "")
        )
        link = following[1].removeprefix("/api/v1") if following else ""
    assert [one[key] for one in found] == [one[key] for one in whole]
    assert parts == 2
    for limit in ("0", "1001", "x", "-1"):
        refused = await host.api(f"{path}?limit={limit}")
        assert (refused.status, refused.json["code"]) == (422, "http.bad-field")
    assert (await host.api(f"{path}?before=nobody")).json == []


@pytest.mark.parametrize(
    ("path", "body", "english", "chinese"),
    [
        ("/decisions?agnet=chat", None, "there is no field “agnet”", "没有“agnet”这个字段"),
        ("/decisions?limit=0", None, "“limit” is out of range", "“limit”超出范围"),
        ("/users?limit=ten", None, "“limit” cannot have that value", "“limit”的值不对"),
        ("/route", b"{}", "“text” is missing", "缺少“text”"),
        ("/route", b"{", "the body is not JSON", "请求体不是 JSON"),
        ("/route", b'{"text": 1, "x": 2}', "“text” cannot", "；没有“x”这个字段"),
    ],
)
async def test_a_wrong_field_is_named(
    host: Host, path: str, body: bytes | None, english: str, chinese: str
):
    for locale, text in (("en", english), ("zh", chinese)):
        headers = {"Accept-Language": locale, "Content-Type": "application/json"}
        method = "GET" if body is None else "POST"
        answer = await host.api(path, method, data=body, headers=headers)
        assert (answer.status, answer.json["code"]) == (422, "http.bad-field")
        assert text in answer.json["error"]


@pytest.mark.parametrize("named", ["ann", "console:default:ann"])
async def test_a_user_is_found_by_any_name(host: Host, named: str):
    person = (await host.api(f"/users/{named}")).json
    assert person["user"]["name"] == "ann"
    assert person["identities"] == ["console:default:ann"]
    by_id = await host.api(f"/users/{person['user']['id']}")
    assert by_id.json == person


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        ("GET", "/users/nobody", "users.unknown"),
        ("PUT", "/users/nobody/role", "users.unknown"),
        ("GET", "/sessions/none", "sessions.unknown"),
        ("POST", "/sessions/none/reset", "sessions.unknown"),
        ("GET", "/decisions/none", "cli.why.unknown"),
        ("GET", "/decisions?user=nobody", "users.unknown"),
        ("GET", "/messages/none", "push.unknown"),
        ("GET", "/none", "http.not-found"),
    ],
)
async def test_what_is_not_there_is_said(host: Host, method: str, path: str, code: str):
    body = {"json": {"role": "vip"}} if method == "PUT" else {}
    answer = await host.api(path, method, headers={"Accept-Language": "en"}, **body)
    assert (answer.status, answer.json["code"]) == (404, code)
    assert answer.headers["content-type"] == "application/problem+json"
    assert re.search(r"[a-z]{3}", answer.json["error"])
    chinese = await host.api(path, method, headers={"Accept-Language": "zh"}, **body)
    assert re.search(r"[\u4e00-\u9fff]", chinese.json["error"])


async def test_a_role_is_given(host: Host):
    given = await host.api("/users/bob/role", "PUT", json={"role": "vip", "days": 3})
    assert given.json["user"]["role"] == "vip"
    until = datetime.fromisoformat(given.json["user"]["role_until"])
    assert timedelta(days=2, hours=23) < until - datetime.now(UTC) <= timedelta(days=3)
    decision = (await host.api("/route", "POST", json={"text": JAVA, "user": "bob"})).json
    assert decision["role"] == "vip"
    for wrong in ({"role": "king"}, {}, {"role": "vip", "days": 0}, {"role": "vip", "x": 1}):
        assert (await host.api("/users/bob/role", "PUT", json=wrong)).status == 422
    assert (await host.api("/users/bob")).json == given.json


async def test_decisions_are_narrowed(host: Host):
    everything = (await host.api("/decisions")).json
    ann = (await host.api("/decisions?user=ann")).json
    assert [one["message"] for one in ann] == [everything[2]["message"]]
    for narrowed, count in (
        ("agent=job-recommend", 3),
        ("agent=chat", 0),
        ("tier=keyword", 3),
        ("tier=llm", 0),
        (f"session={ann[0]['session']}", 1),
        ("since=2020-01-01T00:00:00Z", 3),
        ("since=2020-01-01", 3),
        ("since=2999-01-01T00:00:00Z", 0),
    ):
        assert len((await host.api(f"/decisions?{narrowed}")).json) == count, narrowed
    assert (await host.api("/decisions?since=yesterday")).status == 422


async def test_a_decision_is_explained(host: Host):
    [newest, *_] = (await host.api("/decisions?limit=1")).json
    plain = (await host.api(f"/decisions/{newest['message']}")).json
    assert plain == newest
    assert (await host.api("/decisions/newest")).json == newest
    english = (await host.api(f"/decisions/{newest['message']}?explain=en")).json
    chinese = (await host.api("/decisions/newest?explain=zh")).json
    assert english.pop("explanation").startswith("Because you said")
    assert chinese.pop("explanation").startswith("因为你说了")
    assert english == chinese == newest
    again = await host.api("/explain?locale=en", "POST", json=newest)
    assert again.json["explanation"].startswith("Because you said")
    assert (await host.api("/decisions/newest?explain=fr")).status == 422
    assert (await host.api("/explain", "POST", json={"message": 1})).status == 422
    owner = (await host.api("/decisions/newest?user=bob")).json["message"]
    assert (await host.api(f"/decisions/{owner}?user=ann")).status == 404


async def test_a_dry_run_changes_nothing(host: Host):
    before = (await host.api("/decisions")).json
    free = (await host.api("/route", "POST", json={"text": JAVA, "role": "free"})).json
    assert (free["agent"], free["tier"], free["role"]) == ("job-recommend", "keyword", "free")
    explained = await host.api("/route?explain=en", "POST", json={"text": JAVA})
    assert explained.json["explanation"].startswith("Because you said")
    assert (await host.api("/decisions")).json == before
    assert (await host.api("/route", "POST", json={"text": JAVA, "role": "king"})).status == 422
    assert (await host.api("/route", "POST", json={})).status == 422
    assert (await host.api("/route", "POST", data=b"{")).status == 422
