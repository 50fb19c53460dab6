"""Combine a test and its per-rank files into rows of runs, transfers and rates."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.connectors.benchmarks.flags import with_flags
from iosonde.connectors.benchmarks.ior.phase_data import OpTimes, Result
from iosonde.connectors.benchmarks.ior.results import rows_of
from iosonde.model.frames import NULL_NS
from iosonde.model.transfers import BIN_NS, DIRECTIONS, BinnedRates, Stripes, Transfers

if TYPE_CHECKING:
    from iosonde.connectors.benchmarks.ior.found import IorRun, Turn
    from iosonde.connectors.benchmarks.ior.phase_data import RankTimes
    from iosonde.connectors.lines import FileDefaults
    from iosonde.model.arrays import Floats, Ints

_EQUAL = 1e-3
_LEAST_RANKS = 4
_MOST_BINS = 20_000_000


class Pieces(NamedTuple):
    """Work of a phase, one row per rank or operation. Shapes (n,)."""

    rank: Ints
    begin_ns: Ints
    end_ns: Ints
    bytes: Floats
    source: str
    """``operations``, ``timers`` or ``ranks``."""
    assumed: bool
    """True if an equal share per rank is an assumption, not in the file."""


def finish(run: IorRun, given: FileDefaults) -> None:
    """Fill the rows of a run."""
    for result in run.results:
        turn = (result.access, result.repetition)
        times, ops = run.times.get(turn), run.ops.get(turn)
        if equalised(run, turn[0], times):
            result.reported |= with_flags(result.reported, ["ranks-equalised"])
        run.rows += rows_of(result, run.setup, given, run.run_id, (times, ops))


def equalised(run: IorRun, access: str, times: RankTimes | None) -> bool:
    """True if IOR's -R made all ranks of a read end together: it waits within the timed part."""
    if times is None or access != "read" or len(times.rank) < 2:
        return False
    own = times.transfer_s[np.isfinite(times.transfer_s)]
    if not len(own) or not own.min() > 0 or own.max() / own.min() - 1 >= _EQUAL:
        return False
    return bool(run.setup.get("check_read")) or len(own) >= _LEAST_RANKS


def pieces_of(run: IorRun, result: Result) -> Pieces | None:
    """Work of each rank in a phase; None if the files have no times."""
    turn = (result.access, result.repetition)
    ops, times = run.ops.get(turn), run.times.get(turn)
    timed = _of_ranks(run, turn, times)
    if timed is not None and timed.source == "timers" and not timed.assumed:
        return timed  # with what fsync took at the end, which is no operation
    if ops is not None:
        ends = ops.begin_ns + ops.runtime_ns
        if (ops.bytes > 0).all() and len(np.unique(ops.rank)) == run.setup.get("ranks"):
            sizes = ops.bytes.astype(np.float64)
            return Pieces(ops.rank, ops.begin_ns, ends, sizes, "operations", False)
    return timed


def _of_ranks(run: IorRun, turn: Turn, times: RankTimes | None) -> Pieces | None:
    """Transfers of whole ranks, by their timers, else by durations from a common start."""
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


def transfers_of_run(run: IorRun) -> Transfers | None:
    """Open, transfer and close times of each rank, with binned bytes if operations are known; None without timers."""
    found = run.transfers()
    return None if found is None else replace(found, rates=_rates_of_ops(run))


def transfers_of(pieces: Pieces) -> Transfers:
    """A phase as transfers of one file, one row per rank, for rates; instants have any origin.

    Of operations, bins are narrow: no wider than 1/4096 of the phase.
    """
    ranks, whose = np.unique(pieces.rank, return_inverse=True)
    begins = np.full(len(ranks), np.iinfo(np.int64).max)
    ends = np.full(len(ranks), np.iinfo(np.int64).min)
    np.minimum.at(begins, whose, pieces.begin_ns)
    np.maximum.at(ends, whose, pieces.end_ns)
    sizes = np.rint(np.bincount(whose, pieces.bytes, len(ranks))).astype(np.int64)
    zeros = np.zeros(len(ranks), dtype=np.int64)
    unknown = zeros - 1
    rates = None
    if pieces.source == "operations":
        width = int(min(max(1, (ends.max() - begins.min()) // 4096), BIN_NS))
        ops = OpTimes(
            pieces.rank,
            pieces.begin_ns,
            pieces.end_ns - pieces.begin_ns,
            np.rint(pieces.bytes).astype(np.int64),
        )
        columns = _binned(ops, (0, 0, 0), width)
        rates = None if columns is None else BinnedRates(*columns, bin_ns=width)
    return Transfers(
        run="",
        repetition=zeros,
        direction=zeros,
        rank=ranks,
        host=unknown,
        file=zeros,
        bytes=sizes,
        transfer_begin_ns=begins,
        transfer_end_ns=ends,
        stripes=Stripes.single(unknown),
        hosts=(),
        files=("",),
        targets=(),
        rates=rates,
    )


def _rates_of_ops(run: IorRun) -> BinnedRates | None:
    """Bytes of each rank in bins of 0.25 s, if single operations are known."""
    found = [
        _binned(
            ops, (repetition, DIRECTIONS.index(access), _origin(run, access, repetition)), BIN_NS
        )
        for (access, repetition), ops in sorted(run.ops.items())
        if access in DIRECTIONS and (ops.bytes > 0).all()
    ]
    parts = [part for part in found if part is not None]
    if not parts:
        return None
    columns = [np.concatenate([part[n] for part in parts]) for n in range(5)]
    return BinnedRates(columns[0], columns[1], columns[2], columns[3], columns[4])


def _origin(run: IorRun, access: str, repetition: int) -> int:
    """Start of a phase; 0 if unknown."""
    for phase in run.phases:
        if (phase.access, phase.repetition) == (access, repetition):
            known = phase.instants[:, 2][phase.instants[:, 2] != NULL_NS]
            if len(known):
                return int(known.min())
    said = [
        result.began_ns
        for result in run.results
        if (result.access, result.repetition) == (access, repetition)
    ]
    return said[0] or 0 if said else 0


def _binned(
    ops: OpTimes, of: tuple[int, int, int], width: int
) -> tuple[Ints, Ints, Ints, Ints, Ints] | None:
    """Columns of ``BinnedRates``; each operation moves bytes evenly. None: too many bins.

    ``of``: repetition, direction, origin.
    """
    begin, end = ops.begin_ns, ops.begin_ns + np.maximum(ops.runtime_ns, 1)
    first, last = begin // width, (end - 1) // width
    n = last - first + 1
    if not 0 < int(n.sum()) <= _MOST_BINS:
        return None
    op = np.repeat(np.arange(len(begin)), n)
    place = np.arange(int(n.sum())) - np.repeat(np.cumsum(n) - n, n) + first[op]
    inside = np.minimum(end[op], (place + 1) * width) - np.maximum(begin[op], place * width)
    moved = ops.bytes[op] * (inside / (end - begin)[op])
    key, where = np.unique(np.stack([ops.rank[op], place]), axis=1, return_inverse=True)
    total = np.rint(np.bincount(where.ravel(), moved, key.shape[1])).astype(np.int64)
    same = np.ones(key.shape[1], dtype=np.int64)
    return same * of[0], same * of[1], key[0], key[1] * width + of[2], total
