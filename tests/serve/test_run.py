"""Starting and ending: addresses, taken ports, Ctrl-C with open pages."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx2
import pytest

from iosonde.model.errors import IosondeError, UsageError
from iosonde.serve.run import bind, parse_listen, run


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:8765", ("127.0.0.1", 8765)),
        ("[::1]:80", ("::1", 80)),
        (":8080", ("127.0.0.1", 8080)),
        ("localhost:0", ("localhost", 0)),
        ("0.0.0.0:9000", ("0.0.0.0", 9000)),
    ],
)
def test_addresses(text: str, address: tuple[str, int]) -> None:
    assert parse_listen(text) == address


@pytest.mark.parametrize("text", ["8765", "", "host", "::1:8765", "a:b", "a:70000", "a:-1", "a:٣"])
def test_addresses_that_cannot_be_read(text: str) -> None:
    with pytest.raises(UsageError, match=r"expected HOST:PORT"):
        parse_listen(text)


def test_a_taken_port_is_named_and_no_other_is_tried(tmp_path: Path) -> None:
    with bind("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        lines: list[str] = []
        with pytest.raises(IosondeError, match=f"127.0.0.1:{port} is taken by another program"):
            run(tmp_path, f"127.0.0.1:{port}", lines.append)
        assert lines == []


def test_an_address_of_another_machine(tmp_path: Path) -> None:
    with pytest.raises(IosondeError, match="not an address of this machine"):
        run(tmp_path, "192.0.2.1:0", print)
    with pytest.raises(IosondeError, match="there is no address"):
        run(tmp_path, "no.such.host.invalid:0", print)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_at_once_although_a_page_is_open(tmp_path: Path, number: signal.Signals) -> None:
    script = (
        "import sys; from pathlib import Path; from iosonde.serve.run import run; "
        "run(Path(sys.argv[1]), '127.0.0.1:0', lambda line: print(line, flush=True))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert str(tmp_path) in line
        address = line.partition(" at ")[2].partition(" ")[0]
        with httpx2.stream("GET", f"{address}api/feed", timeout=10) as response:
            next(response.iter_lines())
            begun = time.monotonic()
            os.kill(process.pid, number)
            process.wait(10)
            assert time.monotonic() - begun < 4
        assert process.returncode in (0, -signal.SIGTERM)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
