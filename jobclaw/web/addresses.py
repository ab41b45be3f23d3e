"""Who a peer is, for limits and for what only this machine may see."""

from __future__ import annotations

import ipaddress

_V6_SITE = 64


def canonical(peer: str) -> str:
    """One name an address: IPv4 also where mapped into IPv6, IPv6 by its network (/64).

    Whoever has one IPv6 address has its whole network, so single addresses mean nothing.
    """
    address = _parsed(peer)
    if address is None:
        return peer
    if isinstance(address, ipaddress.IPv6Address) and not address.is_loopback:
        network = ipaddress.ip_network((address, _V6_SITE), strict=False)
        return str(network)
    return str(address)


def is_loopback(peer: str) -> bool:
    """Whether the peer, or a host to listen on, is this machine."""
    if peer == "localhost":
        return True
    address = _parsed(peer)
    return address is not None and address.is_loopback


def _parsed(peer: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(peer.strip("[]").partition("%")[0])
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return address
