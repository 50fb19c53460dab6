"""Slow, clear and unknown time of a target's cells, cut where events begin and end."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.jobs.scheduled.cells import (
    Smoothed,
    TargetCells,
    slow_spans,
    smoothed,
    unknown_cells,
)
from iosonde.jobs.scheduled.event_time import EventTime, TargetEvents, untold
from iosonde.jobs.scheduled.storage_time import LEVELS, OpTime, StorageTime, TimeAt
from iosonde.model.ops import SLOW_AT, op_order

if TYPE_CHECKING:
    from iosonde.model.arrays import Flags, Floats, Instants, Places

_NO_EVENTS = TargetEvents()


def time_of(
    seen: TargetCells, span_ns: tuple[int, int], told: TargetEvents = _NO_EVENTS
) -> StorageTime:
    """Storage time of a target's cells, and of what events say of it, within a job's [begin, end)."""
    length = int(seen.starts[1] - seen.starts[0])
    cuts = _cut(seen.starts, length, told)
    inside = np.minimum(cuts.end, span_ns[1]) - np.maximum(cuts.begin, span_ns[0])
    inside = np.maximum(inside, 0)
    nothing = np.zeros(len(inside), dtype=np.bool_)
    worst, low, high = (np.full(len(inside), -np.inf) for _ in range(3))
    slow, near, judged, probed, busy = (nothing.copy() for _ in range(5))
    found: list[OpTime] = []
    for op in dict.fromkeys((*seen.ops, *(one.op for one in told.slow))):
        cells = seen.ops.get(op) or unknown_cells(len(seen.starts))
        smooth, edge = smoothed(cells, slow_spans(seen.starts, cells, seen.rule))
        cells, smooth, edge = cells.taken(cuts.of), smooth.taken(cuts.of), edge[cuts.of]
        for one in told.slow:
            if one.op == op:
                _put(one, smooth, edge, cuts)
        here = smooth.typ >= SLOW_AT
        judged |= ~np.isnan(cells.typ)
        probed |= cells.probed
        busy |= cells.busy
        slow |= here
        near |= edge
        worst = np.fmax(worst, smooth.typ)
        low = np.fmax(low, smooth.lower)
        high = np.where(edge, np.fmax(high, np.fmax(smooth.upper, cells.upper)), high)
        if inside[here].sum():
            within = here & (inside > 0)
            found.append(OpTime(op, int(inside[here].sum()), float(np.median(smooth.typ[within]))))
    for begin, end in told.young:
        judged |= probed & ~busy & (cuts.begin >= begin) & (cuts.end <= end)
    clear = judged & ~slow
    unknown = ~judged & ~slow
    levels = _Levels(worst, low, high, slow, near)
    stretches = _within(cuts, slow & (inside > 0), span_ns)
    return StorageTime(
        target=seen.target,
        slow_ns=int(inside[slow].sum()),
        clear_ns=int(inside[clear].sum()),
        unknown_ns=int(inside[unknown].sum()),
        unprobed_ns=int(inside[unknown & ~probed].sum()),
        busy_ns=int(inside[unknown & busy].sum()),
        at=tuple(_at(level, levels, inside, length) for level in LEVELS),
        ops=tuple(sorted(found, key=lambda one: (-one.slow_ns, -one.typ, op_order(one.op)))),
        stretches=stretches,
        window_ns=length,
        hosts=seen.hosts,
        untold=untold(told, stretches, span_ns, len(seen.hosts)),
    )


class _Levels(NamedTuple):
    """Of each cut: slowest typ and its bounds; whether it is slow, and within reach of a stretch."""

    worst: Floats
    low: Floats
    high: Floats
    slow: Flags
    near: Flags


def _at(level: float, found: _Levels, inside: Instants, length: int) -> TimeAt:
    """Time at a level; its bounds allow a window for the edges of each stretch."""
    here = found.slow & (found.worst >= level)
    reached = found.near & ~np.isneginf(found.high) & (found.high >= level)
    edges = length * len(_runs(here))
    sure = int(inside[here & (found.low >= level)].sum())
    possible = int(inside[here | reached].sum())
    return TimeAt(level, int(inside[here].sum()), max(0, sure - edges), possible + edges)


class _Cuts(NamedTuple):
    """Cells, cut where what events say begins and ends, shapes (F,). ``of``: index of the cell."""

    begin: Instants
    end: Instants
    of: Places


def _cut(starts: Instants, length: int, told: TargetEvents) -> _Cuts:
    last = int(starts[-1]) + length
    events = [ns for one in told.slow for ns in (one.begin_ns, one.end_ns)]
    events += [ns for span in told.young for ns in span]
    inner = [ns for ns in events if starts[0] < ns < last]
    edges = np.unique(np.concatenate([starts, np.array([*inner, last], dtype=np.int64)]))
    of = np.searchsorted(starts, edges[:-1], side="right") - 1
    return _Cuts(edges[:-1], edges[1:], of)


def _put(one: EventTime, smooth: Smoothed, edge: Flags, cuts: _Cuts) -> None:
    """Enter the slow time of an event where the cells have none."""
    new = (cuts.begin >= one.begin_ns) & (cuts.end <= one.end_ns) & ~(smooth.typ >= SLOW_AT)
    for column, value in zip(smooth, (one.typ, one.lower, one.upper), strict=True):
        column[new] = value
    edge |= new


def _runs(flags: Flags) -> list[tuple[int, int]]:
    """[first, last) of consecutive flags."""
    edges: Places = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]])))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def _within(cuts: _Cuts, slow: Flags, span_ns: tuple[int, int]) -> tuple[tuple[int, int], ...]:
    return tuple(
        (max(span_ns[0], int(cuts.begin[first])), min(span_ns[1], int(cuts.end[last - 1])))
        for first, last in _runs(slow)
    )
