"""Check of the client against a server with a known queue: expected and measured numbers."""

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
"""Lateness of a read above which the host is busy: its own delays exceed the waits at the knee."""
_LEAST_QUEUE = 100
"""Least queue length: below, the operating system's overhead exceeds the tolerance."""


@dataclass(frozen=True, slots=True)
class KnownQueue:
    """A server that takes ``service_ns`` per operation, with a queue of ``operations``."""

    service_ns: int
    operations: int

    @property
    def rate_per_s(self) -> float:
        """Service rate."""
        return 1e9 / self.service_ns

    def plateau_ns(self, connections: int) -> float:
        """Latency of a read with a full queue: (M + K + 1) N."""
        return float((self.operations + connections + 1) * self.service_ns)

    @contextlib.contextmanager
    def server(self, port: int = 0) -> Iterator[_core.NfsServer]:
        """Run the server until the context ends. Raises MeasureError if it cannot listen."""
        try:
            server = _core.NfsServer(self.service_ns, self.operations, port)
        except OSError as error:
            raise MeasureError(
                f"cannot listen on port {port}: {error.strerror}", expected="a free port"
            ) from error
        try:
            yield server
        finally:
            server.close()


class CheckVerdict(StrEnum):
    """Verdict of a comparison with the truth."""

    GOOD = "good"
    BUSY = "busy host"
    """Off, but explained by this host: no conclusion."""
    WRONG = "WRONG"


@dataclass(frozen=True, slots=True)
class NfsCheck:
    """A known number and the measured one."""

    what: str
    true: str
    found: str
    verdict: CheckVerdict


def place_of(server: _core.NfsServer) -> NfsPlace:
    """Location of its export."""
    return NfsPlace("127.0.0.1", "/export", portmap_port=server.port)


def check_connections(
    queue: KnownQueue, connections: int, observer: SweepObserver
) -> list[NfsCheck]:
    """Check latency at twice a fresh server's rate, over so many connections."""
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
    with queue.server() as server:
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
    """Check a sweep across the server's service rate."""
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
    with queue.server() as server:
        sweep = run_sweep(place_of(server), spec, observer, time.monotonic_ns)
    return sweep, [judge_knee(true, sweep)]


def judge_knee(true: float, sweep: Sweep) -> NfsCheck:
    """Compare the knee with the server's service rate, in operations per second.

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
    """True if this host sent a read of a sweep late."""
    return max((point.lag_ns for point in sweep.points), default=0) >= LATE_NS


def _verdict(good: bool, unsure: bool = False) -> CheckVerdict:
    if good:
        return CheckVerdict.GOOD
    return CheckVerdict.BUSY if unsure else CheckVerdict.WRONG
