"""What programs change over the API, and what supervisors see of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from unit.bus.platform_double import SmallPlatform
from web_host import Answer, Host, serving, settings_in

from jobclaw.model import DeliveryError
from jobclaw.spi.channel import ChannelHealth
from jobclaw.spi.llm import ModelState

JAVA = "推荐几个 Java 岗位"


@pytest.fixture
async def own(tmp_path: Path) -> AsyncIterator[tuple[Host, SmallPlatform]]:
    platform = SmallPlatform()
    async with serving(settings_in(tmp_path), adapter=platform) as host:
        yield host, platform


async def test_codes_are_made_and_can_be_redeemed(own: tuple[Host, SmallPlatform]):
    host, platform = own
    made = await host.api("/users/codes", "POST", json={"role": "vip", "days": 31, "count": 2})
    assert made.status == 201
    assert len(set(made.json)) == 2
    await host.say(f"/redeem {made.json[0]}", "ann")
    assert (await host.api("/users/ann")).json["user"]["role"] == "vip"
    assert platform.texts()
    for wrong in ({"role": "king"}, {"count": 0}, {"count": 1001}, {"days": 4000}):
        assert (await host.api("/users/codes", "POST", json=wrong)).status == 422


async def test_a_session_is_reset(own: tuple[Host, SmallPlatform]):
    host, _ = own
    chat = "群/一:二"
    await host.say(JAVA, "ann", chat)
    [session] = (await host.api("/sessions")).json
    assert session["bound_agent"] == "job-recommend"
    path = f"/sessions/{quote(session['key'], safe='')}"
    assert (await host.api(path)).json["key"] == session["key"]
    done = await host.api(f"{path}/reset", "POST")
    assert (done.status, done.json["bound_agent"]) == (200, "")
    assert (await host.api(path)).json["bound_agent"] == ""


def push(**changed: str) -> dict[str, str]:
    return {"channel": "console", "conversation": "ann", "text": "面试改到三点"} | changed


async def pushed(host: Host, key: str = "", **changed: str) -> Answer:
    """Push, and wait until it has been tried."""
    headers = {"Idempotency-Key": key} if key else {}
    answer = await host.api("/messages", "POST", json=push(**changed), headers=headers)
    await host.engine.idle()
    return answer


async def test_a_push_is_sent_once(own: tuple[Host, SmallPlatform]):
    host, platform = own
    await host.say(JAVA, "ann")
    shown = len(platform.ledger)
    first = await pushed(host, id="order-1")
    assert (first.status, first.json) == (202, {"id": "order-1", "status": "pending"})
    again = await pushed(host, id="order-1")
    assert (again.status, again.json) == (202, {"id": "order-1", "status": "sent"})
    by_header = await pushed(host, "order-1")
    assert by_header.json["status"] == "sent"
    assert (await host.api("/messages/order-1")).json["status"] == "sent"
    assert platform.texts()[shown:] == ["面试改到三点"]
    assert platform.ledger[-1].push


async def test_a_push_without_an_id_gets_one(own: tuple[Host, SmallPlatform]):
    host, platform = own
    await host.say(JAVA, "ann")
    shown = len(platform.ledger)
    ids = {(await pushed(host)).json["id"] for _ in range(2)}
    assert len(ids) == 2
    assert len(platform.ledger) == shown + 2


@pytest.mark.parametrize(
    ("changed", "status", "code"),
    [
        ({"channel": "telegram"}, 404, "push.no-channel"),
        ({"account": "other"}, 404, "push.no-channel"),
        ({"conversation": "nobody"}, 404, "push.no-conversation"),
        ({"user": "nobody"}, 404, "users.unknown"),
        ({"user": "bob"}, 404, "push.not-theirs"),
        ({"text": "  "}, 422, "push.empty"),
        ({"text": "x" * 20_001}, 422, "push.too-long"),
        ({"id": "a b"}, 422, "push.bad-id"),
        ({"id": "x" * 41}, 422, "push.bad-id"),
        ({"id": "taken"}, 409, "push.other"),
        ({"unknown": "1"}, 422, "http.bad-field"),
        ({"user": "ann"}, 202, ""),
        ({"user": "console:default:ann"}, 202, ""),
        ({"conversation": "team", "user": "bob"}, 202, ""),
    ],
)
async def test_a_push_goes_where_it_may(
    own: tuple[Host, SmallPlatform], changed: dict[str, str], status: int, code: str
):
    host, platform = own
    await host.say(JAVA, "ann")
    await host.say(JAVA, "bob")
    await host.say(JAVA, "ann", "team")
    assert (await pushed(host, id="taken", text="another text")).status == 202
    shown = len(platform.ledger)
    answer = await pushed(host, **changed)
    assert (answer.status, answer.json.get("code", "")) == (status, code)
    assert len(platform.ledger) == shown + (status == 202)


async def test_one_id_in_two_chats_is_a_mistake(own: tuple[Host, SmallPlatform]):
    host, _ = own
    await host.say(JAVA, "ann")
    await host.say(JAVA, "bob")
    assert (await pushed(host, id="x")).status == 202
    other = await pushed(host, id="x", conversation="bob")
    assert (other.status, other.json["code"]) == (409, "push.other")
    both = await pushed(host, "y", id="x")
    assert (both.status, both.json["code"]) == (409, "push.two-ids")


async def test_a_push_that_is_refused_is_dead(own: tuple[Host, SmallPlatform]):
    host, platform = own
    await host.say(JAVA, "ann")
    platform.refusals.append(DeliveryError(kind="forbidden", retryable=False))
    assert (await pushed(host, id="gone")).json["status"] == "pending"
    assert (await host.api("/messages/gone")).json == {"id": "gone", "status": "dead"}
    assert (await host.ask("/readyz")).json["store"]["dead"] == 1


async def test_readiness_has_the_fixed_shape(own: tuple[Host, SmallPlatform]):
    host, _ = own
    now = datetime.now(UTC)
    host.around.health = {"web": ChannelHealth(state="ok", since=now)}
    ready = await host.ask("/readyz")
    assert ready.status == 200
    assert ready.json["state"] == "ready"
    assert ready.json["store"]["state"] == "ok"
    assert ready.json["llm"] == {"state": "off", "models": []}
    web = ready.json["channels"]["web"]
    assert {"state", "since", "reason", "last_in", "last_out"} <= web.keys()
    assert (await host.ask("/healthz")).json == {"state": "live"}
    assert (await host.api("/health")).json == ready.json


@pytest.mark.parametrize(
    ("channel", "model", "state", "status"),
    [
        ("ok", "ok", "ready", 200),
        ("ok", "open", "degraded", 200),
        ("disabled", "ok", "ready", 200),
        ("degraded", "ok", "degraded", 200),
        ("down", "ok", "down", 503),
        ("needs_login", "open", "down", 503),
    ],
)
async def test_what_is_wrong_shows(
    own: tuple[Host, SmallPlatform], channel: Any, model: Any, state: str, status: int
):
    host, _ = own
    host.around.health = {
        "web": ChannelHealth(state="ok"),
        "telegram/sales": ChannelHealth(state=channel, reason="token in /etc/secret"),
    }
    host.around.llm = (ModelState(model="openai/test", state=model, reason="http://10.0.0.1"),)
    ready = await host.ask("/readyz")
    assert (ready.status, ready.json["state"]) == (status, state)
    assert ready.json["channels"]["telegram/sales"]["reason"] == "token in /etc/secret"
    from_afar = await host.ask("/readyz", headers={"X-Forwarded-For": "203.0.113.5"})
    assert (from_afar.status, from_afar.json["state"]) == (status, state)
    assert "/etc/secret" not in from_afar.text
    assert "10.0.0.1" not in from_afar.text


async def test_a_store_that_takes_nothing_makes_it_red(own: tuple[Host, SmallPlatform]):
    host, _ = own
    assert (await host.ask("/readyz")).status == 200
    await host.core.store.close()
    broken = await host.api("/health")
    assert broken.json["store"]["state"] == "down"
    assert (await host.ask("/readyz")).status == 503
    assert (await host.ask("/healthz")).status == 200
