"""Markdown becomes a tree that holds no HTML, no dangerous address, and no surprise in size."""

import json
import time

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobclaw_channels.web.markdown_tree import (
    PARSED_MOST,
    SHOWN_MOST,
    Child,
    MarkdownTree,
    Node,
    safe_link,
)

TREES = MarkdownTree()
KNOWN = frozenset(
    "p h1 h2 h3 h4 h5 h6 ul ol li quote pre hr table thead tbody tr th td b i s a br"
    " code".split()
)


def parsed(text: str) -> object:
    return json.loads(msgspec.json.encode(TREES.parse(text)))


def nodes_of(children: tuple[Child, ...]) -> list[Node]:
    found: list[Node] = []
    waiting = list(children)
    while waiting:
        child = waiting.pop()
        if isinstance(child, Node):
            found.append(child)
            waiting.extend(child.c)
    return found


def text_of(children: tuple[Child, ...]) -> str:
    return "".join(one if isinstance(one, str) else text_of(one.c) for one in children)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("好", [{"t": "p", "c": ["好"]}]),
        ("a **b** *c* ~~d~~ `e`", None),
        ("# 题", [{"t": "h1", "c": ["题"]}]),
        (
            "- 一\n- 二",
            [{"t": "ul", "c": [{"t": "li", "c": ["一"]}, {"t": "li", "c": ["二"]}]}],
        ),
        ("3. 三", [{"t": "ol", "c": [{"t": "li", "c": ["三"]}], "start": 3}]),
        ("> 引", [{"t": "quote", "c": [{"t": "p", "c": ["引"]}]}]),
        ("```py\nx = 1\n```", [{"t": "pre", "c": ["x = 1"], "lang": "py"}]),
        ("---", [{"t": "hr"}]),
        ("一\n二", [{"t": "p", "c": ["一", {"t": "br"}, "二"]}]),
        (
            "[看](https://e.com/a)",
            [{"t": "p", "c": [{"t": "a", "c": ["看"], "href": "https://e.com/a"}]}],
        ),
        (
            "![图](https://e.com/a.png)",
            [{"t": "p", "c": [{"t": "a", "c": ["图"], "href": "https://e.com/a.png"}]}],
        ),
        ("", []),
    ],
)
def test_markdown_becomes_a_tree(text: str, tree: object):
    expected = tree or [
        {
            "t": "p",
            "c": [
                "a ",
                {"t": "b", "c": ["b"]},
                " ",
                {"t": "i", "c": ["c"]},
                " ",
                {"t": "s", "c": ["d"]},
                " ",
                {"t": "code", "c": ["e"]},
            ],
        }
    ]
    assert parsed(text) == (expected if text else [])


def test_a_table_keeps_its_alignment():
    [table] = TREES.parse("| 公司 | 月薪 |\n|:-:|--:|\n| 甲 | 30k |")
    aligned = [(node.t, node.align) for node in nodes_of((table,)) if node.t in ("th", "td")]
    assert sorted(aligned) == [
        ("td", "center"),
        ("td", "right"),
        ("th", "center"),
        ("th", "right"),
    ]
    assert text_of((table,)) == "公司月薪甲30k"


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<svg onload=alert(1)></svg>",
        "a <b>bold</b> word",
        "<!-- hidden -->",
        "<a href='javascript:alert(1)'>x</a>",
    ],
)
def test_html_is_text(text: str):
    children = TREES.parse(text)
    assert text_of(children) == text
    assert {node.t for node in nodes_of(children)} == {"p"}


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "data:text/html,<script>alert(1)</script>",
        "vbscript:x",
        "file:///etc/passwd",
        "//evil.example/x",
        "/chat/api/forget",
        "https:",
        "java\tscript:alert(1)",
        "",
    ],
)
def test_an_address_of_another_scheme_leads_nowhere(url: str):
    assert safe_link(url) == ""
    children = TREES.parse(f"[x](<{url}>)")
    assert not [node for node in nodes_of(children) if node.t == "a"]
    assert "x" in text_of(children)


@pytest.mark.parametrize("url", ["https://e.com", "http://e.com/?a=b", "mailto:hr@e.com"])
def test_an_address_people_may_follow_is_a_link(url: str):
    assert safe_link(url) == url
    assert [node.href for node in nodes_of(TREES.parse(f"[x]({url})")) if node.t == "a"] == [
        url
    ]


def test_a_bare_address_is_text():
    children = TREES.parse("see https://e.com now")
    assert not [node for node in nodes_of(children) if node.t == "a"]


@pytest.mark.parametrize(
    "text",
    [
        ">" * 40_000,
        "[" * 40_000,
        "*" * 40_000 + "a",
        "- " * 20_000,
        "`" * 40_000,
        "|" * 30_000 + "\n" + "|-" * 10_000,
        "![" * 20_000,
        "a" * 1_000_000,
        "**a** " * 200_000,
    ],
    ids=["quotes", "brackets", "stars", "lists", "ticks", "tables", "images", "long", "bold"],
)
def test_deep_or_huge_texts_are_bounded(text: str):
    began = time.monotonic()
    children = TREES.parse(text)
    encoded = msgspec.json.encode(children)
    assert time.monotonic() - began < 5
    assert len(encoded) < 12 * SHOWN_MOST


def test_a_text_too_long_to_parse_is_shown_as_it_is():
    [node] = TREES.parse("**" + "a" * PARSED_MOST)
    assert isinstance(node, Node)
    assert (node.t, node.c[0]) == ("pre", "**" + "a" * PARSED_MOST)


@settings(max_examples=200, deadline=None)
@given(
    st.text(alphabet=st.sampled_from("a好*_`[]()<>!#|-~\n \\&:/.1\"'javscriptl"), max_size=80)
)
def test_no_text_makes_an_unknown_node_or_a_dangerous_link(text: str):
    for node in nodes_of(TREES.parse(text)):
        assert node.t in KNOWN
        assert node.t != "a" or safe_link(node.href)
