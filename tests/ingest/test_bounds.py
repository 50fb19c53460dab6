"""What an import takes is bounded, whatever a file, a server or a mapping says."""

from __future__ import annotations

import gzip
import lzma
import resource
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from iosonde.connectors.prometheus import http_api
from iosonde.connectors.prometheus.deadline import SlowServerError
from iosonde.connectors.source import Settings
from iosonde.connectors.tables.replacing import replaced, wrong
from tests.kit.commands import ENVIRON

GIB = 1 << 30
S = 1_000_000_000


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress], ids=["gzip", "xz"])
def test_a_small_file_of_much_nothing_is_refused_in_little_memory(tmp_path: Path, pack) -> None:
    path = tmp_path / "table.csv.packed"
    row = b"1,1790000000,1790000100,5e9,%s\n" % (b"x" * 200)
    rows = b"id,begin,end,rate,more\n" + row * 400_000
    path.write_bytes(pack(rows))
    assert path.stat().st_size * 100 < len(rows)
    mapping = tmp_path / "m.toml"
    mapping.write_text(
        '[table]\nname = "runs"\n[job]\njob_id = "id"\n'
        'begin = { column = "begin", unit = "s" }\nend = { column = "end", unit = "s" }\n'
        '[metrics]\nperformance_bytes_per_s = { column = "rate", unit = "bytes/s" }\n'
    )
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "iosonde.cli.main",
            "import",
            str(path),
            "--mapping",
            str(mapping),
            "--store",
            str(tmp_path / "s"),
        ],
        capture_output=True,
        text=True,
        env=ENVIRON,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (4 * GIB, 4 * GIB)),
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert "unpacks to more than 100 times its size" in done.stderr
    assert "Traceback" not in done.stderr


class Drip(threading.Thread):
    """A server that answers a byte now and then, for ever."""

    def __init__(self, first: bytes) -> None:
        super().__init__(daemon=True)
        self._first = first
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._ended = threading.Event()
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"

    def run(self) -> None:
        with suppress(OSError):
            client, _ = self._listening.accept()
            with client:
                client.recv(65_536)
                client.sendall(self._first)
                while not self._ended.wait(0.05):
                    client.sendall(b"x")

    def stop(self) -> None:
        self._ended.set()
        self._listening.close()
        self.join(10)


@pytest.mark.parametrize(
    "first",
    [b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n", b"HTTP/1.1 200 OK\r\nx-long: "],
    ids=["body", "headers"],
)
def test_a_server_that_drips_ends(first: bytes) -> None:
    drip = Drip(first)
    drip.start()
    begun = time.monotonic()
    try:
        with pytest.raises(SlowServerError, match=r"did not answer whole within 1\.2 s"):
            list(http_api.read_range(drip.url, 0, 10 * S, S, Settings(), print, timeout_s=0.3))
    finally:
        drip.stop()
    assert time.monotonic() - begun < 10


def test_a_pattern_takes_no_longer_than_its_text() -> None:
    begun = time.monotonic()
    assert replaced(["a" * 1000 + "!"], [("(a+)+$", "b")]) == ["a" * 1000 + "!"]
    assert time.monotonic() - begun < 5


def test_patterns_replace_as_they_did() -> None:
    assert replaced(["/lus/h2", "a-1.2"], [("^.*/", ""), ("-[0-9.]+$", "")]) == ["h2", "a"]
    assert replaced(["x7y8"], [(r"([a-z])(\d)", r"\2\1")]) == ["7x8y"]
    assert wrong(("(", ""))
    assert wrong((r"(?=a)", "")), "look-around"
    assert not wrong((r"^a", ""))
