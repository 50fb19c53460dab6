"""The client against a server whose queue is known: what it must find, and what it finds."""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from iosonde import _core
from iosonde.bench.backends.nfs_place import NfsPlace
from iosonde.bench.nfs.points import SweepPoint
from iosonde.bench.nfs.spec import MS, SECOND, SweepSpec
from iosonde.bench.nfs.sweep import Sweep, SweepObserver, run_sweep
from iosonde.bench.nfs.words import latency_word, rate_word
from iosonde.model.errors import MeasureError
from iosonde.model.units import format_percent

PLATEAU_TOLERANCE = 0.02
KNEE_TOLERANCE = 0.05
LATE_NS = 20 * MS
"""A host that sends a read so much too late is busy: its own delays are longer than the waits at the knee."""
_LEAST_QUEUE = 100
"""With a shorter queue what the operating system adds is more than the tolerance."""


@dataclass(frozen=True, slots=True)
class KnownQueue:
    """One service of ``service_ns`` an operation behind a queue of ``operations``."""

    service_ns: int
    operations: int

    @property
    def rate_per_s(self) -> float:
        """What it serves."""
        return 1e9 / self.service_ns

    def plateau_ns(self, connections: int) -> float:
        """How long a read waits when the queue is full: (M + K + 1) N."""
        return float((self.operations + connections + 1) * self.service_ns)


class CheckVerdict(StrEnum):
    """What a comparison with the truth says."""

    GOOD = "good"
    BUSY = "busy host"
    """Off, and this host explains it: the comparison says nothing."""
    WRONG = "WRONG"


@dataclass(frozen=True, slots=True)
class NfsCheck:
    """A number that is known, and what was found."""

    what: str
    true: str
    found: str
    verdict: CheckVerdict


@contextlib.contextmanager
def known_server(queue: KnownQueue, port: int = 0) -> Iterator[_core.NfsServer]:
    """The server, until the context ends. Raises MeasureError where it cannot listen."""
    try:
        server = _core.NfsServer(queue.service_ns, queue.operations, port)
    except OSError as error:
        raise MeasureError(
            f"cannot listen on port {port}: {error.strerror}", expected="a free port"
        ) from error
    try:
        yield server
    finally:
        server.close()


def place_of(server: _core.NfsServer) -> NfsPlace:
    """Its export."""
    return NfsPlace("127.0.0.1", "/export", portmap_port=server.port)


def check_connections(
    queue: KnownQueue, connections: int, observer: SweepObserver
) -> list[NfsCheck]:
    """Twice what a fresh server serves, over so many connections."""
    full = queue.plateau_ns(connections)
    spec = SweepSpec(
        connections=connections,
        first_per_s=2 * queue.rate_per_s,
        last_per_s=2 * queue.rate_per_s,
        refine=0,
        duration_ns=int(4 * SECOND + 4 * full),
        ceiling_ns=int(60 * SECOND + 4 * full),
        file_bytes=1 << 16,
        seed=secrets.randbits(48),
    )
    with known_server(queue) as server:
        sweep = run_sweep(place_of(server), spec, observer, time.monotonic_ns)
        names = server.executed()[3]
    if not sweep.points or sweep.points[-1].rate_per_s == 0:
        return [NfsCheck(f"K = {connections}", "", sweep.ended, CheckVerdict.WRONG)]
    point = sweep.points[-1]
    return [
        _plateau(queue, connections, point, _is_late(sweep)),
        _counted(connections, point, spec),
        NfsCheck("files left on the server", "0", str(names), _verdict(names == 0)),
    ]


def _plateau(queue: KnownQueue, connections: int, point: SweepPoint, late: bool) -> NfsCheck:
    full = queue.plateau_ns(connections)
    filled = point.due_ns > 2 * full
    found = sorted(point.read_ns[filled].tolist())
    median = float(found[len(found) // 2]) if found else float("nan")
    off = median / full - 1
    short = queue.operations < _LEAST_QUEUE
    return NfsCheck(
        f"median read behind a full queue, K = {connections}",
        latency_word(full),
        f"{latency_word(median)} ({'+' if off >= 0 else '-'}{format_percent(abs(off))})",
        _verdict(abs(off) <= PLATEAU_TOLERANCE or (short and abs(off) < 1), late),
    )


def _counted(connections: int, point: SweepPoint, spec: SweepSpec) -> NfsCheck:
    due = round(point.lasted_ns / spec.probe_period_ns)
    answered = len(point.read_ns)
    return NfsCheck(
        f"reads that were due and answered, K = {connections}",
        str(due),
        str(answered),
        _verdict(abs(point.reads_due - due) <= 1 and answered == point.reads_due),
    )


def check_knee(queue: KnownQueue, observer: SweepObserver) -> tuple[Sweep, list[NfsCheck]]:
    """A sweep through what the server serves."""
    true = queue.rate_per_s
    spec = SweepSpec(
        first_per_s=true / 4,
        last_per_s=true * 2.5,
        factor=1.7,
        duration_ns=3 * SECOND,
        ceiling_ns=60 * SECOND,
        probe_period_ns=50 * MS,
        file_bytes=1 << 16,
        seed=secrets.randbits(48),
    )
    with known_server(queue) as server:
        sweep = run_sweep(place_of(server), spec, observer, time.monotonic_ns)
    return sweep, [judge_knee(true, sweep)]


def judge_knee(true: float, sweep: Sweep) -> NfsCheck:
    """The knee against what the server serves, in operations per second.

    Off by more than the tolerance it is wrong, unless its interval has the truth, or this host sent a read late.
    """
    knee = sweep.knee
    served = f"{rate_word(true)} writes/s"
    late = _is_late(sweep)
    if knee is None:
        return NfsCheck("knee", served, "none", _verdict(False, late))
    found = f"{rate_word(knee.rate)} ({rate_word(knee.lower)}-{rate_word(knee.upper)}) writes/s"
    good = abs(knee.rate / true - 1) <= KNEE_TOLERANCE
    unsure = late or knee.lower <= true <= knee.upper
    return NfsCheck("knee", served, found, _verdict(good, unsure))


def _is_late(sweep: Sweep) -> bool:
    """Whether this host sent a read of a sweep late."""
    return max((point.lag_ns for point in sweep.points), default=0) >= LATE_NS


def _verdict(good: bool, unsure: bool = False) -> CheckVerdict:
    if good:
        return CheckVerdict.GOOD
    return CheckVerdict.BUSY if unsure else CheckVerdict.WRONG
