"""Every sentence that the code names exists in both languages, fits, and is used.

Reads the sources, so a misspelt id turns red here and not in front of a user.
"""

import ast
import re
import string
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po

ROOT = Path(__file__).resolve().parents[3]
CORE = ROOT / "jobclaw" / "texts" / "locales"
TEXT_ID = re.compile(r"[a-z][a-z0-9-]*(\.[a-z0-9-]+)+")
COMPOSED = re.compile(r"[a-z][a-z0-9-]*\.[a-z0-9.{}-]*")
IN_TEMPLATE = re.compile(r"""say\(["']([a-z0-9.-]+)["'][,)]""")
STARTS_IN_TEMPLATE = re.compile(r"""say\(["']([a-z0-9.-]+\.)["'] ~""")
FILE_NAME = re.compile(r".*\.(yaml|po|mo|py|db|json|log)")
# Values that are added where the error is finished: the place in the configuration.
IMPLIED = {"config.": frozenset({"where", "path"})}
# Functions that are given a text id, errors apart.
NAMING = frozenset({"say", "_say", "refuse", "_refuse", "problem", "_problem"})


class Use(NamedTuple):
    """One place that names a sentence; `values` is None where they are not spelt out."""

    file: Path
    line: int
    text_id: str
    values: frozenset[str] | None


def _sources() -> list[Path]:
    roots = [ROOT / "jobclaw", ROOT / "channels", ROOT / "agents"]
    return sorted(file for root in roots for file in root.rglob("*.py"))


def _templates() -> list[Path]:
    roots = [ROOT / "jobclaw", ROOT / "channels"]
    return sorted(file for root in roots for file in root.rglob("templates/*.html"))


def _folders() -> list[Path]:
    roots = [ROOT / "jobclaw", ROOT / "channels", ROOT / "agents"]
    return sorted({file.parent for root in roots for file in root.rglob("*.po")})


def _name(call: ast.Call) -> str:
    target = call.func
    if isinstance(target, ast.Attribute):
        return target.attr
    return target.id if isinstance(target, ast.Name) else ""


def _is_id(node: ast.expr | None) -> bool:
    return (
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and TEXT_ID.fullmatch(node.value) is not None
    )


def _named_values(call: ast.Call) -> frozenset[str] | None:
    names = [keyword.arg for keyword in call.keywords]
    return None if None in names else frozenset(name for name in names if name)


def _uses_in(file: Path) -> Iterator[Use]:
    for node in ast.walk(ast.parse(file.read_bytes())):
        if not isinstance(node, ast.Call):
            continue
        name = _name(node)
        if name in NAMING or name.endswith("Error"):
            for argument in node.args[:2]:
                if isinstance(argument, ast.Constant) and _is_id(argument):
                    values = None if "refuse" in name else _named_values(node)
                    yield Use(file, node.lineno, str(argument.value), values)
        for keyword in node.keywords:
            if keyword.arg == "text_id" and isinstance(keyword.value, ast.Constant):
                yield Use(file, node.lineno, str(keyword.value.value), None)


def _ids_in(template: str) -> list[str]:
    return [str(text_id) for text_id in IN_TEMPLATE.findall(template)]


def _used() -> re.Pattern[str]:
    """The ids that texts of the sources are, or may be: one word fills a gap of an f-string."""
    found: set[str] = set()
    for file in _sources():
        for node in ast.walk(ast.parse(file.read_bytes())):
            if isinstance(node, ast.JoinedStr):
                parts = [p.value if isinstance(p, ast.Constant) else "{}" for p in node.values]
                text = "".join(str(part) for part in parts)
                if COMPOSED.fullmatch(text):
                    found.add(re.escape(text).replace(r"\{\}", "[a-z0-9-]+"))
            elif isinstance(node, ast.Constant) and _is_id(node):
                found.add(re.escape(str(node.value)))
    for file in _templates():
        text = file.read_text("utf-8")
        found |= {re.escape(text_id) for text_id in _ids_in(text)}
        found |= {f"{re.escape(start)}[a-z0-9-]+" for start in STARTS_IN_TEMPLATE.findall(text)}
    return re.compile("|".join(sorted(found)))


def _read(file: Path) -> Catalog:
    with file.open("rb") as text:
        return read_po(text, abort_invalid=True)


def _sentences(folder: Path, locale: str) -> dict[str, tuple[str, ...]]:
    """Id → its sentence, or its plural forms."""
    found: dict[str, tuple[str, ...]] = {}
    for file in sorted(folder.glob("*.po")):
        if f".{file.stem}".endswith(f".{locale}"):
            for message in _read(file):
                forms = message.string if message.pluralizable else (message.string,)
                key = message.id[0] if isinstance(message.id, tuple | list) else message.id
                if key:
                    found[key] = tuple(str(form) for form in forms or ())
    return found


def _keys(folder: Path, locale: str) -> list[str]:
    files = [file for file in folder.glob("*.po") if f".{file.stem}".endswith(f".{locale}")]
    texts = [file.read_text("utf-8") for file in sorted(files)]
    return [key for text in texts for key in re.findall(r'^msgid "(.+)"$', text, re.MULTILINE)]


def _placeholders(forms: tuple[str, ...]) -> frozenset[str]:
    parsed = [part for form in forms for part in string.Formatter().parse(form)]
    return frozenset(name for _, name, _, _ in parsed if name is not None)


USES = [use for file in _sources() for use in _uses_in(file) if not FILE_NAME.fullmatch(use[2])]


@pytest.mark.parametrize("folder", _folders(), ids=lambda folder: str(folder.relative_to(ROOT)))
def test_both_languages_have_the_same_sentences(folder: Path):
    chinese, english = _sentences(folder, "zh"), _sentences(folder, "en")
    assert sorted(chinese) == sorted(english)
    assert {key: _placeholders(forms) for key, forms in chinese.items()} == {
        key: _placeholders(forms) for key, forms in english.items()
    }


@pytest.mark.parametrize("folder", _folders(), ids=lambda folder: str(folder.relative_to(ROOT)))
def test_no_sentence_stands_twice(folder: Path):
    for locale in ("zh", "en"):
        keys = _keys(folder, locale)
        assert not sorted({key for key in keys if keys.count(key) > 1})


@pytest.mark.parametrize("folder", _folders(), ids=lambda folder: str(folder.relative_to(ROOT)))
def test_every_catalogue_is_valid(folder: Path):
    for file in sorted(folder.glob("*.po")):
        assert re.fullmatch(r"([a-z0-9-]+\.)?(zh|en)\.po", file.name), file
        catalogue = _read(file)
        assert not list(catalogue.check()), file
        for message in catalogue:
            if not message.id:
                continue
            assert all(message.string or ()), f"{file}: {message.id} has no sentence"
            assert not message.fuzzy, f"{file}: {message.id} is fuzzy"
        names = {
            name for forms in _sentences(folder, "zh").values() for name in _placeholders(forms)
        }
        assert all(name.isidentifier() for name in names), file


def _known_for(file: Path) -> dict[str, tuple[str, ...]]:
    """The sentences a source may name: its own package's, then the core's."""
    known = _sentences(CORE, "zh")
    for folder in _folders():
        if folder != CORE and folder.parent in file.parents:
            known |= _sentences(folder, "zh")
    return known


@pytest.mark.parametrize(
    "file", sorted({use.file for use in USES}), ids=lambda file: str(file.relative_to(ROOT))
)
def test_every_named_sentence_exists_and_gets_its_values(file: Path):
    known = _known_for(file)
    for use in USES:
        if use.file != file:
            continue
        place = f"{file.relative_to(ROOT)}:{use.line}"
        assert use.text_id in known, f"{place}: no sentence {use.text_id}"
        if use.values is not None:
            prefix = use.text_id.partition(".")[0] + "."
            given = use.values | IMPLIED.get(prefix, frozenset[str]())
            lacking = _placeholders(known[use.text_id]) - given
            assert not lacking, f"{place}: {use.text_id} needs {sorted(lacking)}"


@pytest.mark.parametrize("file", _templates(), ids=lambda file: str(file.relative_to(ROOT)))
def test_every_sentence_of_a_template_exists(file: Path):
    assert set(_ids_in(file.read_text("utf-8"))) <= _known_for(file).keys()


@pytest.mark.parametrize("folder", _folders(), ids=lambda folder: str(folder.relative_to(ROOT)))
def test_no_sentence_is_left_over(folder: Path):
    used = _used()
    assert not [key for key in _sentences(folder, "zh") if not used.fullmatch(key)]
