"""The router cases of the seed (cases/seed_router.yaml), through `jobclaw chat --jsonl`.

Each runs in a process of its own and through a running daemon. R6 and R7 need a model:
test_model_tier.py and test_seed_web.py. What R7 says of the default agent is here too.
"""

import contextlib
import shutil
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml
from driver import Chat, Deployment, decisions, replies
from seed_agents import CONFIG, SOURCE

WITH_MODEL = {"R6", "R7"}
WAIT_S = 20.0
RECOMMEND = """        _agent("recommend", ("RECOMMEND",)),
"""


@pytest.fixture(params=["alone", "daemon"])
def seed(tmp_path: Path, shared: Path, request: pytest.FixtureRequest) -> Iterator[Deployment]:
    """A deployment with the seed's agents and keyword table, with and without its daemon."""
    deployment = Deployment(tmp_path, CONFIG)
    deployment.drop_in("seed", SOURCE)
    shutil.copy(shared / "data" / "seed_keywords.yaml", tmp_path / "config" / "keywords.yaml")
    with deployment.daemon() if request.param == "daemon" else contextlib.nullcontext():
        yield deployment


@pytest.fixture
def chat(seed: Deployment):
    with seed.chat() as running:
        yield running


def bound_agent(seed: Deployment) -> str | None:
    """What the one binding file says."""
    [file] = seed.session_files()
    return yaml.safe_load(file.read_text("utf-8")).get("boundAgentId")


def test_every_case_is_here(shared: Path):
    cases = yaml.safe_load((shared / "cases" / "seed_router.yaml").read_text("utf-8"))
    tested = {name[5:].split("_")[0].upper() for name in globals() if name.startswith("test_r")}
    assert {case["id"] for case in cases} - WITH_MODEL == tested - WITH_MODEL


def test_r1_the_second_message_is_answered_by_binding(chat: Chat, seed: Deployment):
    first = chat.decide("推荐几个Java岗位")
    assert (first["agent"], first["tier"]) == ("recommend", "keyword")
    second = chat.decide("薪资多少")
    assert (second["agent"], second["step"], second["tier"]) == ("recommend", "binding", "none")
    assert second["tiers"] == []
    assert second["llm"] is None
    assert bound_agent(seed) == "recommend"


def test_r2_reset_unbinds_and_current_says_so(chat: Chat, seed: Deployment):
    chat.say("推荐几个Java岗位")
    chat.say("/reset")
    assert "/agents" in chat.say("/current")["text"]
    chat.end()
    assert not bound_agent(seed)


@pytest.mark.parametrize(
    ("role", "fetch", "plan"),
    [("free", False, False), ("vip", False, True), ("admin", True, True)],
)
def test_r3_agents_shows_what_the_role_may_use(chat: Chat, role: str, fetch: bool, plan: bool):
    text = chat.say("/agents", role=role)["text"]
    assert ("`fetch`" in text, "`plan`" in text) == (fetch, plan)
    assert "`recommend`" in text


def test_r4_an_expired_binding_is_classified_again(seed: Deployment):
    with seed.chat() as chat:
        chat.say("推荐几个Java岗位")
        chat.end()
    [file] = seed.session_files()
    past = datetime.now(UTC) - timedelta(seconds=1)
    text = file.read_text("utf-8")
    [line] = [line for line in text.splitlines() if line.startswith("expiresAt")]
    file.write_text(text.replace(line, f"expiresAt: {past:%Y-%m-%dT%H:%M:%SZ}"), "utf-8")
    with seed.chat() as chat:
        decision = chat.decide("你好")
        assert (decision["step"], decision["agent"]) == ("classify", "default")


def test_r5_a_forbidden_agent_is_refused_never_replaced(chat: Chat, seed: Deployment):
    lines = chat.tell("我要投递字节")
    [decision], [reply] = decisions(lines), replies(lines)
    assert (decision["outcome"], decision["agent"]) == ("refused", "")
    assert decision["removed"] == [{"agent": "fetch", "why": "role"}]
    assert "管理员" in reply["text"]
    assert "fetch got" not in reply["text"]
    assert not bound_agent(seed)
    allowed = chat.decide("我要投递字节", role="admin")
    assert (allowed["agent"], allowed["outcome"]) == ("fetch", "answered")


def test_r7_the_default_agent_is_never_bound(chat: Chat, seed: Deployment):
    assert chat.decide("帮个忙")["agent"] == "default"
    chat.end()
    [file] = seed.session_files()
    shown = yaml.safe_load(file.read_text("utf-8"))
    assert not shown.get("boundAgentId")
    ahead = shown["defaultUntil"] - datetime.now(UTC)
    assert timedelta(minutes=29) < ahead <= timedelta(minutes=30)
    with seed.chat() as again:
        assert again.decide("帮个忙")["agent"] == "default"
        assert again.decide("有什么岗位")["agent"] == "recommend"


@pytest.mark.parametrize("text", ["/resetxyz", "/helpme", "/planet"])
def test_r8_a_longer_word_is_no_command(chat: Chat, text: str):
    chat.say("推荐几个Java岗位")
    decision = chat.decide(text)
    assert decision["step"] != "command"
    assert chat.decide("薪资多少")["agent"] == "recommend"


@pytest.mark.parametrize(("text", "hint"), [("/hlep", "/help"), ("/agnets", "/agents")])
def test_r8_a_slip_gets_a_hint_and_runs_nothing(chat: Chat, text: str, hint: str):
    chat.say("推荐几个Java岗位")
    lines = chat.tell(text, id="slip")
    assert decisions(lines)[0]["outcome"] == "hint"
    assert hint in replies(lines)[0]["text"]
    assert "什么也没有执行" in chat.say("/why slip")["text"]
    assert chat.decide("薪资多少")["agent"] == "recommend"


def test_r9_agent_without_a_name_lists_and_binds_nothing(chat: Chat, seed: Deployment):
    assert "`recommend`" in chat.say("/agent")["text"]
    chat.end()
    assert not any("recommend" in file.read_text("utf-8") for file in seed.session_files())


def test_r10_an_intent_command_in_capitals(chat: Chat, seed: Deployment):
    lines = chat.tell("/RECOMMEND 北京 Java")
    assert replies(lines)[0]["text"] == "recommend got '北京 Java' args '北京 Java'"
    assert decisions(lines)[0]["tier"] == "command"
    assert bound_agent(seed) == "recommend"


def test_r11_help_passes_the_gate(tmp_path: Path):
    gated = Deployment(tmp_path, "")
    with gated.chat() as chat:
        lines = chat.tell("/help")
        assert "/agents" in replies(lines)[0]["text"]
        assert decisions(lines)[0]["step"] == "command"
        assert chat.decide("推荐岗位")["agent"] == "identity"


def test_r12_a_broken_date_is_set_aside_and_both_are_answered(seed: Deployment):
    with seed.chat() as chat:
        chat.say("推荐几个Java岗位")
        chat.end()
    [file] = seed.session_files()
    broken = file.read_bytes().replace(b"boundAt: 20", b"boundAt: soon 20")
    file.write_bytes(broken)
    with seed.chat() as chat:
        assert chat.say("/reset")["text"]
        assert chat.decide("推荐岗位")["agent"] == "recommend"
        chat.end()
    kept = [path for path in file.parent.iterdir() if path.read_bytes() == broken]
    assert len(kept) == 1
    assert kept[0] != file


def test_r13_a_vanished_agent_is_told_once_and_routed_afresh(seed: Deployment):
    with seed.chat() as chat:
        chat.say("推荐几个Java岗位")
        chat.end()
    seed.drop_in("seed", SOURCE.replace(RECOMMEND, ""))
    give_up = time.monotonic() + WAIT_S
    while "recommend" in [agent["id"] for agent in seed.json("agents")]:
        assert time.monotonic() < give_up
    with seed.chat() as chat:
        lines = chat.tell("你好")
        assert decisions(lines)[0]["agent"] == "default"
        assert "recommend" in replies(lines)[0]["text"].split("\n")[0]
        assert "recommend" not in chat.say("你好")["text"]
        chat.end()
    assert not bound_agent(seed)


def test_r14_a_group_and_a_direct_chat_share_no_binding(chat: Chat):
    lines = chat.tell("@bot 推荐岗位", conversation="g1", kind="group")
    assert decisions(lines)[0]["agent"] == "recommend"
    assert "/agents" in chat.say("/current")["text"]
    assert "recommend" in chat.say("/current", conversation="g1", kind="group")["text"]
