"""The compared form of a text, and the way back to where each character came from."""

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobclaw.intent.normalise import LIMIT, fold, fold_keywords, normalise


@pytest.mark.parametrize(
    ("text", "normal", "starts"),
    [
        ("Java 岗位", "java 岗位", [0, 1, 2, 3, 4, 5, 6]),
        ("ＪＡＶＡ", "java", [0, 1, 2, 3]),
        ("推薦職位", "推荐职位", [0, 1, 2, 3]),
        ("ﾘﾓｰﾄ", "リモート", [0, 1, 2, 3]),
        ("ｶﾞa", "ガa", [0, 2]),
        ("ﬁa", "fia", [0, 0, 1]),
        ("Straße", "strasse", [0, 1, 2, 3, 4, 4, 5]),
        ("e\u0301a", "éa", [0, 2]),
        ("推\u200b荐", "推荐", [0, 2]),
        ("\ufeff推荐", "推荐", [1, 2]),
        ("a  b", "a b", [0, 1, 3]),
        ("a \u3000b", "a b", [0, 1, 3]),
        ("好…a", "好...a", [0, 1, 1, 1, 2]),
        ("㈱a", "(株)a", [0, 0, 0, 1]),
        ("İx", "i̇x", [0, 0, 1]),
        ("a\ud800b", "a\ufffdb", [0, 1, 2]),
        ("👩\u200d💻荐", "👩💻荐", [0, 2, 3]),
        ("", "", []),
    ],
)
def test_form_and_origin(text: str, normal: str, starts: list[int]):
    result = normalise(text)
    assert result.text == normal
    assert [result.origin(index) for index in range(len(normal))] == starts


def test_a_character_inside_an_expansion_is_known_as_cut():
    result = normalise("ﬁa")
    assert [result.is_cut(index) for index in range(3)] == [False, True, False]


def test_only_the_beginning_of_a_long_text_is_read():
    assert len(normalise("a" * (LIMIT + 5)).text) == LIMIT


@pytest.mark.parametrize(
    ("keywords", "folded"),
    [
        (["Java", "推薦", "Ａ"], ["java", "推荐", "a"]),
        ([" java ", "\u3000go", "x"], ["java", "go", "x"]),
        (["a\nb", "C"], ["a\nb", "c"]),
        (["", "e\u0301"], ["", "é"]),
        (["推\u200b荐", "b"], ["推荐", "b"]),
        ([], []),
    ],
)
def test_keywords_are_folded_in_order(keywords: list[str], folded: list[str]):
    assert fold_keywords(keywords) == folded or not keywords


@given(st.text(max_size=80))
def test_both_ways_to_the_form_agree(text: str):
    assert normalise(text).text == fold(text)


@given(st.text(max_size=80))
def test_origin_never_goes_backwards_and_stays_inside(text: str):
    result = normalise(text)
    starts = [result.origin(index) for index in range(len(result.text))]
    assert starts == sorted(starts)
    assert all(0 <= start < len(text) for start in starts)


def test_every_single_character_has_one_form_alone_and_between_others():
    for point in range(sys.maxunicode + 1):
        char = chr(point)
        if unicodedata.category(char)[0] in "MC" or char.isspace():
            continue
        alone = normalise(char).text
        if not unicodedata.is_normalized("NFKC", f"推{alone}荐"):
            continue
        assert normalise(f"推{char}荐").text.strip("推荐 ") == alone.strip("推荐 "), hex(point)


def test_no_format_character_survives():
    formats = [
        chr(p) for p in range(sys.maxunicode + 1) if unicodedata.category(chr(p)) == "Cf"
    ]
    assert fold("".join(formats)) == ""
    assert normalise("推" + "".join(formats)[:900] + "荐").text == "推荐"
