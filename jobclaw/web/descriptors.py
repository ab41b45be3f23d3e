"""Fits connections into the number of files that the process may have open.

A process that has none left can neither accept nor read its own files, and asyncio then writes
a traceback for every connection that waits, each second. So some are always to spare: for the
process's own files, and for connections that are accepted only to be refused.
"""

from __future__ import annotations

import os
from typing import NamedTuple

CONNECTIONS_MOST = 2000
BACKLOG_MOST = 512
OWN_FILES = 200
FEWEST = 16


class Room(NamedTuple):
    """How many connections there may be, and how many more may wait to be accepted."""

    connections: int
    backlog: int


def make_room() -> Room:
    """Raise the soft limit as far as it is needed and allowed; what fits into it then."""
    wanted = Room(CONNECTIONS_MOST, BACKLOG_MOST)
    if os.name != "posix":
        return wanted
    return room_within(_open_files(sum(wanted) + OWN_FILES))


def room_within(files: int) -> Room:
    """What fits into a number of open files."""
    left = max(2 * FEWEST, files - OWN_FILES)
    backlog = min(BACKLOG_MOST, left // 3)
    return Room(min(CONNECTIONS_MOST, left - backlog), backlog)


def _open_files(wanted: int) -> int:
    """Let the process open `wanted` files, or as many as it may; returns how many."""
    import resource  # noqa: PLC0415 - not everywhere

    unlimited = resource.RLIM_INFINITY
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == unlimited or soft >= wanted:
        return wanted
    allowed = wanted if hard == unlimited else min(wanted, hard)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    except (OSError, ValueError):  # some systems allow less than they say
        return soft
    return allowed
