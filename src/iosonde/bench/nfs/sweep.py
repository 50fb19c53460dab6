"""Execution of a sweep: mount, create two files, raise the rate, refine around the knee, and clean up."""

from __future__ import annotations

import errno
import math
import os
import platform
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol

from iosonde import _core
from iosonde.bench.backends.nfs_place import NfsPlace
from iosonde.bench.nfs.knee import Knee, find_knee, is_raised
from iosonde.bench.nfs.points import SweepPoint, point_of
from iosonde.bench.nfs.spec import SECOND, SweepSpec
from iosonde.model.errors import MeasureError

_CALL_LIMIT_MS = 30_000
_DRAIN_NS = SECOND // 2
_SATURATED = 0.7
"""Answered share of writes below which a point exceeded the server's capacity."""
_LOOK_S = 0.1


class SweepObserver(Protocol):
    """Receiver of a sweep's progress, which may end it."""

    def preparing(self, done_bytes: int, all_bytes: int) -> None:
        """Report progress of creating the files."""

    def measuring(self, rate_per_s: float, writes: int, reads: int, longest_ns: int) -> None:
        """Report progress of a point."""

    def measured(self, point: SweepPoint) -> None:
        """Report a finished point."""

    def note(self, text: str) -> None:
        """Show a message."""

    def wanted(self) -> bool:
        """True if the user wants to end."""

    def wait(self, seconds: float) -> None:
        """Wait for so many seconds, or until an end is wanted."""


@dataclass
class Sweep:
    """Result of a sweep. ``points``: in the order measured, the first without load."""

    points: list[SweepPoint] = field(default_factory=list)
    ended: str = ""
    """Reason why no more rates were measured."""
    stopped: bool = False
    left_behind: str = ""
    """Files that could not be removed, and the reason."""

    @property
    def knee(self) -> Knee | None:
        """Write rate at which reads begin to wait."""
        return find_knee(self.points)


def run_sweep(
    place: NfsPlace, spec: SweepSpec, observer: SweepObserver, now_ns: Callable[[], int]
) -> Sweep:
    """Run a sweep. ``now_ns``: clock for the total time limit. Raises MeasureError before the first point."""
    spec.check()
    sweep = Sweep()
    try:
        session = _open(place, spec, now_ns)
    except _core.NfsError as error:
        raise _measure_error(place, error) from error
    try:
        if _prepare(session, spec, observer):
            _points(session, spec, observer, sweep, now_ns)
        else:
            sweep.stopped, sweep.ended = True, "a signal ended it"
    except _core.NfsError as error:
        if not sweep.points:
            raise _measure_error(place, error) from error
        sweep.ended = f"the server failed: {error.args[0]}"
    finally:
        try:
            session.clean()
        except _core.NfsError as error:
            sweep.left_behind = f"{session.directory} is left on the export: {error.args[0]}"
            observer.note(sweep.left_behind)
    return sweep


def _open(place: NfsPlace, spec: SweepSpec, now_ns: Callable[[], int]) -> _core.NfsSession:
    return _core.NfsSession(
        place.host,
        place.path,
        (place.nfs_port, place.mount_port, place.portmap_port),
        (
            os.getuid() if place.uid is None else place.uid,
            os.getgid() if place.gid is None else place.gid,
            True if spec.reserved_port else place.reserved,
        ),
        _CALL_LIMIT_MS,
        (spec.seed, _who(now_ns())),
    )


def _who(now_ns: int) -> str:
    """Owner and start time of a sweep, for the lock on the export."""
    since = datetime.fromtimestamp(now_ns // SECOND, UTC)
    return f"on {platform.node()}, since {since:%Y-%m-%dT%H:%M:%SZ}"


def _measure_error(place: NfsPlace, error: Exception) -> MeasureError:
    message, number, remedy = error.args
    if number == errno.EBUSY:
        return MeasureError(
            f"{place.name}: {message}",
            expected="one sweep at a time: two would measure each other's load",
        )
    return MeasureError(
        f"{place.name}: {message}",
        expected="an NFSv3 export that this host may mount and write",
        hint=remedy or "?uid=N&gid=N, or the server's ports",
    )


def _prepare(session: _core.NfsSession, spec: SweepSpec, observer: SweepObserver) -> bool:
    def filled(done: int) -> bool:
        observer.preparing(done, 2 * spec.file_bytes)
        return not observer.wanted()

    return session.prepare(spec.file_bytes, filled)


def _points(
    session: _core.NfsSession,
    spec: SweepSpec,
    observer: SweepObserver,
    sweep: Sweep,
    now_ns: Callable[[], int],
) -> None:
    end_ns = now_ns() + spec.limit_ns
    rates = spec.rates()
    refined = 0
    base_ns = math.nan
    rate: float | None = 0.0
    while rate is not None:
        point = point_of(_measure(session, spec, observer, rate, spec.duration_ns), rate)
        sweep.points.append(point)
        observer.measured(point)
        for text in dict.fromkeys(point.problems):
            observer.note(f"at {rate:g} writes/s: {text}")
        if rate == 0:
            base_ns = point.quantile_ns(0.5)
        sweep.stopped = point.stopped
        going = _going_on(point, sweep, observer, now_ns() < end_ns)
        drained = point.stopped or _drain(session, spec, observer, base_ns)
        if not drained:
            sweep.ended = sweep.ended or "reads did not become quick again after a point"
        if point.stopped or not drained or now_ns() >= end_ns or math.isnan(base_ns):
            sweep.ended = sweep.ended or "no read was answered"
            return
        upwards = going and not (is_raised(point, base_ns) and _saturated(point)) and refined == 0
        rate = next(rates, None) if upwards else None
        if rate is None and refined < spec.refine:
            sweep.ended = sweep.ended or (
                "the highest rate was measured" if upwards else "the server takes no more"
            )
            refined += 1
            knee = find_knee(sweep.points)
            rate = None if knee is None else math.sqrt(knee.low * knee.high)


def _going_on(point: SweepPoint, sweep: Sweep, observer: SweepObserver, in_time: bool) -> bool:
    """True if a higher rate may be measured; records the reason if not."""
    if point.stopped or observer.wanted():
        sweep.ended, sweep.stopped = "a signal ended it", True
    elif point.ceiling:
        sweep.ended = sweep.ended or "a read took longer than the ceiling"
    elif not in_time:
        sweep.ended = sweep.ended or "the time was over"
    else:
        return True
    return False


def _saturated(point: SweepPoint) -> bool:
    return point.achieved_per_s < _SATURATED * point.rate_per_s


def _drain(
    session: _core.NfsSession, spec: SweepSpec, observer: SweepObserver, base_ns: float
) -> bool:
    """Wait until reads alone are quick again: a server may have queued more than it has answered."""
    left_ns = spec.patience_ns
    while left_ns > 0 and not observer.wanted():
        raw = _measure(session, spec, observer, 0.0, _DRAIN_NS)
        probes = point_of(raw, 0.0)
        if len(probes.read_ns) and not is_raised(probes, base_ns):
            return True
        left_ns -= max(_DRAIN_NS, int(probes.read_ns.max(initial=0)))
    return observer.wanted()


def _measure(
    session: _core.NfsSession,
    spec: SweepSpec,
    observer: SweepObserver,
    rate: float,
    duration_ns: int,
) -> dict[str, Any]:
    """Measure one point in a thread, while this one listens to the user."""
    progress = _core.NfsProgress()
    found: list[Any] = []

    def work() -> None:
        period_ns = (
            min(spec.probe_period_ns, duration_ns // 4) if rate == 0 else spec.probe_period_ns
        )
        times = (duration_ns, period_ns, spec.ceiling_ns, spec.patience_ns)
        load = (spec.connections, rate, spec.window, spec.stability == "stable")
        try:
            found.append(session.point(progress, load, times))
        except BaseException as error:
            found.append(error)

    thread = threading.Thread(target=work, name="nfs-point", daemon=True)
    thread.start()
    while thread.is_alive():
        if observer.wanted():
            progress.stop()
            thread.join(_LOOK_S)
        else:
            observer.wait(_LOOK_S)
        observer.measuring(rate, *progress.so_far())
    thread.join()
    if isinstance(found[0], BaseException):
        raise found[0]
    raw: dict[str, Any] = found[0]
    return raw
