"""What one address may try, ask and send."""

from datetime import timedelta

import pytest
from starlette.types import Message, Receive, Scope, Send
from store_samples import SteppedClock

from jobclaw.texts import Catalogue, core_folder
from jobclaw.web import limiter
from jobclaw.web.bodies import BodyLimit
from jobclaw.web.head import RequestHead
from jobclaw.web.limiter import PEOPLE, PLATFORMS, GuessLimiter, RequestLimit
from jobclaw.web.pages import Pages


def test_the_tenth_wrong_guess_blocks_for_five_minutes():
    clock = SteppedClock()
    guesses = GuessLimiter(clock)
    for _ in range(9):
        guesses.failed("203.0.113.5")
    assert guesses.blocked_s("203.0.113.5") == 0
    guesses.failed("::ffff:203.0.113.5")
    assert guesses.blocked_s("203.0.113.5") == 300
    assert guesses.blocked_s("203.0.113.6") == 0
    clock.move(timedelta(seconds=299))
    assert guesses.blocked_s("203.0.113.5") == 1
    clock.move(timedelta(seconds=1))
    assert guesses.blocked_s("203.0.113.5") == 0


def test_slow_guesses_are_no_attack():
    clock = SteppedClock()
    guesses = GuessLimiter(clock)
    for _ in range(30):
        guesses.failed("127.0.0.1")
        assert guesses.blocked_s("127.0.0.1") == 0
        clock.move(timedelta(seconds=34))


def test_a_jump_of_the_wall_clock_ends_no_block():
    clock = SteppedClock()
    guesses = GuessLimiter(clock)
    for _ in range(10):
        guesses.failed("127.0.0.1")
    clock.jump(timedelta(days=1))
    assert guesses.blocked_s("127.0.0.1") == 300


def test_the_addresses_that_are_kept_are_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(limiter, "ADDRESSES_KEPT", 3)
    guesses = GuessLimiter(SteppedClock())
    for _ in range(10):
        guesses.failed("203.0.113.1")
    for last in (2, 3):
        guesses.failed(f"203.0.113.{last}")
    assert guesses.blocked_s("203.0.113.1")
    for last in (4, 5, 6):
        guesses.failed(f"203.0.113.{last}")
    assert not guesses.blocked_s("203.0.113.1")


def asked(limit: RequestLimit, peer: str, times: int, path: str = "/chat") -> list[bool]:
    """Whether each of some requests may be answered."""
    return [limit(RequestHead("POST", path, {}, peer=peer)) is None for _ in range(times)]


@pytest.mark.parametrize("signed", [False, True])
def test_a_far_address_has_a_rate(signed: bool):
    clock = SteppedClock()
    limit = RequestLimit(clock, lambda _, path: signed and path == "/webhooks/x")
    rate = PLATFORMS if signed else PEOPLE
    burst = int(rate.burst)
    assert all(asked(limit, "203.0.113.5", burst, "/webhooks/x"))
    refusal = limit(RequestHead("POST", "/webhooks/x", {}, peer="203.0.113.5"))
    assert refusal is not None
    assert (refusal.status, refusal.headers) == (429, (("Retry-After", "1"),))
    assert all(asked(limit, "203.0.113.6", 1, "/webhooks/x"))
    clock.move(timedelta(seconds=1))
    again = asked(limit, "203.0.113.5", int(rate.per_s) + 1, "/webhooks/x")
    assert again == [True] * int(rate.per_s) + [False]


def test_loopback_has_no_rate():
    limit = RequestLimit(SteppedClock(), lambda _, __: False)
    assert all(asked(limit, "127.0.0.1", 3 * int(PEOPLE.burst)))


async def told(
    parts: list[bytes], headers: dict[str, str], most: int, method: str = "POST"
) -> tuple[int, bytes]:
    """The status, and the body that the application got, for a body that comes in parts."""
    got = b""
    statuses: list[int] = []
    waiting = iter([*((part, True) for part in parts), (b"", False)])

    async def receive() -> Message:
        body, more = next(waiting)
        return {"type": "http.request", "body": body, "more_body": more}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        nonlocal got
        assert scope["type"] == "http"
        got = (await receive())["body"]
        await send({"type": "http.response.start", "status": 200, "headers": []})

    pages = Pages(Catalogue([core_folder()]), "en")
    limited = BodyLimit(app, lambda _, __: most, pages.refuse)
    scope: Scope = {
        "type": "http",
        "method": method,
        "path": "/x",
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    await limited(scope, receive, send)
    return statuses[0], got


@pytest.mark.parametrize(
    ("parts", "headers", "status"),
    [
        ([], {}, 200),
        ([b"x" * 10], {}, 200),
        ([b"x" * 5, b"y" * 5], {}, 200),
        ([b"x" * 10, b"y"], {}, 413),
        ([b"x" * 11], {}, 413),
        ([], {"content-length": "11"}, 413),
        ([b"x" * 10], {"content-length": "10"}, 200),
        ([b"x" * 11], {"content-length": "-1"}, 413),
    ],
)
async def test_a_body_is_whole_or_refused(
    parts: list[bytes], headers: dict[str, str], status: int
):
    whole = b"".join(parts)
    assert await told(parts, headers, 10) == (status, whole if status == 200 else b"")


@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE"])
@pytest.mark.parametrize(
    "headers", [{"content-length": "11"}, {"transfer-encoding": "chunked"}, {}]
)
async def test_no_method_lets_a_long_body_in(method: str, headers: dict[str, str]):
    announced = method == "DELETE" or bool(headers)
    status, got = await told([b"x" * 6, b"y" * 5], headers, 10, method)
    assert (status, got) == ((413, b"") if announced else (200, b"x" * 6))
