"""The shipped configuration, the schema and what is written about them say the same."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast, get_origin

import pytest
from pydantic import BaseModel

from jobclaw.settings import channels, operation, platforms, routing, schema, services
from jobclaw.settings.load import load_settings
from jobclaw.settings.roles import load_roles
from jobclaw.settings.schema import Settings
from jobclaw.settings.sources import defaults_folder
from jobclaw.settings.yaml_files import read_yaml

ROOT = Path(__file__).resolve().parents[3]
MODULES = (channels, operation, platforms, routing, schema, services)


def _keys(model: type[BaseModel], above: str = "") -> Iterator[str]:
    for name, field in model.model_fields.items():
        node = field.annotation
        if isinstance(node, type) and issubclass(node, BaseModel):
            yield from _keys(node, f"{above}{name}.")
        elif name != "accounts":
            yield above + name


def _written(tree: object, above: str = "") -> Iterator[str]:
    for name, value in cast("dict[str, object]", tree).items():
        if isinstance(value, dict) and value:
            yield from _written(cast("object", value), f"{above}{name}.")
        else:
            yield above + name


def test_the_shipped_file_shows_every_setting_at_its_default(tmp_path: Path):
    written = load_settings(defaults_folder() / "jobclaw.yaml", {})
    empty = tmp_path / "config" / "jobclaw.yaml"
    empty.parent.mkdir()
    empty.touch()
    default = load_settings(empty, {})
    root, elsewhere = str(written.root), str(tmp_path)
    assert str(written.show()).replace(root, elsewhere) == str(default.show()).replace(
        root, elsewhere
    )


def test_the_shipped_file_names_every_setting():
    tree = read_yaml(defaults_folder() / "jobclaw.yaml")
    written = set(_written(tree))
    known = set(_keys(Settings))
    assert sorted(written - known) == ["mcp.servers"] or not written - known
    shared = {"access", "allow", "default_agent", "agents"}  # in the comment above the channels
    unnamed = {key for key in known - written if key.rpartition(".")[2] not in shared}
    assert not unnamed


def test_the_shipped_roles_list_nobody():
    assert not load_roles(defaults_folder() / "roles.yaml").roles


@pytest.mark.parametrize("module", MODULES, ids=lambda module: str(module.__name__))
def test_every_setting_says_what_it_does(module: Any):
    tree = ast.parse(Path(module.__file__).read_bytes())
    for node in tree.body:
        if not isinstance(node, ast.ClassDef):
            continue
        for field, after in zip(node.body, [*node.body[1:], None], strict=True):
            if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
                continue
            name = field.target.id
            sections = node.name == "Settings" and name != "workspace"
            if name.startswith("_") or name == "credentials" or sections:
                continue
            is_text = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            assert is_text, f"{node.name}.{name} says nothing"


def test_every_section_says_what_it_is():
    for field in Settings.model_fields.values():
        node = field.annotation
        if isinstance(node, type) and get_origin(node) is None and issubclass(node, BaseModel):
            assert node.__doc__
