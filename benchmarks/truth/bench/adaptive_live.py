"""The limit that `--adaptive` names on real storage whose limit is known.

    python -m benchmarks adaptive_live DIR [--load 4]

``one server``: a Python store that does one operation at a time, 5 ms each, for all ranks: the servers are the limit.
``delay``: every operation takes 2 ms, however many there are: the clients are. ``DIR``: a memory file system, alone and
beside busy loops: never the servers.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

from iosonde.bench.adaptive.adaptive import adaptive
from iosonde.bench.adaptive.words import verdict_line
from iosonde.bench.backends.null import NothingSet, NothingStore
from iosonde.bench.backends.places import StorageLocation, parse_place
from iosonde.bench.metadata.plan import AdaptivePlan, Plan
from iosonde.bench.metadata.run import run_plan
from iosonde.bench.metadata.spec import Spec
from iosonde.cli.bench.progress import ProgressView
from iosonde.cli.bench.values import fault
from iosonde.cli.shared.interrupt import Interrupt
from iosonde.host.processes import find_processes
from iosonde.model.errors import IosondeError
from iosonde.model.runs import RunRow

_BUSY = "while True: pass"
_SERVER = threading.Lock()


class OneAtATime(NothingSet):
    """Objects of a server with one thread."""

    def stat(self, name: str, /) -> int:
        """Wait for the server, then for its 5 ms."""
        with _SERVER:
            time.sleep(0.005)
        return super().stat(name)


class OneServer(NothingStore):
    """A store whose stats queue for one server."""

    def open_set(self, _rank: int, _number: int, _fsync: bool, /) -> OneAtATime:
        """Objects that queue."""
        return OneAtATime(self._size)


def measured(place: StorageLocation, spec: Spec, ranks: int) -> list[RunRow]:
    """The rows of an adaptive run."""
    plan = Plan(
        (place,),
        (ranks,),
        (spec,),
        ("precreate", "benchmark", "cleanup"),
        adaptive=AdaptivePlan(5, lambda _rows, _n: 0),
    )
    with Interrupt() as interrupt:
        view = ProgressView(interrupt, quiet=True)
        return run_plan(plan, find_processes({}), None, view, time.time_ns).rows


def one_server() -> StorageLocation:
    """Where stats queue for one server."""
    return replace(parse_place("python-null:", {}, None), core=OneServer)


def said(place: StorageLocation, spec: Spec, ranks: int) -> str:
    """The verdict of a run."""
    try:
        return verdict_line(adaptive(measured(place, spec, ranks)))
    except IosondeError as error:
        return str(error)


def main(
    dir: Path,
    load: int = 4,  # busy loops
    times: int = 3,
) -> None:
    """Print a line a place."""
    here = parse_place(str(dir), {}, None)
    served = one_server()
    spec = Spec(data_sets=2, objects=300, iterations=200)
    slow = Spec(data_sets=1, objects=50, iterations=12)
    delayed = replace(slow, faults=(fault("all:+2ms"),))
    null = parse_place("null:", {}, None)
    loops: list[subprocess.Popen[bytes]] = []
    try:
        for busy in (0, load):
            loops += [subprocess.Popen([sys.executable, "-c", _BUSY]) for _ in range(busy)]
            for _ in range(times):
                print(f"one server, {load} busy loops: {said(served, slow, 4)}", flush=True)
                print(f"delay, {load} busy loops: {said(null, delayed, 4)}", flush=True)
                print(f"{dir}, {load} busy loops: {said(here, spec, 2)}", flush=True)
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
