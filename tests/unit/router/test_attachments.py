"""An attachment finds the agent that accepts its kind, from any binding; others are told."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from jobclaw.app.core import Core, SystemClock, build_core, load_plugins, load_texts
from jobclaw.model import Attachment
from jobclaw.router.outcomes import Answer, Route
from jobclaw.service.dry_run import anybody, sample_message
from jobclaw.settings import load_settings
from jobclaw.spi import Agent, AgentIntro, AgentRequest, Markdown
from jobclaw.storage import open_store


class Reader(Agent):
    """Takes files."""

    intro = AgentIntro(id="reader", name="Reader", description="reads files")
    accepts = ("file",)

    async def handle(self, request: AgentRequest) -> AsyncIterator[Markdown]:
        yield Markdown(request.message.attachments[0].name)


@pytest.fixture
async def core(tmp_path: Path):
    config = tmp_path / "config" / "jobclaw.yaml"
    config.parent.mkdir()
    config.write_text("{}\n", "utf-8")
    settings = load_settings(config, {})
    texts = load_texts(settings)
    plugins = load_plugins(settings, texts)
    plugins.registry.register("test", [Reader()])
    store = open_store(settings.workspace, SystemClock())
    yield build_core(settings, store, SystemClock(), texts, plugins)
    await store.close()


@pytest.mark.parametrize(
    ("bound", "text"), [("", ""), ("", "我的文件"), ("job-search", ""), ("job-search", "查询")]
)
async def test_a_file_finds_its_agent_and_leaves_the_binding(core: Core, bound: str, text: str):
    verdict = await core.router().decide(turn(core, "file", bound, text))
    assert isinstance(verdict, Route)
    assert verdict.agent == "reader"
    assert verdict.turn.session.bound_agent == bound
    assert not verdict.turn.bind


async def test_what_nobody_accepts_stays_with_the_binding(core: Core):
    verdict = await core.router().decide(turn(core, "audio", "job-search", "听一下"))
    assert isinstance(verdict, Route)
    assert verdict.agent == "job-search"


async def test_nothing_at_all_gets_a_hint(core: Core):
    verdict = await core.router().decide(turn(core, None, "job-search", " "))
    assert isinstance(verdict, Answer)
    assert verdict.outcome == "hint"


def turn(core: Core, kind: str | None, bound: str, text: str):
    at = datetime.now(UTC)
    attachments = (Attachment(kind=kind, ref="r", name="a"),) if kind else ()  # type: ignore[arg-type]
    message = msgspec.structs.replace(
        sample_message(text, "u", None, at), attachments=attachments
    )
    made = core.reader().turn(message, anybody(), at)
    session = msgspec.structs.replace(made.session, bound_agent=bound)
    return msgspec.structs.replace(made, session=session)
