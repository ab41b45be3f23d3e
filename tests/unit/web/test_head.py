"""Reading the head of a request."""

import pytest
from starlette.types import Scope

from jobclaw.model import Locale
from jobclaw.web.authentication import check_address
from jobclaw.web.head import RequestHead, head_of, reader_language, wants_page


@pytest.mark.parametrize(
    ("accepted", "expected"),
    [
        ("", "zh"),
        ("en", "en"),
        ("en-GB,en;q=0.9,zh;q=0.8", "en"),
        ("zh-TW, en;q=0.9", "zh"),
        ("fr, en;q=0.5, zh;q=0.6", "zh"),
        ("fr,de", "zh"),
        ("EN-us", "en"),
        ("en;q=0, zh;q=0.1", "zh"),
        ("en;q=0", "zh"),
        ("en;q=much", "zh"),
        ("*", "zh"),
        ("en;level=1", "en"),
        (",;,=", "zh"),
    ],
)
def test_the_language_that_is_liked_best(accepted: str, expected: Locale):
    assert reader_language(accepted, "zh") == expected


def test_the_house_s_language_is_for_everybody_else():
    assert reader_language("fr", "en") == "en"


@pytest.mark.parametrize(
    ("path", "accept", "page"),
    [
        ("/chat", "text/html,application/xhtml+xml,*/*;q=0.8", True),
        ("/chat", "*/*", False),
        ("/chat", "application/json", False),
        ("/api/v1/agents", "text/html", False),
        ("/apiary", "text/html", True),
    ],
)
def test_people_get_pages(path: str, accept: str, page: bool):
    assert wants_page(RequestHead("GET", path, {"accept": accept})) is page


@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_a_head_is_read_as_it_was_sent(kind: str):
    scope: Scope = {
        "type": kind,
        "method": "POST",
        "path": "/你",
        "query_string": b"a=1",
        "headers": [(b"Host", b"x:1"), (b"x-a", b"1"), (b"X-A", b"2")],
        "client": ("203.0.113.5", 4711),
        "server": ("127.0.0.1", 8790),
    }
    head = head_of(scope)
    assert head.headers == {"host": "x:1", "x-a": "1, 2"}
    assert (head.path, head.query, head.peer, head.port) == ("/你", "a=1", "203.0.113.5", 8790)
    assert head.upgrade is (kind == "websocket")
    assert head.changes


@pytest.mark.parametrize(
    ("query", "good"),
    [
        ("", True),
        ("q=token", True),
        ("tokens=1", True),
        ("token=1", False),
        ("a=1&TOKEN=", False),
        ("a=1;b=2&access_token=x", False),
        ("%74oken=x", False),
        ("operator_token=x", False),
    ],
)
def test_no_token_stands_in_an_address(query: str, good: bool):
    assert (check_address(RequestHead("GET", "/", {}, query=query)) is None) is good
