"""Addresses are one name each, so that no limit is passed by writing one differently."""

import pytest

from jobclaw.web.addresses import canonical, is_loopback


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("203.0.113.5", "203.0.113.5", True),
        ("203.0.113.5", "203.0.113.6", False),
        ("203.0.113.5", "::ffff:203.0.113.5", True),
        ("2001:db8::1", "2001:db8:0:0:ffff::2", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("2001:DB8::1", "2001:db8::1", True),
        ("fe80::1%eth0", "fe80::2", True),
        ("127.0.0.1", "::ffff:127.0.0.1", True),
        ("no address", "no address", True),
    ],
)
def test_an_address_has_one_name(one: str, other: str, same: bool):
    assert (canonical(one) == canonical(other)) is same


@pytest.mark.parametrize(
    ("peer", "here"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("[::1]", True),
        ("::ffff:127.0.0.1", True),
        ("localhost", True),
        ("0.0.0.0", False),  # noqa: S104
        ("::", False),
        ("192.168.1.4", False),
        ("localhost.evil.example", False),
        ("", False),
    ],
)
def test_only_this_machine_is_loopback(peer: str, here: bool):
    assert is_loopback(peer) is here
