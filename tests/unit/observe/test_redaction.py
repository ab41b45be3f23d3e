"""No form of a secret survives redaction, and ordinary text does."""

import base64
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobclaw.observe.redaction import MASK, Redactor

SECRET = 'p@ss "wörd"/+=&key'  # noqa: S105 - made up


@pytest.mark.parametrize(
    "shown",
    [
        SECRET,
        quote(SECRET, safe=""),
        json.dumps(SECRET),
        json.dumps({"token": SECRET}, ensure_ascii=False),
        repr(SECRET),
        base64.b64encode(SECRET.encode()).decode(),
        base64.urlsafe_b64encode(f"\xff>?{SECRET}".encode()).decode(),
        base64.b64encode(f"user:{SECRET}".encode()).decode(),
        base64.b64encode(f"me:{SECRET}!".encode()).decode(),
    ],
)
def test_every_form_of_a_known_secret_is_hidden(shown: str) -> None:
    cleaned = Redactor([SECRET]).clean(f"calling with {shown} failed")
    assert MASK in cleaned
    assert SECRET not in cleaned
    assert shown not in cleaned
    assert cleaned.startswith("calling with ")


@pytest.mark.parametrize(
    "shown",
    [
        "xoxb-1234567890-abcdefghij",
        "xapp-1-A012-345-abcdef",
        "bot123456789:AAEhBOweik6ad9r_QXMENQjcrGbqCr4K-bc",
        "sk-proj-abcdefghijklmnop1234",
        "Authorization: Bearer abcdef0123456789",
        "postgresql://admin:hunter22@db/jobs",
    ],
)
def test_what_looks_like_a_secret_is_hidden_although_nobody_named_it(shown: str) -> None:
    assert MASK in Redactor().clean(shown)


@pytest.mark.parametrize(
    "text",
    [
        "message 01JD8Q3V5T7ZK handled in 12:30:45",
        "https://jobs.example/a/b?page=2",
        "推荐几个 Java 岗位",
        "skills: sk-1",
        "bearer of good news",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    assert Redactor([SECRET, "abc"]).clean(text) == text


def test_a_secret_that_becomes_known_later_is_hidden_from_then_on() -> None:
    redactor = Redactor()
    assert redactor.clean("operator-token-1") == "operator-token-1"
    redactor.add("operator-token-1")
    assert redactor.clean("operator-token-1") == MASK


@given(
    secret=st.text(min_size=6, max_size=60),
    before=st.binary(max_size=7),
    after=st.binary(max_size=7),
)
def test_base64_hides_a_secret_at_any_offset(secret: str, before: bytes, after: bytes) -> None:
    encodable = secret.encode("utf-8", "replace")
    secret = encodable.decode()
    shown = base64.b64encode(before + secret.encode() + after).decode()
    assert MASK in Redactor([secret]).clean(shown)
