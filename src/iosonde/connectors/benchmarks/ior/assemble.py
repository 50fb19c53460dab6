"""A test and what ranks wrote beside it as rows of runs, with what the tail of each phase cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.connectors.benchmarks.ior.results import Result, rows_of
from iosonde.model.frames import NULL_NS
from iosonde.model.transfers import BIN_NS, DIRECTIONS, Rates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from iosonde.connectors.benchmarks.ior.found import IorRun, PhaseTimes
    from iosonde.connectors.benchmarks.ior.results import OpTimes, RankTimes
    from iosonde.connectors.lines import FileDefaults
    from iosonde.model.arrays import Floats, Ints

_EQUAL = 1e-3
_LEAST_RANKS = 4


class Pieces(NamedTuple):
    """Work of a phase by rank, for ``stats.tail_loss``. Shapes (n,)."""

    rank: Ints
    begin_ns: Ints
    end_ns: Ints
    bytes: Floats
    source: str
    """``operations``, ``timers`` or ``ranks``."""
    assumed: bool
    """Whether each rank is taken to have moved as much, and the file does not say so."""


def finish(run: IorRun, given: FileDefaults) -> None:
    """Fill the rows of a run."""
    for result in run.results:
        turn = (result.access, result.repetition)
        times, ops = run.times.get(turn), run.ops.get(turn)
        if equalised(run, turn[0], times):
            flags = [*result.reported.get("flags", ()), "ranks-equalised"]
            result.reported["flags"] = sorted(set(flags))
        run.rows += rows_of(result, run.setup, given, run.run_id, times, ops)


def equalised(run: IorRun, access: str, times: RankTimes | None) -> bool:
    """Whether a check of data made all ranks of a read end together: IOR's -R waits within the timed part."""
    if times is None or access != "read" or len(times.rank) < 2:
        return False
    own = times.transfer_s[np.isfinite(times.transfer_s)]
    if not len(own) or not own.min() > 0 or own.max() / own.min() - 1 >= _EQUAL:
        return False
    return bool(run.setup.get("check_read")) or len(own) >= _LEAST_RANKS


def pieces_of(run: IorRun, result: Result) -> Pieces | None:
    """What ranks did in a phase; None where the files do not say when."""
    turn = (result.access, result.repetition)
    ops, times = run.ops.get(turn), run.times.get(turn)
    if ops is not None:
        ends = ops.begin_ns + ops.runtime_ns
        if (ops.bytes > 0).all() and len(np.unique(ops.rank)) == run.setup.get("ranks"):
            sizes = ops.bytes.astype(np.float64)
            return Pieces(ops.rank, ops.begin_ns, ends, sizes, "operations", False)
    if times is None or equalised(run, turn[0], times):
        return None
    whole = next(
        row for row in run.rows if (row.phase, row.repetition) == turn and row.rank is None
    )
    n = run.setup.get("ranks") or len(times.rank)
    if len(times.rank) != n or whole.bytes is None:
        return None
    known = {
        row.rank: row.bytes
        for row in run.rows
        if (row.phase, row.repetition) == turn and row.rank is not None and row.op is None
    }
    said = [known.get(int(rank)) for rank in times.rank]
    assumed = any(size is None for size in said)
    sizes = np.array([whole.bytes / n if size is None or assumed else size for size in said])
    begin = np.zeros(len(times.rank), dtype=np.int64)
    source = "ranks"
    if times.transfer_began_ns is not None and (times.transfer_began_ns >= 0).all():
        begin, source = times.transfer_began_ns, "timers"
    if not np.isfinite(times.transfer_s).all():
        return None
    end = begin + np.rint(times.transfer_s * 1e9).astype(np.int64)
    return Pieces(times.rank, begin, end, sizes.astype(np.float64), source, assumed)


def wall_rates(run: IorRun, result: Result) -> tuple[float, float, float, float] | None:
    """Bytes a second until the time limit and until the end, and how long both took; None without wear-out.

    Whoever had done most at the limit was the first to end: the others caught up with it.
    """
    turn = (result.access, result.repetition)
    whole = next(
        row for row in run.rows if (row.phase, row.repetition) == turn and row.rank is None
    )
    transfer, seconds = run.setup.get("transfer_bytes"), result.wall.seconds
    if not (whole.stonewall_per_s and transfer and seconds and whole.bytes and whole.duration_ns):
        return None
    took = whole.duration_ns / 1e9
    return whole.stonewall_per_s * transfer, whole.bytes / took, seconds, took


def rates_of_ops(run: IorRun) -> Rates | None:
    """Bytes of each rank in bins of 0.25 s, where operations are known one by one; an operation moves evenly."""
    parts = [
        _binned(ops, DIRECTIONS.index(access), repetition, _origin(run, access, repetition))
        for (access, repetition), ops in sorted(run.ops.items())
        if access in DIRECTIONS and (ops.bytes > 0).all()
    ]
    if not parts:
        return None
    return Rates(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _origin(run: IorRun, access: str, repetition: int) -> int:
    """When a phase began; 0 where nothing says so."""
    turn = (access, repetition)
    found = [r.began_ns for r in run.results if (r.access, r.repetition) == turn and r.began_ns]
    for phase in run.phases:
        if (phase.access, phase.repetition) == turn:
            return _first(phase) or (found[0] if found else 0)
    return found[0] if found else 0


def _first(phase: PhaseTimes) -> int | None:
    known = phase.instants[:, 2][phase.instants[:, 2] != NULL_NS]
    return int(known.min()) if len(known) else None


def _binned(ops: OpTimes, direction: int, repetition: int, origin: int) -> Sequence[Ints]:
    """Repetition, direction, rank, begin and bytes of bins."""
    begin, end = ops.begin_ns, ops.begin_ns + np.maximum(ops.runtime_ns, 1)
    first, last = begin // BIN_NS, (end - 1) // BIN_NS
    n = last - first + 1
    op = np.repeat(np.arange(len(begin)), n)
    place = np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n) + first[op]
    inside = np.minimum(end[op], (place + 1) * BIN_NS) - np.maximum(begin[op], place * BIN_NS)
    moved = ops.bytes[op] * (inside / (end - begin)[op])
    key, where = np.unique(np.stack([ops.rank[op], place]), axis=1, return_inverse=True)
    total = np.rint(np.bincount(where.ravel(), moved, key.shape[1])).astype(np.int64)
    same = np.ones(key.shape[1], dtype=np.int64)
    return (same * repetition, same * direction, key[0], key[1] * BIN_NS + origin, total)
