"""Any id gives a safe file name, and any two ids give two, on every disk."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobclaw.storage.session_names import encode_name, file_name

SAFE = re.compile(r"[a-z0-9.%A-Fh-]+")
RESERVED = {"con", "prn", "aux", "nul", *(f"com{n}" for n in range(10))}
ids = st.one_of(
    st.text(),
    st.text(alphabet="aA.-%/:~0", max_size=8),
    st.text(alphabet="é\u0301e😀", max_size=400),
    st.sampled_from(["con", "CON", "nul.txt", "..", ".", "", "%2e%2e%2f", "-rf", "a\0b"]),
)


@given(ids)
def test_a_name_is_safe_everywhere(text: str) -> None:
    name = encode_name(text)
    assert SAFE.fullmatch(name)
    assert ".." not in name
    assert name[0] not in ".-"
    assert name[-1] != "."
    assert name.partition(".")[0] not in RESERVED
    assert len(f"{file_name(text)}.broken-20260803T103045123456Z-99") <= 255


@given(st.lists(ids, unique=True, min_size=2, max_size=20))
def test_two_ids_never_share_a_name_whatever_the_case(texts: list[str]) -> None:
    assert len({encode_name(text).casefold() for text in texts}) == len(texts)
    assert len({file_name(text).casefold() for text in texts}) == len(texts)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("telegram x_1", "telegram x/1"),
        ("é", "e\u0301"),
        ("x" * 500, "x" * 501),
        ("😀" * 300, "😀" * 299 + "😁"),
        ("Abc", "abc"),
        ("con", "con."),
        ("a.b", "a%2Eb"),
        ("..", "%2e%2e"),
    ],
)
def test_look_alikes_stay_apart(one: str, other: str) -> None:
    assert encode_name(one).casefold() != encode_name(other).casefold()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("telegram:123:4", "telegram%3A123%3A4"),
        ("..", "%2E%2E"),
        ("../../etc/cron.d/x", "%2E%2E%2F.%2E%2Fetc%2Fcron.d%2Fx"),
        ("-rf", "%2Drf"),
        ("nul", "%6Eul"),
        ("", "%"),
        ("01hx.user-1", "01hx.user-1"),
    ],
)
def test_names_are_readable(text: str, name: str) -> None:
    assert encode_name(text) == name
