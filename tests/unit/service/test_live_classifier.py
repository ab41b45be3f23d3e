"""A changed keyword table is taken in while the loop goes on, whatever else changes."""

import asyncio
from pathlib import Path

import pytest
from web_host import settings_in

from jobclaw.app.core import load_plugins, load_texts
from jobclaw.service.live_classifier import LiveClassifier

WORDS = 3000


@pytest.fixture
def overlay(tmp_path: Path) -> Path:
    return tmp_path / "config" / "keywords.local.yaml"


@pytest.fixture
def classifier(tmp_path: Path, overlay: Path) -> LiveClassifier:
    settings = settings_in(tmp_path)
    agents = load_plugins(settings, load_texts(settings)).registry
    return LiveClassifier(settings.intent, settings.intent.keywords_file, overlay, agents)


def write(overlay: Path, table: str = "") -> None:
    listed = ", ".join(f"word{number}: 0.95" for number in range(WORDS))
    overlay.write_text(table or f"intents: {{CHAT: {{{listed}}}}}", "utf-8")


def found(classifier: LiveClassifier, text: str) -> str:
    return classifier.classify(text).intent


async def test_the_loop_goes_on_while_a_table_is_read_and_built(
    classifier: LiveClassifier, overlay: Path
):
    write(overlay)
    reloading = asyncio.create_task(classifier.reload())
    turns = 0
    while not reloading.done():
        turns += 1
        assert found(classifier, "word7") != "CHAT"
        await asyncio.sleep(0)
    assert turns > 2
    assert await reloading
    assert found(classifier, "word7") == "CHAT"


async def test_agents_that_change_meanwhile_count_as_well(
    classifier: LiveClassifier, overlay: Path
):
    write(overlay)
    reloading = asyncio.create_task(classifier.reload())
    await asyncio.sleep(0)
    before = classifier.revision
    classifier.refresh()
    assert classifier.revision == before
    assert await reloading
    assert found(classifier, "word7") == "CHAT"


@pytest.mark.parametrize("broken", ["intents: {CHAT: {a", "intents: {CHAT: {a: .nan}}", "- 1"])
async def test_a_broken_table_changes_nothing(
    classifier: LiveClassifier, overlay: Path, broken: str
):
    write(overlay)
    assert await classifier.reload()
    revision = classifier.revision
    write(overlay, broken)
    assert not await classifier.reload()
    assert classifier.problem is not None
    assert classifier.revision == revision
    classifier.refresh()
    assert found(classifier, "word7") == "CHAT"
