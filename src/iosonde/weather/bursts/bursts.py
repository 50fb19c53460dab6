"""Bursts of whole runs: seconds in which operations waited, relative to the rest of the same run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.model.errors import NothingMeasuredError
from iosonde.model.ops import op_order
from iosonde.weather.bursts.ranks import (
    BY_RANKS,
    RunOperations,
    WaitingRanks,
    fewest_seen,
    find_stalls,
    waiting_ranks,
)
from iosonde.weather.bursts.search import (
    FACTOR_AT,
    SEEN_BY,
    Burst,
    BurstsFound,
    find_bursts,
    windows_for,
)
from iosonde.weather.samples.periods import Part, RunRef, part_samples, part_series, runs
from iosonde.weather.store import Store

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats, Ints
    from iosonde.model.frames import Frame


ALL = "all"
"""All operations of a run together, each relative to its own usual q95: a stall affects all of them."""


@dataclass(frozen=True)
class OpInBurst:
    """Burst of one op. ``peaks``: the largest factor of a window by statistic (mean q50 q95 q99).

    ``n`` operations began in it; ``n_long`` took more than twice the usual q95. ``lost_ns``: by how much the
    operations that took long and were open in it exceed the usual median, summed.
    """

    op: str
    n: int
    n_long: int
    peaks: dict[str, float]
    median_sees: bool
    lost_ns: float
    found: bool
    """True if this op alone shows the burst."""


@dataclass(frozen=True)
class RunBurst:
    """A burst of a run: all overlapping spans of its ops. ``chance`` is that of its clearest."""

    target: str
    run_id: str
    start_ns: int
    end_ns: int
    window_ns: int
    """Length of the shortest windows, in which the factors were measured."""
    ops: tuple[OpInBurst, ...]
    seen_by: tuple[str, ...]
    chance: float
    ranks: int
    """Largest number of ranks that waited at once: for more than twice the usual q95."""
    of_ranks: int

    @property
    def lost_ns(self) -> float:
        """Size of a burst: time lost by long operations, over all ranks and ops."""
        return sum(op.lost_ns for op in self.ops)

    @property
    def n(self) -> int:
        """Number of operations that started in it."""
        return sum(op.n for op in self.ops)

    @property
    def share(self) -> float:
        """Share of long operations."""
        return sum(op.n_long for op in self.ops) / self.n if self.n else 0.0

    @property
    def median_sees(self) -> bool:
        """True if the median of some op would count as slow in it."""
        return any(op.median_sees for op in self.ops)

    def peak(self, statistic: str) -> float:
        """Largest factor of any op; NaN if none started."""
        return max((op.peaks[statistic] for op in self.ops if op.peaks), default=float("nan"))


@dataclass(frozen=True)
class Searched:
    """Search input of one op of a run: start times (ns), durations (ns), ranks, bursts found.

    ``n_silent`` more are not in it: their end is not known. ``found`` is None for too few operations.
    """

    op: str
    began_ns: Ints
    waited_ns: Floats
    rank: Ints
    n_silent: int
    found: BurstsFound | None


@dataclass(frozen=True)
class RunBursts:
    """Bursts of one run by time. ``too_few``: ops with too few operations for a judgement.

    ``searched`` is empty unless it was asked for.
    """

    target: str
    run_id: str
    first_ns: int
    last_ns: int
    n: int
    ops: tuple[str, ...]
    too_few: tuple[str, ...]
    bursts: list[RunBurst]
    ranks: int
    """Hosts or ranks of the run; stalls of a part of them are searched from ``ranks.FEWEST_RANKS`` on."""
    fewest_ranks: int | None
    """Least number of ranks whose stall for a second is detectable by their number; None: none is."""
    searched: tuple[Searched, ...] = ()


def bursts(
    store: Store, part: Part, window_ns: int | None = None, *, everything: bool = False
) -> list[RunBursts]:
    """Bursts of every run with samples in ``part``, ranks and hosts of a run pooled.

    ``window_ns``: only windows of this length; else the lengths that each op's density allows.
    ``everything``: with the operations themselves and the factors of all windows.
    Raises NothingMeasuredError, StoreError.
    """
    found = runs(store.root, part)
    if not found:
        raise NothingMeasuredError(f"there are no samples for this question in {store.root}")
    groups: dict[tuple[str, str], list[RunRef]] = {}
    for run in found:
        groups.setdefault((run.target, run.run_id), []).append(run)
    return [_run(store, part, refs, window_ns, everything) for refs in groups.values()]


def _run(
    store: Store, part: Part, refs: list[RunRef], window_ns: int | None, everything: bool
) -> RunBursts:
    target, run_id = refs[0].target, refs[0].run_id
    of_run = Part(target, part.host, run_id, part.since_ns, part.until_ns, part.ops)
    series = part_series(store.root, of_run)
    hosts = sorted({key.host for key in series})
    ops = []
    for name in sorted({key.op for key in series}, key=op_order):
        of_op = [key for key in series if key.op == name]
        frame = part_samples(store.root, of_run, of_op)
        known = frame.take(~np.isnan(frame["response_ns"]))
        rank = np.array([hosts.index(key.host) for key in of_op], dtype=np.int64)[known["series"]]
        silent = len(frame) - len(known)
        ops.append(_searched(name, known, rank, silent, window_ns))
    spans = [(burst, op.op) for op in ops if op.found for burst in op.found.bursts]
    spans += [(burst, ALL) for burst in _together(ops, window_ns)]
    of_ranks = _operations(ops)
    spans += [(burst, BY_RANKS) for burst in find_stalls(of_ranks, len(hosts))]
    seen = _Seen(target, run_id, ops, waiting_ranks(of_ranks), len(hosts))
    return RunBursts(
        target,
        run_id,
        min(ref.first_ns for ref in refs),
        max(ref.last_ns for ref in refs),
        sum(len(op.began_ns) for op in ops),
        tuple(op.op for op in ops),
        tuple(op.op for op in ops if op.found is None),
        [_burst(seen, group) for group in _overlapping(spans)],
        len(hosts),
        fewest_seen(of_ranks, len(hosts)),
        tuple(ops) if everything else (),
    )


class _Seen(NamedTuple):
    """Data for the description of a run's bursts."""

    target: str
    run_id: str
    ops: list[Searched]
    waiting: WaitingRanks
    ranks: int


def _searched(name: str, known: Frame, rank: Ints, silent: int, window_ns: int | None) -> Searched:
    began, waited = known["due_ns"], known["response_ns"]
    windows = windows_for(began) if window_ns is None else (window_ns,)
    found = find_bursts(began, waited, windows) if windows else None
    return Searched(name, began, waited, rank, silent, found)


def _operations(ops: list[Searched]) -> RunOperations:
    """All operations with a known usual latency."""
    some = [(op, op.found.usual_ns["q95"]) for op in ops if op.found is not None]
    none = np.array([], dtype=np.int64)
    return RunOperations(
        np.concatenate([none, *(op.rank for op, _ in some)]),
        np.concatenate([none, *(op.began_ns for op, _ in some)]),
        np.concatenate([none, *(op.began_ns + op.waited_ns.astype(np.int64) for op, _ in some)]),
        np.concatenate([none.astype(np.float64), *(op.waited_ns / usual for op, usual in some)]),
    )


def _together(ops: list[Searched], window_ns: int | None) -> list[Burst]:
    """Bursts of all ops of a run as one series, in units of each op's usual q95."""
    some = [op for op in ops if op.found is not None]
    if len(some) < 2:
        return []
    began = np.concatenate([op.began_ns for op in some])
    order = np.argsort(began, kind="stable")
    service = np.concatenate([op.waited_ns for op in some])
    usual = np.concatenate(
        [np.full(len(op.began_ns), op.found.usual_ns["q95"]) for op in some if op.found]
    )
    windows = windows_for(began[order]) if window_ns is None else (window_ns,)
    # A span ends when its last operation does: durations stay ns, only their comparison is relative.
    found = find_bursts(began[order], service[order], windows, unit_ns=usual[order])
    return found.bursts if found else []


def _overlapping(spans: list[tuple[Burst, str]]) -> list[list[tuple[Burst, str]]]:
    groups: list[list[tuple[Burst, str]]] = []
    end = 0
    for span in sorted(spans, key=lambda span: span[0].start_ns):
        if groups and span[0].start_ns < end:
            groups[-1].append(span)
        else:
            groups.append([span])
        end = max(end, span[0].end_ns) if len(groups[-1]) > 1 else span[0].end_ns
    return groups


def _burst(seen: _Seen, group: list[tuple[Burst, str]]) -> RunBurst:
    start = min(burst.start_ns for burst, _ in group)
    end = max(burst.end_ns for burst, _ in group)
    names = {name for _, name in group}
    by = {statistic for burst, _ in group for statistic in burst.seen_by}
    inside = [_in_burst(op, start, end, op.op in names) for op in seen.ops if op.found]
    return RunBurst(
        seen.target,
        seen.run_id,
        start,
        end,
        min(op.found.scales[0].window_ns for op in seen.ops if op.found),
        tuple(op for op in inside if op.n or op.lost_ns),
        tuple(name for name in (*SEEN_BY, BY_RANKS) if name in by),
        min(burst.chance for burst, _ in group),
        seen.waiting.most(start, end),
        seen.ranks,
    )


def _in_burst(op: Searched, start: int, end: int, found: bool) -> OpInBurst:
    assert op.found is not None
    rows = slice(*np.searchsorted(op.began_ns, (start, end)))
    long = op.waited_ns > FACTOR_AT * op.found.usual_ns["q95"]
    touches = (op.began_ns < end) & (op.began_ns + op.waited_ns > start)
    lost = op.waited_ns[long & touches] - op.found.usual_ns["q50"]
    return OpInBurst(
        op.op,
        len(long[rows]),
        int(long[rows].sum()),
        op.found.peaks(start, end),
        op.found.median_sees(start, end),
        float(lost.sum()),
        found,
    )
