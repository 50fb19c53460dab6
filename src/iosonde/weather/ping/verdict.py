"""Verdict of a ping: operations compared with the usual latency there, or the typical one of the file system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from iosonde._core import quantile_ranks
from iosonde.model.ops import OPS, SLOW_AT, SLOW_LOWER_AT
from iosonde.weather.ping.child import Away, Ended, FilePlace, Listing
from iosonde.weather.ping.typical import SLOW_AT as TYPICAL_SLOW_AT
from iosonde.weather.ping.typical import typical

LISTING = "md_list"
PING_OPS: tuple[str, ...] = (LISTING, *OPS)
"""Operations in the order of tables: the listing of ``ls`` comes first."""
HUNG_NS = 2_000_000_000
"""Time after which a pending operation counts as hung."""
HOST_SHARE = 0.5
"""Share of time waiting for a CPU above which the host explains slow operations."""
STALL_NS = 100_000_000
STALL_TIMES = 20
"""Least ratio to the median of a stall."""
STALLS = 3
LONG_STALL_NS = 1_000_000_000
"""Least length of a single stall that is reported; shorter ones need more occurrences."""
CRITICAL_AT = 5.0
"""Critical slowdown, as in ``iosonde check``."""


class Timed(NamedTuple):
    """Statistics of one op. Durations in ns; None without successful ones, or with too few for an interval.

    ``usual_ns``: the median that the store expects; ``typical_ns``: low and high of its kind of file system.
    ``waited``: share of its time spent waiting for a CPU; ``stalls``: how many took far longer than the median.
    """

    op: str
    n: int
    failed: int
    latest_ns: int | None
    median_ns: float | None
    lower_ns: int | None
    upper_ns: int | None
    slowest_ns: int | None
    waited: float | None
    stalls: int = 0
    errno: int = 0
    usual_ns: float | None = None
    typical_ns: tuple[int, int] | None = None

    @property
    def factor(self) -> float | None:
        """Median / usual, or / the upper end of the typical range."""
        base = self.usual_ns or (self.typical_ns[1] if self.typical_ns else None)
        return self.median_ns / base if base and self.median_ns is not None else None

    @property
    def slow(self) -> bool:
        """True if significantly slow, by the interval of the median."""
        if self.median_ns is None or self.lower_ns is None:
            return False
        if self.usual_ns:
            lower = self.lower_ns / self.usual_ns
            return self.median_ns / self.usual_ns >= SLOW_AT and lower >= SLOW_LOWER_AT
        return (
            bool(self.typical_ns)
            and self.lower_ns > TYPICAL_SLOW_AT * (self.typical_ns or (0, 0))[1]
        )


class PingVerdict(NamedTuple):
    """``kind``: hung failing host_busy slow stalled usual typical unknown. ``ops``: the ops concerned, worst first."""

    kind: str
    severity: str
    ops: tuple[Timed, ...] = ()
    away: Away | None = None


class PingResult(NamedTuple):
    """Final result. ``place`` is None if the directory did not answer at all."""

    directory: str
    kind: str
    """Kind of file system in the mount table; empty: unknown."""
    place: FilePlace | None
    listing: Listing | None
    ops: tuple[Timed, ...]
    verdict: PingVerdict


def timed(op: str, ended: Sequence[Ended], usual_ns: float | None, kind: str) -> Timed:
    """Statistics of an op. ``ended``: in time order."""
    good = [one for one in ended if not one.errno]
    found = sorted(one.took_ns for one in good)
    ranks = quantile_ranks(len(found), 0.5)
    lower, upper = (found[ranks[0] - 1], found[ranks[2] - 1]) if ranks else (None, None)
    known = [one for one in good if one.waited_ns is not None]
    whole = sum(one.took_ns for one in known)
    waited = sum(one.waited_ns or 0 for one in known) / whole if whole else None
    errno = ended[-1].errno if ended else 0
    range_ns = typical(kind, op)
    return Timed(
        op,
        len(good),
        len(ended) - len(good),
        good[-1].took_ns if good else None,
        _median(found),
        lower,
        upper,
        found[-1] if found else None,
        waited,
        _stalls(found),
        errno,
        usual_ns,
        None if range_ns is None else (range_ns.low_ns, range_ns.high_ns),
    )


def _median(found: Sequence[int]) -> float | None:
    """Nearest-rank median, as everywhere."""
    return float(found[(len(found) - 1) // 2]) if found else None


def _stalls(found: Sequence[int]) -> int:
    least = max(STALL_NS, STALL_TIMES * (_median(found) or 0.0))
    return sum(took >= least for took in found)


def judge(ops: Sequence[Timed], away: Away | None) -> PingVerdict:
    """Worst certain verdict."""
    if away is not None and away.seconds * 1e9 >= HUNG_NS:
        return PingVerdict("hung", "hung", away=away)
    if failing := [op for op in ops if op.failed > op.n]:
        return PingVerdict("failing", "hung", tuple(failing))
    slow = sorted((op for op in ops if op.slow), key=lambda op: -(op.factor or 0.0))
    if slow:
        busy = all((op.waited or 0.0) >= HOST_SHARE for op in slow)
        kind, severity = ("host_busy", "info") if busy else ("slow", "slow")
        return PingVerdict(kind, severity, tuple(slow))
    stalled = sorted((op for op in ops if _stalled(op)), key=lambda op: -(op.slowest_ns or 0))
    return PingVerdict("stalled", "slow", tuple(stalled)) if stalled else _well(ops)


def _well(ops: Sequence[Timed]) -> PingVerdict:
    """Verdict if nothing is slow, as far as references are known."""
    if known := [op for op in ops if op.usual_ns and op.median_ns is not None]:
        return PingVerdict("usual", "ok", tuple(sorted(known, key=lambda op: -(op.factor or 0.0))))
    if known := [op for op in ops if op.typical_ns and op.median_ns is not None]:
        return PingVerdict("typical", "ok", tuple(known))
    return PingVerdict("unknown", "unknown")


def _stalled(op: Timed) -> bool:
    enough = op.stalls >= STALLS or (op.stalls > 0 and (op.slowest_ns or 0) >= LONG_STALL_NS)
    return enough and (op.waited or 0.0) < HOST_SHARE


def exit_code(verdict: PingVerdict) -> int:
    """Exit code, as of ``iosonde check``: 0 well, 1 slow, 2 hanging, failing or very slow, 3 unknown."""
    if verdict.severity == "hung":
        return 2
    if verdict.kind == "slow":
        return 2 if max(op.factor or 0.0 for op in verdict.ops) >= CRITICAL_AT else 1
    return {"stalled": 1, "unknown": 3}.get(verdict.kind, 0)


def result(
    heard: tuple[str, str, FilePlace | None, Listing | None],
    ended: Sequence[Ended],
    usual_ns: Mapping[str, float],
    away: Away | None,
) -> PingResult:
    """Result of a ping. ``heard``: the directory, its kind of file system, its place and its listing."""
    directory, kind, place, listing = heard
    by_op = {op: [one for one in ended if one.op == op] for op in PING_OPS}
    ops = [timed(op, found, usual_ns.get(op), kind) for op, found in by_op.items() if found]
    return PingResult(directory, kind, place, listing, tuple(ops), judge(ops, away))
