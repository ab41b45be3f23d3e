"""How litellm is imported: late, once, silenced, or not at all."""

import subprocess
import sys
from pathlib import Path

import pytest

from jobclaw.errors import ConfigError
from jobclaw.llm.library import Library, check_installed
from jobclaw.spi.llm import LlmError

QUIET = """
import asyncio, os, sys
from jobclaw.llm.library import Library
async def main():
    assert "litellm" not in sys.modules
    one = Library()
    first, second = await asyncio.gather(one.load(), one.load())
    assert first is second
    assert not first.telemetry and first.num_retries == 0 and not first.success_callback
    assert "FROM_DOT_ENV" not in os.environ
asyncio.run(main())
"""
ENDS_MEANWHILE = """
import asyncio
from jobclaw.llm.library import Library
async def main():
    try:
        await asyncio.wait_for(Library().load(), 0.05)
    except TimeoutError:
        print("went on")
asyncio.run(main())
"""


def run(program: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_it_is_imported_once_says_nothing_and_reads_nothing(tmp_path: Path):
    (tmp_path / ".env").write_text("FROM_DOT_ENV=1\n", "utf-8")
    done = run(QUIET, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_program_that_ends_meanwhile_does_not_wait_for_it(tmp_path: Path):
    done = run(ENDS_MEANWHILE, tmp_path)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "went on", "")


MISSING = "litellm_that_is_not_there"


BROKEN = "litellm_that_is_broken"


@pytest.mark.parametrize("name", [MISSING, BROKEN])
async def test_where_it_is_missing_or_broken_everybody_is_told_how_to_get_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / f"{BROKEN}.py").write_text("raise RuntimeError('half installed')\n", "utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    nobody = Library(name)
    for _ in range(2):
        with pytest.raises(LlmError) as caught:
            await nobody.load()
        assert caught.value.why == "missing"
    assert nobody.is_missing


def test_a_model_without_the_library_is_refused():
    check_installed("", MISSING)
    with pytest.raises(ConfigError) as refused:
        check_installed("openai/test", MISSING)
    assert refused.value.text_id == "llm.not-installed"
    assert refused.value.values["command"] == "make llm"


def test_where_it_is_there_nothing_is_refused():
    check_installed("openai/test")
