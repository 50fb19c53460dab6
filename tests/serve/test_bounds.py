"""What one client can make the server do is bounded: memory, connections, lines of log."""

from __future__ import annotations

import logging
import socket
import time
from contextlib import suppress
from pathlib import Path

import httpx2
import numpy as np
import pytest

from iosonde.serve import history as kept_history
from iosonde.serve.access.connections import BoundedConnection, FewLines
from iosonde.serve.arrivals import Arrivals
from iosonde.serve.history import History, HistoryKey
from iosonde.weather.store import Store
from tests.kit.samples import stores
from tests.kit.samples.makers import SECOND, START, simulated

MS = 1_000_000
KEY = HistoryKey("login2", "/work", MS)


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    root = tmp_path_factory.mktemp("bounded")
    simulated(root, 3600)
    return root


def history(root: Path, now_ns: int) -> History:
    return History(Store(root), Arrivals(root, lambda: now_ns))


def test_short_windows_look_back_no_further_than_so_many(root, monkeypatch):
    monkeypatch.setattr(kept_history, "MOST_HISTORY", 100_000)
    now_ns = START + 3600 * SECOND
    read = spied(monkeypatch)
    found = history(root, now_ns).windows(KEY, now_ns - 2 * SECOND, None, now_ns)
    assert 6 <= len(found) <= 18
    (asked,) = read
    assert asked["since_ns"] >= now_ns - 110 * SECOND


def test_short_windows_long_ago_are_not_read_up_to_now(root, monkeypatch):
    monkeypatch.setattr(kept_history, "MOST_HISTORY", 100_000)
    now_ns, since_ns = START + 3600 * SECOND, START + 600 * SECOND
    read = spied(monkeypatch)
    asked = history(root, now_ns)
    found = asked.windows(KEY, since_ns, since_ns + 5 * SECOND, now_ns)
    assert 6 * 4 <= len(found) <= 6 * 6
    assert read[0]["until_ns"] == since_ns + 5 * SECOND
    assert not asked._kept


def spied(monkeypatch) -> list[dict[str, int]]:
    calls: list[dict[str, int]] = []
    original = Store.windows

    def windows(self, window_ns, **which):
        if "statistics" in which and window_ns == MS:
            calls.append(which)
        return original(self, window_ns, **which)

    monkeypatch.setattr(Store, "windows", windows)
    return calls


def test_what_is_kept_has_a_size(root, monkeypatch):
    now_ns = START + 3600 * SECOND
    asked = history(root, now_ns)
    asked.windows(HistoryKey("login2", "/work", 10 * SECOND), now_ns - 60 * SECOND, None, now_ns)
    one = asked._kept.size
    monkeypatch.setattr(kept_history, "MOST_BYTES", 3 * one)
    asked = history(root, now_ns)
    for seconds in range(5, 10):
        key = HistoryKey("login2", "/work", seconds * SECOND)
        asked.windows(key, now_ns - 60 * SECOND, None, now_ns)
        assert asked._kept.size <= 3 * one
    assert key in asked._kept
    assert 1 <= len(asked._kept) < 5


def half_request(address: str, text: bytes = b"GET /api/about HTTP/1.1\r\nhost: 127.0.0.1\r\n"):
    host, port = address.removeprefix("http://").split(":")
    client = socket.create_connection((host, int(port)), timeout=10)
    client.sendall(text)
    return client


def ended(client: socket.socket) -> bool:
    """Whether the server has ended a connection, within the time of the socket."""
    try:
        while client.recv(65_536):
            pass
    except ConnectionResetError:
        return True
    return True


@pytest.mark.parametrize("text", [b"", b"G", b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n"])
def test_half_a_request_ends(root, monkeypatch, text):
    monkeypatch.setattr(BoundedConnection, "request_s", 0.5)
    with stores.running(root) as (address, _):
        begun = time.monotonic()
        with half_request(address, text) as client:
            assert ended(client)
        assert 0.4 < time.monotonic() - begun < 5


def test_a_request_that_drips_ends(root, monkeypatch):
    monkeypatch.setattr(BoundedConnection, "request_s", 0.5)
    with (
        stores.running(root) as (address, _),
        half_request(address, b"GET / HTTP/1.1\r\n") as client,
    ):
        deadline = time.monotonic() + 5
        with suppress(BrokenPipeError, ConnectionResetError):
            while time.monotonic() < deadline:
                client.sendall(b"x: y\r\n")
                time.sleep(0.02)
            pytest.fail("it goes on")


def test_half_a_request_after_a_whole_one_ends(root, monkeypatch):
    monkeypatch.setattr(BoundedConnection, "request_s", 0.5)
    whole = b"GET /api/about HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"
    with stores.running(root) as (address, _), half_request(address, whole) as client:
        assert b"200 OK" in client.recv(65_536)
        client.sendall(b"GET /api/ab")
        assert ended(client)


def test_the_page_answers_beside_hundreds_of_half_requests(root, monkeypatch):
    monkeypatch.setattr(BoundedConnection, "request_s", 1.0)
    monkeypatch.setattr(BoundedConnection, "most", 50)
    with stores.running(root) as (address, server):
        clients = [half_request(address) for _ in range(300)]
        try:
            deadline = time.monotonic() + 10
            while time.monotonic() < deadline:
                try:
                    if httpx2.get(f"{address}/api/about", timeout=5).status_code == 200:
                        break
                except httpx2.HTTPError:
                    continue
            else:
                pytest.fail("the page did not answer")
            assert len(server.server_state.connections) <= 51
        finally:
            for client in clients:
                client.close()


def test_a_client_that_takes_nothing_is_let_go(root, monkeypatch):
    monkeypatch.setattr(BoundedConnection, "read_s", 0.5)
    ask = (
        f"GET /api/series?host=login2&target=/work&since_ns={START}&until_ns={START + 3600 * SECOND} "
        "HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"
    ).encode()
    with stores.running(root, clock=lambda: START + 3600 * SECOND) as (address, server):
        host, port = address.removeprefix("http://").split(":")
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.settimeout(20)
        client.connect((host, int(port)))
        with client:
            client.sendall(ask * 8)
            deadline = time.monotonic() + 20
            seen = False
            while time.monotonic() < deadline:
                seen = seen or bool(server.server_state.connections)
                if seen and not server.server_state.connections:
                    return
                time.sleep(0.02)
            pytest.fail("it is still served")


def test_a_log_has_few_lines_of_a_kind():
    lines: list[str] = []
    few = FewLines()
    for _ in range(10_000):
        record = logging.LogRecord(
            "uvicorn.error", logging.WARNING, "", 0, "Invalid HTTP request", None, None
        )
        lines += [record.getMessage()] * few.filter(record)
    assert len(lines) == 5


def test_numbers_of_windows_are_as_before(root):
    now_ns = START + 3600 * SECOND
    key = HistoryKey("login2", "/work", 60 * SECOND)
    found = history(root, now_ns).windows(key, START, None, now_ns)
    again = history(root, now_ns).windows(key, START, now_ns, now_ns)
    assert np.array_equal(found["baseline_ns"], again["baseline_ns"], equal_nan=True)
