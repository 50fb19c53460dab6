"""Clients that begin TLS and do not go on take nothing from others; open requests end quietly with the server."""

import resource
import signal
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx2
import pytest

from tests.kit.certificates import made_pair
from tests.kit.samples.makers import SECOND, START, simulated
from tests.kit.served import Served, served

HALF = 1100
PATIENCE_S = 5.0
"""On a shared machine; alone an answer takes some milliseconds."""
BEGIN = b"\x16\x03\x01\x02\x00" + bytes(40)
"""A record of 512 bytes that never comes whole."""


@contextmanager
def many_files(count: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < count:
        pytest.skip(f"this process may open {hard} files, and needs {count}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, count), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def half_handshakes(port: int, count: int, held: ExitStack) -> list[socket.socket]:
    """So many, half of which have sent something."""
    found = []
    for number in range(count):
        client = held.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20))
        if number % 2:
            client.sendall(BEGIN)
        found.append(client)
    return found


def ended(client: socket.socket) -> bool:
    """Whether the server has ended it; does not wait."""
    try:
        return client.recv(1, socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def asked(port: int, cert: Path) -> float:
    """How long a new client waits for an answer, in seconds. Raises: none within ``PATIENCE_S``."""
    trusted = ssl.create_default_context(cafile=str(cert))
    begun = time.monotonic()
    with httpx2.Client(verify=trusted, timeout=PATIENCE_S) as client:
        assert client.get(f"https://127.0.0.1:{port}/api/targets").status_code == 200
    return time.monotonic() - begun


@pytest.mark.service
@pytest.mark.measures
def test_the_page_answers_beside_half_tls_handshakes(tmp_path: Path) -> None:
    cert, key = made_pair(tmp_path)
    options = ("--tls-cert", cert, "--tls-key", key)
    with (
        many_files(HALF + 200),
        served(tmp_path / "store", tmp_path / "log", *options, files=1024) as server,
        ExitStack() as held,
    ):
        before = [asked(server.port, cert) for _ in range(10)]
        clients: list[socket.socket] = []
        wave = threading.Thread(
            target=lambda: clients.extend(half_handshakes(server.port, HALF, held))
        )
        wave.start()
        took = []
        while wave.is_alive() or len(took) < 10:
            took.append(asked(server.port, cert))
        wave.join()
        assert len(clients) == HALF
        deadline = time.monotonic() + 60
        while not all(map(ended, clients)):
            assert time.monotonic() < deadline, "half a handshake stays"
            took.append(asked(server.port, cert))
        print(
            f"{len(took)} answers, the slowest after {max(took):.2f} s; before {max(before):.2f} s"
        )
        log = server.said_until_its_end()
    assert "Traceback" not in log
    assert "Too many open files" not in log


def begun(server: Served, path: str, times: int = 1) -> socket.socket:
    """A client that asks, and takes nothing of the answer but its begin."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.settimeout(PATIENCE_S * 4)
    client.connect(("127.0.0.1", server.port))
    client.sendall(f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n".encode() * times)
    return client


@pytest.mark.service
def test_a_server_with_open_requests_ends_without_tracebacks(tmp_path: Path) -> None:
    root = tmp_path / "store"
    simulated(root, 3600)
    series = f"/api/series?host=login2&target=/work&since_ns={START}&window_ns="
    with served(root, tmp_path / "log") as server, ExitStack() as held:
        for number in range(3):
            whole = f"{series}6{number}000000000&until_ns={START + 3600 * SECOND}"
            unread = held.enter_context(begun(server, whole, times=8))
            assert unread.recv(15) == b"HTTP/1.1 200 OK", "its answer goes on"
            feed = held.enter_context(begun(server, "/api/feed"))
            assert feed.recv(8) == b"HTTP/1.1"
        for number in range(8):
            short = f"{series}1000000&until_ns={START + 4 * SECOND + number}"
            held.enter_context(begun(server, short))
        begun(server, f"{series}1000000&until_ns={START + 3 * SECOND}").close()
        log = server.said_until_its_end()
    assert server.process.returncode in (0, -signal.SIGTERM)
    assert "Traceback" not in log
    assert "CancelledError" not in log
