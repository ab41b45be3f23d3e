"""What a command loads: nothing that it does not need, and never a platform's SDK."""

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from driver import Deployment

ROOT = Path(__file__).resolve().parents[2]
SDKS = frozenset(
    {
        "aiogram", "slack_bolt", "slack_sdk", "lark_oapi", "dingtalk_stream",
        "litellm", "openai", "boto3", "langgraph", "mcp", "sqlalchemy", "fastapi", "uvicorn",
    }
)  # fmt: skip
WEB = frozenset({"fastapi", "uvicorn"})
# What answering needs and a list of commands does not.
CORE = frozenset(
    {"sqlite3", "ahocorasick_rs", "opencc", "yaml", "watchfiles", "pluggy", "asyncio", "numpy"}
)
PLUGIN_PACKAGES = frozenset({"jobclaw_channels", "jobclaw_agents", "jobclaw_jobs"})


# As `python -m jobclaw`, and then the names of all that is loaded; `-X importtime` would leave
# out what `importlib.import_module` loads, which is how SDKs and plugins are.
PROGRAM = """
import sys
from jobclaw.cli.root import run
code = run(sys.argv[1:])
sys.stderr.write("\\n".join(["LOADED", *sys.modules]))
raise SystemExit(code)
"""


def loaded_by(deployment: Deployment, *arguments: str) -> frozenset[str]:
    """The modules that a command line has loaded when it ends."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        cwd=deployment.folder,
        env=deployment.environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return frozenset(done.stderr.partition("LOADED\n")[2].split())


def packages(modules: frozenset[str]) -> frozenset[str]:
    return frozenset(module.partition(".")[0] for module in modules)


@pytest.mark.parametrize(
    ("arguments", "kept_out"),
    [
        (("--help",), {"pydantic"}),
        (("users", "--help"), set[str]()),  # typer reads the options of commands with pydantic
        (("version",), set[str]()),
    ],
    ids=" ".join,
)
def test_help_and_version_load_nothing_heavy(
    deployment: Deployment, arguments: tuple[str, ...], kept_out: set[str]
):
    modules = loaded_by(deployment, *arguments)
    assert "jobclaw.cli.root" in modules
    assert not packages(modules) & (SDKS | CORE | PLUGIN_PACKAGES | kept_out)
    assert not {module for module in modules if module.startswith("jobclaw.app")}


def test_a_chat_loads_no_sdk(deployment: Deployment):
    modules = loaded_by(deployment, "chat", "--once", "推荐几个 Java 岗位")
    assert {"jobclaw.app", "sqlite3", "jobclaw_agents.recommend"} <= modules
    assert not packages(modules) & SDKS


def imports_of(file: Path) -> frozenset[str]:
    """Every module that a file names in an import, wherever that stands."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return frozenset(found)


def sources(*folders: str) -> list[Path]:
    return sorted(file for folder in folders for file in (ROOT / folder).rglob("*.py"))


def test_the_core_names_no_plugin_and_no_sdk():
    for file in sources("jobclaw"):
        ours = WEB if (ROOT / "jobclaw" / "web") in file.parents else frozenset[str]()
        assert not packages(imports_of(file)) & (PLUGIN_PACKAGES | SDKS - ours), file


def test_plugins_name_the_public_surface_only():
    public = ("jobclaw.spi", "jobclaw.model", "jobclaw.errors")
    for file in sources("channels", "agents"):
        core = {module for module in imports_of(file) if module.split(".")[0] == "jobclaw"}
        assert not {module for module in core if not module.startswith(public)}, file


def test_the_layers_name_every_package_of_the_core():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    [layers] = [one for one in contracts if one["type"] == "layers"]
    named = {name.strip() for layer in layers["layers"] for name in layer.split("|")}
    present = {
        path.stem
        for path in (ROOT / "jobclaw").iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert named == present - {"__init__"}
    assert layers["exhaustive"]
    assert not [one for one in contracts if one.get("ignore_imports") and "name" not in one]
