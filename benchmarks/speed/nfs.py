"""8-byte writes of the NFS client, beside libnfs and a bare socket.

    python -m benchmarks nfs [--seconds 2] [--rounds 5]

Alternately in one run, one connection each, the same number of calls under way. libnfs (C, asynchronous) is the
distribution's (libnfs-dev); without it its rows are left out.
"""

from __future__ import annotations

import multiprocessing
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

from iosonde import _core

BARE = Path(__file__).parent / "bare"
WINDOWS = (1, 16, 128, 1024)
MANY = 1 << 22
FILE = 3
"""Number of the file that a session writes, on a fresh server: 1 is the root, 2 the directory."""

Measured = tuple[float, float]
"""Calls a second, processor microseconds a call."""


def serve(pipe: Connection) -> None:
    server = _core.NfsServer(0, 1)
    pipe.send(server.port)
    pipe.recv()
    server.close()


def ours(session: _core.NfsSession, window: int, seconds: float) -> Measured:
    begin, cpu = time.monotonic(), time.process_time()
    times = (int(seconds * 1e9), 0, MANY * 10**6, 10**10)
    raw = session.point(_core.NfsProgress(), (1, float("inf"), window, False), times)
    took, used = time.monotonic() - begin, time.process_time() - cpu
    return raw["done"] / took, used * 1e6 / raw["done"]


def program(folder: Path, name: str, *libraries: str) -> Path | None:
    built = folder / name
    command = ["cc", "-O2", "-o", built, BARE / f"{name}.c", *libraries]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        return None
    return built


def other(built: Path, *arguments: object) -> Measured:
    words = [str(built), *map(str, arguments)]
    found = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
    done, took, cpu = map(float, found)
    return done / took, cpu * 1e6 / done


def main(seconds: float = 2.0, rounds: int = 5) -> None:
    """Print the table."""
    here, there = multiprocessing.get_context("spawn").Pipe()
    child = multiprocessing.get_context("spawn").Process(target=serve, args=(there,))
    child.start()
    port = here.recv()
    session = _core.NfsSession(
        "127.0.0.1", "/export", (port, port, 111), (0, 0, False), 10_000, (1, "a benchmark")
    )
    session.prepare(4096, lambda _: True)
    try:
        with tempfile.TemporaryDirectory() as name:
            measure(session, port, Path(name), seconds, rounds)
    finally:
        session.clean()
        here.send(None)
        child.join()


def measure(
    session: _core.NfsSession, port: int, folder: Path, seconds: float, rounds: int
) -> None:
    bare, libnfs = program(folder, "bare_writes"), program(folder, "libnfs_writes", "-lnfs")
    print(f"8-byte WRITEs on one connection, {rounds} rounds of {seconds:g} s, medians")
    print("under way  client        calls/s  us of CPU a call  times libnfs")
    for window in WINDOWS:
        clients: dict[str, Callable[[], Measured]] = {
            "iosonde": lambda window=window: ours(session, window, seconds)
        }
        if libnfs is not None:
            clients["libnfs"] = lambda window=window: other(libnfs, port, window, seconds)
        if bare is not None:
            clients["bare socket"] = lambda window=window: other(bare, port, window, seconds, FILE)
        found: dict[str, list[Measured]] = {client: [] for client in clients}
        for _ in range(rounds):
            for client, run in clients.items():
                found[client].append(run())
        middle = {
            client: tuple(statistics.median(column) for column in zip(*each, strict=True))
            for client, each in found.items()
        }
        for client, (rate, cpu) in middle.items():
            ratio = f"{rate / middle['libnfs'][0]:.2f}" if "libnfs" in middle else "n/a"
            print(f"{window:9}  {client:11}  {rate:8,.0f}  {cpu:16.2f}  {ratio:>12}")
