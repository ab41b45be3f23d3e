"""Which network addresses are public: only those are asked for somebody else."""

from __future__ import annotations

import ipaddress

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_NAT64 = (ipaddress.ip_network("64:ff9b::/96"), ipaddress.ip_network("64:ff9b:1::/48"))
_V4_BITS = 0xFFFFFFFF


def is_public(text: str) -> bool:
    """Whether an address is one of the public internet, the ones that it wraps included."""
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    return all(_is_public(one) for one in (address, *_wrapped(address)))


def _is_public(address: Address) -> bool:
    return address.is_global and not (
        address.is_multicast or address.is_reserved or address.is_unspecified
    )


def _wrapped(address: Address) -> list[Address]:
    """The IPv4 addresses that an IPv6 one leads to."""
    if isinstance(address, ipaddress.IPv4Address):
        return []
    found: list[Address] = []
    if address.ipv4_mapped is not None:
        found.append(address.ipv4_mapped)
    if address.sixtofour is not None:
        found.append(address.sixtofour)
    if address.teredo is not None:
        found.extend(address.teredo)
    if any(address in network for network in _NAT64):
        found.append(ipaddress.IPv4Address(int(address) & _V4_BITS))
    return found
