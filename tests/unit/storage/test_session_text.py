"""A session file shows the binding, reads back the same, and is strict about what it takes."""

from datetime import UTC, datetime, timedelta, timezone

import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from store_samples import START, bound, entry

from jobclaw.errors import ConfigError
from jobclaw.model import HistoryEntry, Session
from jobclaw.storage.session_text import merged, parse, render

KEY = "telegram:123456:987654:42"
WHOLE = """\
sessionId: "telegram:123456:987654:42"
boundAgentId: "job-recommend"
boundAt: 2026-08-03T10:30:45Z
expiresAt: 2026-08-03T16:30:45Z
defaultUntil: 2026-08-03T11:00:45Z
intentHistory:
- {at: 2026-08-03T10:30:45Z, intent: "I1", confidence: 0.75, tier: "keyword", agent: "chat"}
"""
texts = st.text(st.characters(exclude_categories=["Cs"]))
times = st.datetimes(datetime(1970, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
entries = st.builds(
    HistoryEntry,
    at=times,
    intent=texts,
    confidence=st.floats(0, 1),
    tier=texts,
    agent=texts,
)
sessions = st.builds(
    Session,
    key=texts,
    user_id=st.just("u1"),
    bound_agent=texts,
    bound_at=st.none() | times,
    expires_at=st.none() | times,
    default_until=st.none() | times,
    history=st.lists(entries, max_size=10).map(tuple),
)


def shown(session: Session) -> Session:
    """What a file keeps of a session: whole seconds, four digits of confidence."""
    history = tuple(
        msgspec.structs.replace(
            one, at=one.at.replace(microsecond=0), confidence=round(one.confidence, 4)
        )
        for one in session.history
    )
    instants = {
        name: at and at.replace(microsecond=0)
        for name in ("bound_at", "expires_at", "default_until")
        if (at := getattr(session, name)) is not None
    }
    return msgspec.structs.replace(session, history=history, **instants)


def test_the_file_looks_as_documented() -> None:
    session = msgspec.structs.replace(
        bound(KEY, agent="job-recommend"),
        default_until=START + timedelta(minutes=30),
        history=(entry(1),),
    )
    assert render(session).decode() == WHOLE


@given(sessions)
def test_what_is_written_reads_back_the_same(session: Session) -> None:
    if not session.bound_agent:
        session = msgspec.structs.replace(session, bound_at=None, expires_at=None)
    read = merged(
        Session(key=session.key, user_id="u1"), parse(render(session), session.key, "f"), ()
    )
    assert read == shown(session)


@pytest.mark.parametrize("id_", ["0061234", "1e5", "no", "~", "1:30", "null", "2026-08-03", ""])
def test_ids_stay_strings(id_: str) -> None:
    session = bound(id_, agent=id_)
    document = yaml.safe_load(render(session))
    assert document["sessionId"] == id_
    assert document["boundAgentId"] == (id_ or None)
    assert parse(render(session), id_, "f").session_id == id_


@pytest.mark.parametrize(
    ("data", "text_id"),
    [
        ("", "storage.session-shape"),
        ("\0" * 40, "yaml.broken"),
        (WHOLE[:60], "yaml.broken"),
        (WHOLE[:126], "storage.session-shape"),
        (WHOLE + WHOLE[200:], "yaml.broken"),
        (WHOLE + "agent: job-search\n", "storage.session-shape"),
        ("- a\n- b\n", "storage.session-shape"),
        ("!!python/object/apply:os.system ['true']", "yaml.broken"),
        (WHOLE.replace("2026-08-03T16:30:45Z", "soon"), "storage.session-shape"),
        (WHOLE.replace("2026-08-03T16:30:45Z", "2026-13-01T00:00:00Z"), "yaml.broken"),
        (WHOLE.replace("2026-08-03T16:30:45Z", "2026-08-03 16:30:45"), "storage.session-shape"),
        (WHOLE.replace("2026-08-03T16:30:45Z", "2026-08-03"), "storage.session-shape"),
        (WHOLE.replace('"job-recommend"', "123"), "storage.session-shape"),
        (WHOLE.replace('"job-recommend"', "no"), "storage.session-shape"),
        (WHOLE.replace("0.75", "1.5"), "storage.session-shape"),
        (WHOLE.replace("0.75", ".nan"), "storage.session-shape"),
        (WHOLE.replace("987654", "1"), "storage.session-other"),
        (WHOLE.replace(f'"{KEY}"', "&a x") + "boundAgent: *a\n", "yaml.broken"),
        (WHOLE + "boundAgentId: chat\n", "yaml.broken"),
        (WHOLE + "#" * 65536, "yaml.too-large"),
        ("boundAgentId: chat\n", "storage.session-shape"),
    ],
)
def test_anything_else_is_refused(data: str, text_id: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse(data.encode(), KEY, "f")
    assert caught.value.text_id == text_id


def test_bytes_that_are_not_utf8_are_refused() -> None:
    with pytest.raises(ConfigError) as caught:
        parse(b"sessionId: \xff\xfe", KEY, "f")
    assert caught.value.text_id == "yaml.not-text"


@pytest.mark.parametrize(
    ("edit", "changes"),
    [
        (("job-recommend", "chat"), {"bound_agent": "chat"}),
        (('"job-recommend"', "chat # mine"), {"bound_agent": "chat"}),
        (('"job-recommend"', "''"), {"bound_agent": "", "bound_at": None, "expires_at": None}),
        (
            ('boundAgentId: "job-recommend"\n', ""),
            {"bound_agent": "", "bound_at": None, "expires_at": None},
        ),
        (
            ("expiresAt: 2026-08-03T16", "expiresAt: 2026-08-03T18"),
            {"expires_at": START.replace(hour=18)},
        ),
        (
            ("expiresAt: 2026-08-03T16:30:45Z", 'expiresAt: "2026-08-03T20:30:45+08:00"'),
            {"expires_at": START.replace(hour=12)},
        ),
        (("expiresAt: 2026-08-03T16:30:45Z\n", ""), {}),
        (("defaultUntil: 2026-08-03T11:00:45Z", "defaultUntil: null"), {"default_until": None}),
        (("intentHistory", "# a remark\nintentHistory"), {}),
        (("I1", "I9"), {"history": (entry(9),)}),
    ],
)
def test_only_what_a_person_changed_is_taken(
    edit: tuple[str, str], changes: dict[str, object]
) -> None:
    written = msgspec.structs.replace(
        bound(KEY, agent="job-recommend"),
        default_until=START + timedelta(minutes=30),
        history=(entry(1),),
    )
    newer = msgspec.structs.replace(
        written,
        expires_at=START.replace(hour=17, microsecond=5),
        default_until=START,
        history=(entry(1), entry(2)),
        greeted=True,
    )
    assert edit[0] in WHOLE
    base = parse(render(written), KEY, "f")
    person = parse(WHOLE.replace(*edit).encode(), KEY, "f")
    assert merged(newer, person, [base]) == msgspec.structs.replace(newer, **changes)


def test_times_of_other_zones_are_written_in_utc() -> None:
    east = timezone(timedelta(hours=8))
    session = msgspec.structs.replace(bound(KEY), bound_at=START.astimezone(east))
    assert b"boundAt: 2026-08-03T10:30:45Z\n" in render(session)
