"""Markdown as a small tree, from which the page builds elements without ever parsing HTML.

CommonMark with tables and strikethrough; HTML is text, bare addresses are no links, pictures
are links, and a link leads to http, https or mailto or is only its text. A node is a name and
what is in it; the page knows the names and shows what it does not know as text.
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

import msgspec
from markdown_it import MarkdownIt
from markdown_it.token import Token

PARSED_MOST = 50_000
DEPTH_MOST = 24
SHOWN_MOST = 200_000
SCHEMES = frozenset({"http", "https", "mailto"})
_NAMES = {
    "paragraph_open": "p",
    "bullet_list_open": "ul",
    "ordered_list_open": "ol",
    "list_item_open": "li",
    "blockquote_open": "quote",
    "table_open": "table",
    "thead_open": "thead",
    "tbody_open": "tbody",
    "tr_open": "tr",
    "th_open": "th",
    "td_open": "td",
    "strong_open": "b",
    "em_open": "i",
    "s_open": "s",
}


class Node(msgspec.Struct, frozen=True, omit_defaults=True):
    """One element: `t` its name, `c` its children, the rest where its name needs it."""

    t: str
    c: tuple[Node | str, ...] = ()
    href: str = ""
    lang: str = ""
    start: int = 1
    align: str = ""


Child = Node | str


class MarkdownTree:
    """Parses; one instance serves all messages."""

    def __init__(self) -> None:
        options = {"html": False, "linkify": False, "maxNesting": DEPTH_MOST}
        parser = MarkdownIt("commonmark", options).enable(["table", "strikethrough"])
        parser.validateLink = lambda url: safe_link(url) != ""  # type: ignore[method-assign]
        self._parser = parser

    def parse(self, text: str) -> tuple[Child, ...]:
        """The blocks of a text; one too long to parse is shown as it is, cut if need be."""
        if len(text) > PARSED_MOST:
            return (Node("pre", (text[:SHOWN_MOST],)),)
        return _children(self._parser.parse(text))


def safe_link(url: str) -> str:
    """The address if its scheme is allowed and it names a place, else nothing."""
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return ""
    if parts.scheme.lower() not in SCHEMES:
        return ""
    return url.strip() if parts.scheme.lower() == "mailto" or parts.netloc else ""


def _children(tokens: Sequence[Token]) -> tuple[Child, ...]:
    """Fold the flat list of opening and closing tokens, without recursion."""
    opened: list[tuple[Token, list[Child]]] = []
    here: list[Child] = []
    for token in tokens:
        if token.nesting == 1:
            opened.append((token, here))
            here = []
        elif token.nesting == -1 and opened:
            opening, above = opened.pop()
            above.extend(_closed(opening, tuple(here)))
            here = above
        else:
            here.extend(_leaf(token))
    while opened:
        _, above = opened.pop()
        above.extend(here)
        here = above
    return tuple(here)


def _closed(token: Token, children: tuple[Child, ...]) -> tuple[Child, ...]:
    if token.type == "paragraph_open" and token.hidden:
        return children
    if token.type == "heading_open":
        return (Node(token.tag, children),)
    if token.type == "link_open":
        return _link(str(token.attrGet("href") or ""), children)
    if token.type == "ordered_list_open":
        return (Node("ol", children, start=int(token.attrGet("start") or 1)),)
    if token.type in ("th_open", "td_open"):
        align = str(token.attrGet("style") or "").removeprefix("text-align:")
        return (Node(_NAMES[token.type], children, align=align),)
    name = _NAMES.get(token.type)
    return children if name is None else (Node(name, children),)


def _leaf(token: Token) -> tuple[Child, ...]:
    match token.type:
        case "inline":
            return _children(token.children or ())
        case "softbreak" | "hardbreak":
            return (Node("br"),)
        case "code_inline":
            return (Node("code", (token.content,)),)
        case "fence" | "code_block":
            language = (token.info or "").strip().split(" ")[0][:32]
            return (Node("pre", (token.content.removesuffix("\n"),), lang=language),)
        case "hr":
            return (Node("hr"),)
        case "image":
            return _link(str(token.attrGet("src") or ""), (token.content or "…",))
        case _:
            return (token.content,) if token.content else ()


def _link(url: str, children: tuple[Child, ...]) -> tuple[Child, ...]:
    href = safe_link(url)
    return (Node("a", children, href=href),) if href else children
