"""What a scraper reads of messages, replies, queues, models and the event loop."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from unit.bus.platform_double import SmallPlatform
from web_host import TOKEN, Host, serving, settings_in

from jobclaw.model import DeliveryError
from jobclaw.observe.metrics import OTHER, Bounded
from jobclaw.spi.llm import ModelState
from jobclaw.spi.store import ModelUsage

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


@pytest.fixture
def platform() -> SmallPlatform:
    return SmallPlatform()


@pytest.fixture
async def host(tmp_path: Path, platform: SmallPlatform) -> AsyncIterator[Host]:
    async with serving(settings_in(tmp_path), adapter=platform) as host:
        yield host


async def samples(host: Host) -> Samples:
    """Every figure by its name and labels."""
    answer = await host.ask("/metrics")
    assert answer.status == 200
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def value(found: Samples, name: str, **labels: str) -> float:
    """A figure by name and some of its labels, 0 when it is not there."""
    wanted = set(labels.items())
    return sum(
        number for (one, its), number in found.items() if one == name and wanted <= set(its)
    )


async def test_messages_are_counted_by_how_they_were_decided(host: Host):
    before = await samples(host)
    assert value(before, "jobclaw_messages_total") == 0
    await host.say("推荐几个 Java 岗位")
    await host.say("/help")
    found = await samples(host)
    assert value(found, "jobclaw_messages_total", channel="console") == 2
    recommended = {"agent": "job-recommend", "step": "classify", "tier": "keyword"}
    assert value(found, "jobclaw_messages_total", outcome="answered", **recommended) == 1
    assert value(found, "jobclaw_messages_total", step="command", agent="none") == 1


async def test_answers_are_timed_until_handled_and_delivered(
    host: Host, platform: SmallPlatform
):
    await host.say("推荐几个 Java 岗位")
    found = await samples(host)
    for until in ("handled", "delivered"):
        assert value(found, "jobclaw_answer_seconds_count", until=until) == 1
        assert 0 < value(found, "jobclaw_answer_seconds_sum", until=until) < 60
    assert value(found, "jobclaw_replies_total", outcome="sent") == len(platform.ledger)
    platform.refusals += [DeliveryError(kind="forbidden")] * 5
    await host.say("你好")
    found = await samples(host)
    assert value(found, "jobclaw_replies_total", outcome="dead") >= 1
    assert value(found, "jobclaw_answer_seconds_count", until="handled") == 2
    assert value(found, "jobclaw_answer_seconds_count", until="delivered") == 1
    assert value(found, "jobclaw_queue", queue="dead") >= 1
    assert value(found, "jobclaw_queue", queue="inbox") == 0


async def test_models_are_shown_with_their_use_and_state(host: Host):
    month = f"{host.core.clock.now():%Y-%m}"
    used = ModelUsage(month=month, model="openai/test", calls=2, tokens=30, cost_usd=0.5)
    await host.core.store.add_usage(used)
    await host.core.store.add_usage(used)
    host.around.llm = (
        ModelState(model="openai/test", state="ok"),
        ModelState(model="other", state="open"),
    )
    found = await samples(host)
    assert value(found, "jobclaw_llm_calls_total", model="openai/test") == 4
    assert value(found, "jobclaw_llm_tokens_total", model="openai/test") == 60
    assert value(found, "jobclaw_llm_cost_usd_total", model="openai/test") == 1.0
    assert value(found, "jobclaw_llm_up", model="openai/test") == 1
    assert ("jobclaw_llm_up", (("model", "other"), ("state", "open"))) in found
    assert value(found, "jobclaw_llm_up", model="other") == 0


async def test_the_process_and_the_build_are_there(host: Host):
    found = await samples(host)
    assert value(found, "process_resident_memory_bytes") > 0
    assert value(found, "jobclaw_build_info") == 1
    assert value(found, "jobclaw_start_time_seconds") > 1.7e9
    assert ("jobclaw_event_loop_lag_seconds_count", ()) in found


@pytest.mark.parametrize(
    ("headers", "token", "status"),
    [
        ({}, "", 200),
        ({"X-Forwarded-For": "203.0.113.5"}, "", 401),
        ({"X-Forwarded-For": "203.0.113.5"}, "not-the-token", 401),
        ({"X-Forwarded-For": "203.0.113.5"}, TOKEN, 200),
        ({"Host": "bot.example.com"}, "", 401),
        ({"Host": "bot.example.com"}, TOKEN, 200),
    ],
)
async def test_figures_are_for_this_machine_or_the_operator(
    tmp_path: Path, headers: dict[str, str], token: str, status: int
):
    web = f'operator_token: {TOKEN}, allowed_hosts: ["bot.example.com"]'
    async with serving(settings_in(tmp_path, web)) as host:
        assert (await host.ask("/metrics", token=token, headers=headers)).status == status


def test_a_label_has_a_bounded_number_of_values():
    bounded = Bounded(2)
    assert [bounded(name) for name in ("a", "b", "c", "a", "d")] == [
        "a",
        "b",
        OTHER,
        "a",
        OTHER,
    ]
