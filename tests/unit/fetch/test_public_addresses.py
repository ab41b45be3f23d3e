"""Which addresses are asked for somebody else."""

import pytest

from jobclaw.fetch.addresses import is_public


@pytest.mark.parametrize(
    "address", ["93.184.215.14", "8.8.8.8", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"]
)
def test_public_ones(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "127.8.8.8",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",  # noqa: S104 - refused
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "192.0.2.1",
        "198.18.0.1",
        "::",
        "::1",
        "fe80::1%eth0",
        "fc00::1",
        "ff02::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "2002:7f00:1::",
        "64:ff9b::7f00:1",
        "64:ff9b::a9fe:a9fe",
        "2001:db8::1",
        "localhost",
        "2130706433",
        "0x7f.1",
        "",
    ],
)
def test_all_others(address: str) -> None:
    assert not is_public(address)
