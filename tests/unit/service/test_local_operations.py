"""The operations without a daemon around them, as the command line uses them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import NoReturn

import pytest
from web_host import settings_in

from jobclaw.app.core import SystemClock, build_core, load_plugins, load_texts
from jobclaw.errors import UsageError
from jobclaw.service.local_operations import LocalOperations
from jobclaw.service.operations import Operations, Push, Question
from jobclaw.service.refusals import ConflictError, InvalidError, NoDaemonError, NotFoundError
from jobclaw.service.roster import Roster
from jobclaw.spi.store import DecisionFilter, Store
from jobclaw.storage import open_store


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = open_store(tmp_path / "workspace", SystemClock())
    yield store
    await store.close()


@pytest.fixture
def operations(tmp_path: Path, store: Store) -> Operations:
    settings = settings_in(tmp_path)
    texts = load_texts(settings)
    plugins = load_plugins(settings, texts)
    core = build_core(settings, store, SystemClock(), texts, plugins)
    return LocalOperations(store, core.clock, lambda: Roster(plugins, texts), lambda: core)


def not_needed() -> NoReturn:
    raise AssertionError("this was not needed")


async def test_what_needs_no_plugins_loads_none(store: Store):
    light = LocalOperations(store, SystemClock(), not_needed, not_needed)
    assert await light.users(10) == ()
    assert await light.sessions(10) == ()
    assert await light.decisions(DecisionFilter()) == ()
    assert len(await light.create_codes("vip", 1, 2)) == 2
    health = await light.health()
    assert (health.state, health.llm.state, health.channels) == ("ready", "off", {})


async def test_nothing_is_sent_without_a_daemon(operations: Operations):
    push = Push(channel="console", conversation="u1", text="hi")
    with pytest.raises(NoDaemonError):
        await operations.push(push)


@pytest.mark.parametrize(
    ("kind", "text_id"), [(NotFoundError, "users.unknown"), (ConflictError, "users.ambiguous")]
)
async def test_a_name_is_one_person(
    operations: Operations, store: Store, kind: type[UsageError], text_id: str
):
    one = await store.create_user("console", "default", "u1", "Ann")
    assert (await operations.user("u1")).user == one
    await store.create_user("web", "default", "u1", "Bob")
    named = "nobody" if kind is NotFoundError else "u1"
    with pytest.raises(kind) as raised:
        await operations.set_role(named, "vip")
    assert raised.value.text_id == text_id
    assert (await operations.user("console:default:u1")).user == one


@pytest.mark.parametrize("role", ["king", "", "VIP"])
async def test_a_role_is_one_of_three(operations: Operations, store: Store, role: str):
    user = await store.create_user("console", "default", "u1", "Ann")
    with pytest.raises(InvalidError, match=r"cli\.bad-role"):
        await operations.set_role("u1", role)
    with pytest.raises(InvalidError, match=r"cli\.bad-role"):
        await operations.create_codes(role, 1, 1)
    assert (await operations.user("u1")).user == user
    assert (await operations.set_role("u1", "vip")).role == "vip"


async def test_a_dry_run_is_as_the_user_would_get_it(operations: Operations, store: Store):
    await store.create_user("console", "default", "u1", "Ann")
    await operations.set_role("u1", "admin")
    for user, role, expected in (
        ("u1", "", "admin"),
        ("u1", "free", "free"),
        ("", "", "free"),
        ("stranger", "", "free"),
    ):
        decision = await operations.route(Question(text="推荐岗位", user=user, role=role))
        assert (decision.role, decision.agent) == (expected, "job-recommend"), user
    assert await operations.decisions(DecisionFilter()) == ()
    explained = await operations.explain(decision, "en")
    assert explained.startswith("Because you said")
