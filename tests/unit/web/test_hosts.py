"""Host and Origin are compared with an exact list."""

import pytest

from jobclaw.errors import ConfigError
from jobclaw.settings.services import WebSettings
from jobclaw.web.head import RequestHead
from jobclaw.web.hosts import HostCheck, HostList, OriginCheck, is_local

PORT = 8790
PUBLIC = WebSettings(
    public_url="https://bot.example.com/", allowed_hosts=("lan.example", "nas:90")
)
BOUND = WebSettings(host="192.168.1.4")
OPEN = WebSettings(host="0.0.0.0")  # noqa: S104 - that it names nobody is what is tested


@pytest.mark.parametrize(
    ("settings", "host", "good"),
    [
        (WebSettings(), "127.0.0.1:8790", True),
        (WebSettings(), "localhost:8790", True),
        (WebSettings(), "LOCALHOST:8790", True),
        (WebSettings(), "[::1]:8790", True),
        (WebSettings(), "127.0.0.1", False),
        (WebSettings(), "127.0.0.1:8791", False),
        (WebSettings(), "localhost.:8790", False),
        (WebSettings(), "127.0.0.1.evil.example:8790", False),
        (WebSettings(), "evil.example:8790", False),
        (WebSettings(), "evil.example@127.0.0.1:8790", False),
        (WebSettings(), "127.0.0.1:8790, evil.example", False),
        (WebSettings(), "0.0.0.0:8790", False),
        (WebSettings(), "", False),
        (WebSettings(), "bot.example.com", False),
        (PUBLIC, "bot.example.com", True),
        (PUBLIC, "bot.example.com:443", True),
        (PUBLIC, "bot.example.com:8790", False),
        (PUBLIC, "lan.example", True),
        (PUBLIC, "lan.example:8790", True),
        (PUBLIC, "sub.lan.example", False),
        (PUBLIC, "nas:90", True),
        (PUBLIC, "nas:91", False),
        (PUBLIC, "nas", False),
        (BOUND, "192.168.1.4:8790", True),
        (BOUND, "192.168.1.5:8790", False),
        (OPEN, "0.0.0.0:8790", False),
        (OPEN, "127.0.0.1:8790", True),
    ],
)
def test_only_our_names_are_answered(settings: WebSettings, host: str, good: bool):
    assert HostList(settings).permits(host, PORT) is good
    refusal = HostCheck(HostList(settings))(
        RequestHead("GET", "/chat", {"host": host}, port=PORT)
    )
    assert (refusal is None) is good


def test_port_80_need_not_be_named():
    assert HostList(WebSettings()).permits("localhost", 80)
    assert not HostList(WebSettings()).permits("localhost:8790", 80)


@pytest.mark.parametrize(
    "path", ["/healthz", "/readyz", "/metrics", "/api/v1/agents", "/healthz/"]
)
def test_only_healthz_answers_to_any_name(path: str):
    refusal = HostCheck(HostList(WebSettings()))(RequestHead("GET", path, {"host": "pod-7"}))
    assert (refusal is None) is (path == "/healthz")


def test_the_refusal_has_the_lines_to_add():
    head = RequestHead("GET", "/", {"host": "Nas.Local:9000"}, port=PORT)
    refusal = HostCheck(HostList(WebSettings()))(head)
    assert refusal is not None
    assert refusal.status == 403
    assert refusal.advice == 'web:\n  allowed_hosts: ["nas.local:9000"]'
    allowed = WebSettings(allowed_hosts=("nas.local:9000",))
    assert HostCheck(HostList(allowed))(head) is None


def origin(head: RequestHead, settings: WebSettings, *, signed: bool = False) -> bool:
    """Whether a request may be answered."""
    return OriginCheck(HostList(settings), lambda _, __: signed)(head) is None


@pytest.mark.parametrize(
    ("settings", "host", "said", "good"),
    [
        (WebSettings(), "127.0.0.1:8790", "http://127.0.0.1:8790", True),
        (WebSettings(), "localhost:8790", "http://localhost:8790", True),
        (WebSettings(), "localhost:8790", "http://127.0.0.1:8790", True),
        (WebSettings(), "127.0.0.1:8790", "", True),
        (WebSettings(), "127.0.0.1:8790", "null", False),
        (WebSettings(), "127.0.0.1:8790", "http://evil.example", False),
        (WebSettings(), "127.0.0.1:8790", "http://127.0.0.1:3000", False),
        (WebSettings(), "127.0.0.1:8790", "https://127.0.0.1:8790", False),
        (WebSettings(), "127.0.0.1:8790", "http://127.0.0.1:8790.evil.example", False),
        (WebSettings(), "127.0.0.1:8790", "file://127.0.0.1:8790", False),
        (PUBLIC, "bot.example.com", "https://bot.example.com", True),
        (PUBLIC, "127.0.0.1:8790", "https://bot.example.com", True),
        (PUBLIC, "bot.example.com", "http://bot.example.com", False),
        (PUBLIC, "bot.example.com", "https://lan.example", False),
        (PUBLIC, "lan.example", "https://lan.example", True),
        (PUBLIC, "lan.example:8790", "http://lan.example:8790", True),
        (PUBLIC, "lan.example:8790", "http://lan.example:9999", False),
    ],
)
def test_changes_come_from_our_own_pages(
    settings: WebSettings, host: str, said: str, good: bool
):
    headers = {"host": host} | ({"origin": said} if said else {})
    head = RequestHead("POST", "/chat/api/messages", headers, port=PORT)
    assert origin(head, settings) is good
    assert origin(head, settings, signed=True)


@pytest.mark.parametrize(
    ("method", "upgrade", "good"),
    [("GET", False, True), ("HEAD", False, True), ("GET", True, False)]
    + [(method, False, False) for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS")],
)
def test_only_looking_may_come_from_anywhere(method: str, upgrade: bool, good: bool):
    headers = {"host": f"127.0.0.1:{PORT}", "origin": "http://evil.example"}
    head = RequestHead(method, "/chat", headers, port=PORT, upgrade=upgrade)
    assert origin(head, WebSettings()) is good


@pytest.mark.parametrize(
    ("site", "said", "good"),
    [
        ("same-origin", "", True),
        ("none", "", True),
        ("same-site", "", False),
        ("cross-site", "", False),
        ("cross-site", f"http://127.0.0.1:{PORT}", False),
        ("same-origin", f"http://127.0.0.1:{PORT}", True),
    ],
)
def test_what_the_browser_says_of_the_site_counts(site: str, said: str, good: bool):
    headers = {"host": f"127.0.0.1:{PORT}", "sec-fetch-site": site}
    headers |= {"origin": said} if said else {}
    assert origin(RequestHead("POST", "/chat", headers, port=PORT), WebSettings()) is good


@pytest.mark.parametrize(
    ("peer", "headers", "local"),
    [
        ("127.0.0.1", {"host": "127.0.0.1:8790"}, True),
        ("::1", {"host": "localhost:8790"}, True),
        ("127.0.0.1", {"host": "bot.example.com"}, False),
        ("127.0.0.1", {"host": "127.0.0.1:8790", "x-forwarded-for": "203.0.113.5"}, False),
        ("127.0.0.1", {"host": "127.0.0.1:8790", "forwarded": "for=203.0.113.5"}, False),
        ("203.0.113.5", {"host": "127.0.0.1:8790"}, False),
        ("127.0.0.1", {}, False),
    ],
)
def test_a_proxy_on_this_machine_speaks_for_others(
    peer: str, headers: dict[str, str], local: bool
):
    assert is_local(RequestHead("GET", "/metrics", headers, peer=peer)) is local


@pytest.mark.parametrize("name", ["http://nas.local", "nas.local/chat", "*.example.com", ""])
def test_what_is_no_host_name_is_a_mistake(name: str):
    with pytest.raises(ConfigError) as raised:
        HostList(WebSettings(allowed_hosts=(name,)))
    assert raised.value.text_id == "http.bad-host"
    assert HostList(WebSettings(allowed_hosts=("nas.local",))).permits("nas.local", PORT)
