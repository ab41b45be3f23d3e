"""More visitors than files may be open: they are refused; those who are there are served."""

import contextlib
import resource
import secrets
import socket
from pathlib import Path

import pytest
from driver import Daemon, Deployment

from jobclaw.web.descriptors import BACKLOG_MOST, CONNECTIONS_MOST, OWN_FILES, room_within

STREAMS = 320
SOFT = 256


@pytest.mark.parametrize("files", [0, 64, 256, 1024, 2048, 4096, 1_000_000])
def test_connections_leave_files_to_the_process_itself(files: int):
    room = room_within(files)
    assert 0 < room.backlog <= BACKLOG_MOST
    assert 0 < room.connections <= CONNECTIONS_MOST
    assert room.connections + room.backlog + OWN_FILES <= max(files, OWN_FILES + 32)


def stream(daemon: Daemon) -> socket.socket:
    """Open one page's stream, as a browser of its own; the first byte has come."""
    host, port = daemon.address.removeprefix("http://").split(":")
    opened = socket.create_connection((host, int(port)), timeout=10)
    opened.sendall(
        b"GET /chat/api/stream HTTP/1.1\r\nHost: %s:%s\r\nCookie: jobclaw_chat=%s\r\n\r\n"
        % (host.encode(), port.encode(), secrets.token_urlsafe(32).encode())
    )
    return opened


def test_a_daemon_makes_room_for_many_pages(tmp_path: Path):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    home = Deployment(tmp_path)
    with contextlib.ExitStack() as open_pages:
        resource.setrlimit(resource.RLIMIT_NOFILE, (SOFT, hard))
        try:
            daemon = open_pages.enter_context(home.daemon())
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        pages = [open_pages.enter_context(stream(daemon)) for _ in range(STREAMS)]
        assert {page.recv(15) for page in pages} == {b"HTTP/1.1 200 OK"}
        assert daemon.ask("GET", "/healthz")[0] == 200
        assert daemon.end() == 0
        assert "out of system resource" not in daemon.log.read_text("utf-8")
