"""Sentences are found in both languages, overridden, counted, and never raise."""

import logging
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

from jobclaw.texts import Catalogue, core_folder, reader_locale

ZH = """
msgid ""
msgstr "Content-Type: text/plain; charset=UTF-8\\nPlural-Forms: nplurals=1; plural=0;\\n"

msgid "greeting"
msgstr "你好，{name}！"

msgid "tasks"
msgid_plural "tasks"
msgstr[0] "{n} 个任务"

msgid "only-zh"
msgstr "只有中文"

msgid "broken"
msgstr "坏的 {name"
"""
EN = """
msgid ""
msgstr "Content-Type: text/plain; charset=UTF-8\\nPlural-Forms: nplurals=2; plural=(n != 1);\\n"

msgid "greeting"
msgstr "Hello {name}!"

msgid "tasks"
msgid_plural "tasks"
msgstr[0] "{n} task"
msgstr[1] "{n} tasks"

msgid "braces"
msgstr "a {{literal}} brace"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "demo.zh.po").write_text(ZH, "utf-8")
    (tmp_path / "demo.en.po").write_text(EN, "utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("locale", "text_id", "values", "sentence"),
    [
        ("zh", "greeting", {"name": "小王"}, "你好，小王！"),
        ("en", "greeting", {"name": "Ann"}, "Hello Ann!"),
        ("en", "greeting", {"name": "{name} {0} {x.y}"}, "Hello {name} {0} {x.y}!"),
        ("en", "tasks", {"n": 1}, "1 task"),
        ("en", "tasks", {"n": 2}, "2 tasks"),
        ("en", "tasks", {"n": 0}, "0 tasks"),
        ("zh", "tasks", {"n": 1}, "1 个任务"),
        ("en", "greeting", {"name": "Ann", "n": 3}, "Hello Ann!"),
        ("en", "only-zh", {}, "只有中文"),
        ("zh", "braces", {}, "a {literal} brace"),
        ("en", "nobody.knows", {}, "nobody.knows"),
        ("en", "nobody.knows", {"n": 2}, "nobody.knows"),
        ("en", "greeting", {}, "Hello {name}!"),
        ("zh", "broken", {"name": "x"}, "坏的 {name"),
    ],
)
def test_a_sentence_is_filled_or_shown_as_it_is(
    folder: Path, locale: str, text_id: str, values: dict[str, object], sentence: str
):
    catalogue = Catalogue([folder])
    assert catalogue.say(locale, text_id, **values) == sentence  # pyright: ignore[reportArgumentType]
    assert catalogue.say(locale, text_id, **values) == sentence  # pyright: ignore[reportArgumentType]


def test_a_problem_is_logged_once(folder: Path, caplog: pytest.LogCaptureFixture):
    catalogue = Catalogue([folder])
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            catalogue.say("en", "greeting")
            catalogue.say("en", "nobody.knows")
    assert [record.getMessage().split()[1] for record in caplog.records] == [
        "greeting",
        "nobody.knows",
    ]


def test_has_asks_one_language_only(folder: Path):
    catalogue = Catalogue([folder])
    assert catalogue.has("zh", "only-zh")
    assert not catalogue.has("en", "only-zh")
    assert catalogue.has("en", "tasks")
    assert not catalogue.has("en", "nobody.knows")


def test_later_folders_and_then_the_parent(folder: Path, tmp_path: Path):
    operator = tmp_path / "operator"
    operator.mkdir()
    (operator / "zh.po").write_text(
        'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n'
        'msgid "greeting"\nmsgstr "嗨 {name}"\n',
        "utf-8",
    )
    overridden = Catalogue([folder, operator])
    assert overridden.say("zh", "greeting", name="A") == "嗨 A"
    assert overridden.say("en", "greeting", name="A") == "Hello A!"
    child = Catalogue([operator], parent=Catalogue([folder]))
    assert child.say("zh", "greeting", name="A") == "嗨 A"
    assert child.say("zh", "tasks", n=2) == "2 个任务"
    assert child.has("zh", "tasks")


def _compile(source: Path) -> Path:
    compiled = source.with_suffix(".mo")
    with source.open("rb") as text, compiled.open("wb") as binary:
        write_mo(binary, read_po(text))
    return compiled


def test_the_compiled_file_counts_until_the_source_is_newer(folder: Path):
    source = folder / "demo.en.po"
    compiled = _compile(source)
    source.write_text(EN.replace("Hello", "Welcome"), "utf-8")
    stamp = compiled.stat().st_mtime_ns
    os.utime(source, ns=(stamp, stamp))
    assert Catalogue([folder]).say("en", "greeting", name="A") == "Hello A!"
    os.utime(source, ns=(stamp + 1, stamp + 1))
    assert Catalogue([folder]).say("en", "greeting", name="A") == "Welcome A!"


def test_a_compiled_file_alone_is_enough_and_needs_no_babel(folder: Path):
    for source in (folder / "demo.zh.po", folder / "demo.en.po"):
        _compile(source)
        source.unlink()
    program = (
        "import sys; from pathlib import Path; from jobclaw.texts import Catalogue\n"
        "print(Catalogue([Path(sys.argv[1])]).say('en', 'tasks', n=5), 'babel' in sys.modules)"
    )
    run = subprocess.run(
        [sys.executable, "-c", program, str(folder)],
        capture_output=True,
        text=True,
        check=True,
        cwd=core_folder().parents[2],
    )
    assert run.stdout.strip() == "5 tasks False"


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("bad.en.po", b"garbage here\n"),
        ("bad.en.po", b"\xff\xfe\x00"),
        ("bad.en.mo", b"no catalogue"),
        ("bad.en.mo", b"\xde\x12\x04\x95"),
        ("bad.en.mo", b""),
    ],
)
def test_a_broken_file_is_left_out(
    folder: Path, caplog: pytest.LogCaptureFixture, name: str, data: bytes
):
    (folder / name).write_bytes(data)
    with caplog.at_level(logging.WARNING):
        assert Catalogue([folder]).say("en", "tasks", n=2) == "2 tasks"
    assert "bad.en.po" in caplog.text


def test_no_folder_is_no_problem(tmp_path: Path):
    assert Catalogue([tmp_path / "absent"]).say("zh", "some.id") == "some.id"


def test_a_lookup_is_cheap(folder: Path):
    catalogue = Catalogue([folder])
    catalogue.say("zh", "greeting", name="x")
    best = min(_time_calls(catalogue) for _ in range(7))
    assert best < 10e-6  # measured 0.5 us; the margin is for a busy machine


def _time_calls(catalogue: Catalogue) -> float:
    began = time.process_time()
    for _ in range(2000):
        catalogue.say("zh", "greeting", name="x")
    return (time.process_time() - began) / 2000


@pytest.mark.parametrize(
    ("env", "locale"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "ZH"}, "zh"),
        ({"LANG": "C.UTF-8"}, "en"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "en_US.UTF-8"}, "en"),
        ({"LANG": "en_US", "LC_MESSAGES": "zh_TW"}, "zh"),
        ({"LC_ALL": "C", "JOBCLAW_LANG": "zh"}, "zh"),
        ({"LC_ALL": " ", "LANG": "zh_CN"}, "zh"),
    ],
)
def test_the_reader_of_the_command_line(env: dict[str, str], locale: str):
    assert reader_locale(env) == locale
