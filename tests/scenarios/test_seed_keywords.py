"""The golden keyword cases, the same in twenty processes that hash differently.

And said to the bot: in a chat of its own, and through a running daemon.
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TypedDict, cast

import pytest
from driver import Deployment, JsonLine
from seed_agents import CONFIG, SOURCE

from jobclaw.settings.yaml_files import read_yaml

PROGRAM = """
import json, sys
from pathlib import Path
from jobclaw.intent.cascade import Cascade
from jobclaw.intent.keyword_table import KeywordTable
from jobclaw.settings.keywords import load_keywords
table = load_keywords(Path(sys.argv[1]))
cascade = Cascade(KeywordTable.build(table.intents, {}))
results = [cascade.classify(text) for text in json.load(sys.stdin)]
print(json.dumps([[one.intent, one.confidence, one.certain] for one in results]))
"""
PROCESSES = 20


class Case(TypedDict):
    text: str
    intent: str
    confidence: float | None


Result = tuple[str, float, bool]


def cases(shared: Path) -> list[Case]:
    groups = cast("dict[str, list[Case]]", read_yaml(shared / "cases" / "seed_keywords.yaml"))
    return [case for group in groups.values() for case in group]


def classify(shared: Path, texts: list[str], seed: int) -> bytes:
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, str(shared / "data" / "seed_keywords.yaml")],
        input=json.dumps(texts).encode(),
        env=os.environ | {"PYTHONHASHSEED": str(seed)},
        capture_output=True,
        check=True,
    ).stdout


@pytest.fixture(scope="module")
def outputs(shared: Path) -> list[bytes]:
    texts = [case["text"] for case in cases(shared)]
    return [classify(shared, texts, seed) for seed in range(PROCESSES)]


def test_every_process_says_the_same(outputs: list[bytes]):
    assert len(outputs) == PROCESSES
    assert len(set(outputs)) == 1


def test_every_case_is_right(shared: Path, outputs: list[bytes]):
    results = cast("list[Result]", json.loads(outputs[0]))
    wrong = [
        (case, result)
        for case, result in zip(cases(shared), results, strict=True)
        if not is_right(case, result)
    ]
    assert not wrong


def is_right(case: Case, result: Result) -> bool:
    """Understand the file's wording: an intent, "not X high", "not X by tier 0", "low 0.6"."""
    intent, confidence, certain = result
    wanted = case["intent"]
    if wanted.startswith("not "):
        return not (intent == wanted.split()[1] and certain)
    if wanted.startswith("low "):
        return not certain and confidence == float(wanted.split()[1])
    return (intent, confidence) == (wanted, case["confidence"])


@pytest.mark.parametrize("place", ["alone", "daemon"])
def test_every_case_is_right_when_it_is_said(place: str, tmp_path: Path, shared: Path):
    deployment = Deployment(tmp_path, CONFIG)
    deployment.drop_in("seed", SOURCE)
    shutil.copy(shared / "data" / "seed_keywords.yaml", tmp_path / "config" / "keywords.yaml")
    wrong: list[tuple[Case, JsonLine]] = []
    with (
        deployment.daemon() if place == "daemon" else contextlib.nullcontext(),
        deployment.chat() as chat,
    ):
        for number, case in enumerate(cases(shared)):
            decision = chat.decide(case["text"], user=f"u{number}", role="admin")
            certain = decision["tier"] == "keyword" and decision["detail"] != "guess"
            result = (decision["intent"], decision["confidence"], certain)
            if not is_right(case, result):
                wrong.append((case, decision))
        chat.end()
    assert not wrong
