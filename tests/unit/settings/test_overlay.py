"""Setting a section of the user's own file: what they wrote stays."""

from pathlib import Path

import pytest

from jobclaw.errors import ConfigError
from jobclaw.settings.overlay import set_section
from jobclaw.settings.yaml_files import read_yaml

MODEL = {"model": "openai/a", "api_key": "${KEY}"}
BLOCK = "llm:\n  model: openai/a\n  api_key: ${KEY}\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, BLOCK),
        ("", BLOCK),
        ("# mine\n", f"# mine\n{BLOCK}"),
        ("web: {port: 1}", f"web: {{port: 1}}\n{BLOCK}"),
        (
            "# head\nllm:\n  model: old  # why\n\n# about web\nweb: {port: 1}\n",
            f"# head\n{BLOCK}\n# about web\nweb: {{port: 1}}\n",
        ),
        ("llm: {model: old}\nweb: {port: 1}\n", f"{BLOCK}web: {{port: 1}}\n"),
        (
            "llm:\n  model: old\n  fallbacks:\n  - b\n",
            "llm:\n  model: openai/a\n  fallbacks:\n  - b\n  api_key: ${KEY}\n",
        ),
        ("llm: {\n  model: old\n}\nweb: {port: 1}\n", f"{BLOCK}web: {{port: 1}}\n"),
        ("'llm':\n  model: old\n", BLOCK),
        ("llm:\nweb: {port: 1}\n", f"{BLOCK}web: {{port: 1}}\n"),
    ],
)  # fmt: skip
def test_only_the_section_changes(tmp_path: Path, before: str | None, after: str):
    path = tmp_path / "local.yaml"
    if before is not None:
        path.write_text(before, "utf-8")
        path.chmod(0o640)
    set_section(path, "llm", MODEL)
    assert path.read_text("utf-8") == after
    assert before is None or path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_twice_is_as_once(tmp_path: Path):
    path = tmp_path / "local.yaml"
    path.write_text("# 注释\r\nweb:\r\n  port: 1\r\n", "utf-8", newline="")
    set_section(path, "llm", {"model": "openai/b"})
    set_section(path, "llm", MODEL)
    assert path.read_bytes().startswith("# 注释\r\nweb:\r\n  port: 1\r\n".encode())
    assert read_yaml(path) == {"web": {"port": 1}, "llm": MODEL}


@pytest.mark.parametrize(
    "odd",
    [
        "{llm: {model: old}}\n",
        "- a list\n",
        "llm: [\n",
        "? llm\n: {model: old}\n",
        "a: &x 1\nb: *x\n",
    ],
)
def test_a_file_that_cannot_be_edited_stays_as_it_is(tmp_path: Path, odd: str):
    path = tmp_path / "local.yaml"
    path.write_text(odd, "utf-8")
    with pytest.raises(ConfigError):
        set_section(path, "llm", MODEL)
    assert path.read_text("utf-8") == odd
    assert list(tmp_path.iterdir()) == [path]
