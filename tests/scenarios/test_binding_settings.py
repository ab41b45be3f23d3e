"""Settings of the binding, and agents that answer in private only."""

from pathlib import Path

from driver import Deployment, decisions, replies

OFF = 'router: {identity_gate: "off"}\n'


def expires_at(deployment: Deployment) -> str:
    [session] = deployment.json("sessions", "list")
    return str(session["expires_at"])


def test_a_fixed_binding_is_not_extended_by_use(tmp_path: Path):
    deployment = Deployment(tmp_path, OFF + "binding: {renew: fixed}\n")
    with deployment.chat() as chat:
        chat.say("推荐几个Java岗位")
        first = expires_at(deployment)
        chat.say("薪资多少")
        assert expires_at(deployment) == first


def test_a_sliding_binding_is_extended_by_use(deployment: Deployment):
    with deployment.chat() as chat:
        chat.say("推荐几个Java岗位")
        first = expires_at(deployment)
        chat.say("薪资多少")
        assert expires_at(deployment) > first


def test_without_escape_only_a_switch_moves_a_session(tmp_path: Path):
    deployment = Deployment(tmp_path, OFF + "binding: {escape: false}\n")
    with deployment.chat() as chat:
        chat.say("推荐几个Java岗位")
        assert chat.decide("查询投递进度")["agent"] == "job-recommend"
        assert chat.decide("/progress 查询")["agent"] == "progress"


def test_a_private_agent_says_nothing_in_a_group(deployment: Deployment):
    with deployment.chat() as chat:
        chat.say("我投了云帆科技")
        for text in ("查询投递进度", "/progress 查询"):
            lines = chat.tell(text, kind="group", conversation="g")
            [decision], [reply] = decisions(lines), replies(lines)
            assert decision["outcome"] == "refused"
            assert "云帆" not in reply["text"]
            assert "私聊" in reply["text"]
        assert "云帆" in chat.say("查询投递进度")["text"]
