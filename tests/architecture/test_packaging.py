"""What is installed is complete, and comes from pinned libraries only."""

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ("run", "llm", "test", "check")
PIN = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)(.*)$", re.MULTILINE)


def _lock(name: str) -> str:
    return (ROOT / "requirements" / f"{name}.lock").read_text("utf-8")


def _pins(name: str) -> dict[str, str]:
    return {canonicalize_name(pin[1]): pin[2] for pin in PIN.finditer(_lock(name))}


def _project() -> dict[str, dict[str, list[str]]]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """A wheel of a copy of the sources, so that the working tree stays as it is."""
    copy = tmp_path_factory.mktemp("sources")
    for name in ("jobclaw", "channels", "agents", "config"):
        ignored = shutil.ignore_patterns("__pycache__", "*.mo")
        shutil.copytree(ROOT / name, copy / name, ignore=ignored)
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy / name)
    built = tmp_path_factory.mktemp("built")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(built)],
        cwd=copy,
        check=True,
        capture_output=True,
    )
    return zipfile.ZipFile(next(built.glob("*.whl")))


def test_the_wheel_holds_every_module_and_table(wheel: zipfile.ZipFile):
    names = set(wheel.namelist())
    for folder in ("jobclaw", "channels", "agents"):
        base = ROOT if folder == "jobclaw" else ROOT / folder
        for path in (ROOT / folder).rglob("*.py"):
            if path.parent != ROOT / "agents":  # drop-ins of whoever works here
                assert str(path.relative_to(base)) in names
    for table in ("jobclaw.yaml", "keywords.yaml", "roles.yaml"):
        assert f"jobclaw/settings/defaults/{table}" in names
    assert {
        f"{name}/py.typed" for name in ("jobclaw", "jobclaw_agents", "jobclaw_jobs")
    } <= names


def test_the_wheel_holds_every_page_script_and_style(wheel: zipfile.ZipFile):
    names = set(wheel.namelist())
    kinds = {".html", ".js", ".css", ".svg"}
    found = 0
    for folder in ("jobclaw", "channels"):
        base = ROOT if folder == "jobclaw" else ROOT / folder
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in kinds:
                found += 1
                assert str(path.relative_to(base)) in names
    assert found


def test_the_wheel_holds_compiled_catalogues_only(wheel: zipfile.ZipFile):
    names = wheel.namelist()
    assert not [name for name in names if name.endswith(".po")]
    compiled = {Path(name).name for name in names if name.endswith(".mo")}
    for folder in ("jobclaw", "channels", "agents"):
        for path in (ROOT / folder).rglob("*.po"):
            assert f"{path.stem}.mo" in compiled


def test_the_wheel_names_its_plugins(wheel: zipfile.ZipFile):
    info = next(name for name in wheel.namelist() if name.endswith("entry_points.txt"))
    text = wheel.read(info).decode()
    assert "[jobclaw]" in text
    assert "agent-chat = jobclaw_agents.chat" in text


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_pins_with_hashes_and_names_no_host(name: str):
    text = _lock(name)
    assert "://" not in text
    for pin in PIN.finditer(text):
        following = text[pin.end() :].split("\n", 2)[1]
        assert following.strip().startswith("--hash=sha256:"), pin[1]


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_meets_the_project(name: str):
    project, pins = _project(), _pins(name)
    wanted = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    groups: dict[str, list[str]] = {
        "run": [],
        "llm": [],
        "test": ["test"],
        "check": ["test", "check"],
    }
    for group in groups[name]:
        wanted += project["dependency-groups"][group]
    if name != "run":
        wanted += tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
            "optional-dependencies"
        ]["llm"]
    for requirement in map(Requirement, wanted):
        pinned = pins.get(canonicalize_name(requirement.name))
        assert pinned is not None, f"run `make lock`: {requirement.name} is not pinned"
        assert requirement.specifier.contains(pinned), f"run `make lock`: {requirement}"


def test_the_longer_locks_hold_the_shorter_ones():
    run, llm, test, check = (_pins(name) for name in LOCKS)
    assert run.items() <= llm.items()
    assert llm.items() <= test.items()
    assert test.items() <= check.items()
