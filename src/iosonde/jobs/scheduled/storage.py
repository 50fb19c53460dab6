"""Slow, clear and unknown time of storage during a job.

::

    windows of a minute, each op and host     typ, its interval, lost; what the probing host explains is unknown, and
                                              what is cached in part before its baseline is reliable
    of several hosts the lower median         one slow login node is not a slow file system
    three slow windows in a row               begin a slow stretch (weather.events.slow_intervals)
    cells of a target                         slow: some op is, within a stretch; else clear: some op is judged;
                                              else unknown
    the job's time                            slow + clear + unknown, cut at its begin and end

Within a stretch a cell's typ is the median of the five windows around it: single windows are noisy, and a stretch of
3x is not cut into pieces by them. A level L ("at least 3x") counts the slow cells whose slowest op has typ >= L; an
op that did not answer has typ = inf. Bounds: the least counts cells whose interval lies above L, the most those whose
interval reaches L, one window around each stretch included; both allow a window a stretch for its edges. Stretches
under three windows are not seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.model.frames import SlowdownQuery
from iosonde.model.names import host_of_rank
from iosonde.model.ops import SLOW_AT, op_order
from iosonde.model.units import DAY_NS
from iosonde.weather.events.slow_intervals import RULE, OpWindows, Rule, spells
from iosonde.weather.slowdown.slowdown import analyse, learned
from iosonde.weather.slowdown.window_length import windows_of

if TYPE_CHECKING:
    from iosonde.model.arrays import Flags, Floats, Instants, Places
    from iosonde.model.frames import WindowTable
    from iosonde.weather.slowdown.baseline import LearntBaselines
    from iosonde.weather.store import Store

LEVELS = (2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0)
"""Slowdown levels of counted times; the first is the limit of slow."""
SILENT = 0.5
"""Share of late, missing or failed operations from which on an op did not answer."""
_MINUTE_NS, _TEN_NS = 60_000_000_000, 600_000_000_000
_LONGEST_BY_MINUTES_NS = 8 * DAY_NS
_AROUND = 10
"""Windows before and after the job in which a slow span may start or end."""
_LONG_RULE = Rule(hot_windows=1, quiet_windows=1, merged_windows=1)
"""Rule for windows of ten minutes and more, which have enough operations to count singly."""
_AROUND_CELL = 2
_ENOUGH = 0.1


class TimeAt(NamedTuple):
    """Duration (ns) above a slowdown ``level`` (ratio), and its bounds."""

    level: float
    slow_ns: int
    least_ns: int
    most_ns: int


class OpTime(NamedTuple):
    """Slow duration of one op (ns), and its median typ (ratio) in that time; inf: it did not answer."""

    op: str
    slow_ns: int
    typ: float


@dataclass(frozen=True)
class StorageTime:
    """Target during a job. ``slow_ns + clear_ns + unknown_ns`` = the job's time.

    ``at``: by ``LEVELS``. ``ops``: those that were slow, longest first. ``unknown_ns`` is ``unprobed_ns`` (nobody
    measured), ``busy_ns`` (the probing host explains it) and the rest (too few operations, or still learning).
    ``stretches``: [begin, end) ns, within the job. ``window_ns``: length of a cell; ``hosts``: who probed.
    """

    target: str
    slow_ns: int
    clear_ns: int
    unknown_ns: int
    unprobed_ns: int
    busy_ns: int
    at: tuple[TimeAt, ...]
    ops: tuple[OpTime, ...]
    stretches: tuple[tuple[int, int], ...]
    window_ns: int
    hosts: tuple[str, ...]

    @property
    def told(self) -> TimeAt:
        """Highest level that holds for at least half of the slow time."""
        held = [one for one in self.at if one.slow_ns and 2 * one.slow_ns >= self.slow_ns]
        return held[-1] if held else self.at[0]


def storage_during(
    store: Store, begin_ns: int, end_ns: int, known: LearntBaselines | None = None
) -> list[StorageTime]:
    """Every probed target in [begin, end), the slowest first; [] without probes.

    Raises StoreError.
    """
    if not store.probed():
        return []
    known = known or learned(store, SlowdownQuery(until_ns=end_ns))
    length = _MINUTE_NS if end_ns - begin_ns <= _LONGEST_BY_MINUTES_NS else _TEN_NS
    found = _during(store, begin_ns, end_ns, length, known)
    judged = sum(one.slow_ns + one.clear_ns for one in found)
    longer = sorted({_TEN_NS, *(own for own in windows_of(known).values() if own > _TEN_NS)})
    for coarse_ns in longer:
        if judged >= _ENOUGH * (end_ns - begin_ns):
            break
        # Raw samples are gone, or a probe is too slow for shorter windows.
        coarse = _during(store, begin_ns, end_ns, coarse_ns, known)
        here = sum(one.slow_ns + one.clear_ns for one in coarse)
        if here > judged:
            found, judged = coarse, here
    return sorted(found, key=_slowest_first)


def _slowest_first(one: StorageTime) -> tuple[object, ...]:
    return (-one.slow_ns * min(one.told.level, LEVELS[-1]), one.unknown_ns, one.target)


def _during(
    store: Store, begin_ns: int, end_ns: int, length_ns: int, known: LearntBaselines
) -> list[StorageTime]:
    query = SlowdownQuery(
        since_ns=begin_ns - _AROUND * length_ns,
        until_ns=end_ns + _AROUND * length_ns,
        window_ns=length_ns,
        trailing_ns=length_ns,  # the guarded baseline alone judges
        rolled=length_ns >= _TEN_NS,
    )
    windows = analyse(store, query, known=known).windows
    first = (begin_ns // length_ns - _AROUND) * length_ns
    last = -(-end_ns // length_ns) + _AROUND
    starts = np.arange(first, last * length_ns, length_ns, dtype=np.int64)
    series: dict[str, dict[str, list[slice]]] = {}
    hosts: dict[str, set[str]] = {}
    for key, rows in windows.series():
        if host_of_rank(key.host) is None and key.period_ns > 0:
            series.setdefault(key.target, {}).setdefault(key.op, []).append(rows)
            hosts.setdefault(key.target, set()).add(key.host)
    for target in {ref.target for ref in store.targets() if host_of_rank(ref.host) is None}:
        series.setdefault(target, {})
    rule = _LONG_RULE if length_ns >= _TEN_NS else RULE
    return [
        time_of(
            TargetCells(
                target,
                tuple(sorted(hosts.get(target, ()))),
                starts,
                {op: _cells(windows, rows, starts) for op, rows in ops.items()},
            ),
            (begin_ns, end_ns),
            rule,
        )
        for target, ops in series.items()
    ]


class OpCells(NamedTuple):
    """Cells of one op of one target, all hosts together, shapes (T,): ratios, NaN = not judged.

    ``slow``: typ >= 2 and its lower end >= 1.5, or no answer. ``probed``: somebody measured; ``busy``: the probing
    host explains it.
    """

    typ: Floats
    lower: Floats
    upper: Floats
    slow: Flags
    probed: Flags
    busy: Flags


def _cells(windows: WindowTable, series: list[slice], starts: Instants) -> OpCells:
    """Lower median over hosts: with two of them both must be slow."""
    layers = [_layer(windows, rows, starts) for rows in series]
    if len(layers) == 1:
        return layers[0]
    order = np.argsort(np.array([layer.typ for layer in layers]), axis=0, kind="stable")
    judged = np.array([~np.isnan(layer.typ) for layer in layers]).sum(axis=0)
    at = order[np.maximum(0, (judged - 1) // 2), np.arange(len(starts))]
    columns = (
        np.array([getattr(layer, name) for layer in layers])[at, np.arange(len(starts))]
        for name in OpCells._fields
    )
    found = OpCells(*columns)
    probed: Flags = np.logical_or.reduce([layer.probed for layer in layers])
    return found._replace(probed=probed, busy=found.busy & (judged == 0))


def _layer(windows: WindowTable, rows: slice, starts: Instants) -> OpCells:
    """Cells of one series."""
    place = np.searchsorted(starts, windows["start_ns"][rows])
    inside = (place < len(starts)) & (windows["start_ns"][rows] >= starts[0])
    place = place[inside]

    def column(name: str, nothing: float) -> Floats:
        found = np.full(len(starts), nothing, dtype=np.float64)
        found[place] = windows[name][rows][inside]
        return found

    typ, lower, upper = (column(name, np.nan) for name in ("typ", "typ_lower", "typ_upper"))
    silent = column("lost", np.nan) >= SILENT
    # What share of an op is usually cached takes days to learn: until then another mix is no slowdown.
    young = np.zeros(len(starts), dtype=np.bool_)
    young[place] = windows["stage"][rows][inside] != "reliable"
    young &= np.isfinite(column("hit_share", np.nan)) & ~silent
    busy = (column("host_busy", 0.0) > 0) & ~silent
    slow = (column("slow", 0.0) > 0) & (typ >= SLOW_AT) & ~busy & ~young
    typ, lower, upper = (
        np.where(silent, np.inf, np.where(busy | young, np.nan, part))
        for part in (typ, lower, upper)
    )
    return OpCells(typ, lower, upper, slow | silent, column("n_due", 0.0) > 0, busy)


class TargetCells(NamedTuple):
    """Cells of one target as ``hosts`` saw it. ``starts`` (T,): of cells, ascending, of one length."""

    target: str
    hosts: tuple[str, ...]
    starts: Instants
    ops: dict[str, OpCells]


def time_of(seen: TargetCells, span_ns: tuple[int, int], rule: Rule = RULE) -> StorageTime:
    """Storage time of a target's cells within a job's [begin, end)."""
    starts = seen.starts
    length = int(starts[1] - starts[0])
    inside = np.minimum(starts + length, span_ns[1]) - np.maximum(starts, span_ns[0])
    inside = np.maximum(inside, 0)
    nothing = np.zeros(len(starts), dtype=np.bool_)
    worst, low, high = (np.full(len(starts), -np.inf) for _ in range(3))
    slow, near, judged, probed, busy = (nothing.copy() for _ in range(5))
    found: list[OpTime] = []
    for op, cells in seen.ops.items():
        stretches = _stretches(starts, cells, rule)
        smooth, edge = _smoothed(cells, stretches)
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
    clear = judged & ~slow
    unknown = ~judged & ~slow
    reached = near & ~np.isneginf(high)
    at = []
    for level in LEVELS:
        here = slow & (worst >= level)
        edges = length * len(_runs(here))
        value = int(inside[here].sum())
        sure = int(inside[here & (low >= level)].sum())
        possible = int(inside[here | (reached & (high >= level))].sum())
        at.append(TimeAt(level, value, max(0, sure - edges), possible + edges))
    return StorageTime(
        target=seen.target,
        slow_ns=int(inside[slow].sum()),
        clear_ns=int(inside[clear].sum()),
        unknown_ns=int(inside[unknown].sum()),
        unprobed_ns=int(inside[unknown & ~probed].sum()),
        busy_ns=int(inside[unknown & busy].sum()),
        at=tuple(at),
        ops=tuple(sorted(found, key=lambda one: (-one.slow_ns, op_order(one.op)))),
        stretches=_within(starts, slow & (inside > 0), length, span_ns),
        window_ns=length,
        hosts=seen.hosts,
    )


def _stretches(starts: Instants, cells: OpCells, rule: Rule) -> list[tuple[int, int]]:
    """[first, last) cells of the slow spans of one op."""
    # What is not slow beyond doubt is not hot, whatever its typ.
    typ = np.where(cells.slow, cells.typ, np.minimum(cells.typ, np.nextafter(SLOW_AT, 0)))
    nothing = np.full(len(typ), np.nan)
    count = np.ones(len(typ), dtype=np.int64)
    windows = OpWindows(starts, typ, nothing, nothing, count, int(starts[1] - starts[0]))
    found = spells(windows, rule)
    ends = (np.searchsorted(starts, [one.begin_ns, one.end_ns]).tolist() for one in found)
    return [(first, last) for first, last in ends]


class Smoothed(NamedTuple):
    """typ and its interval (T,), NaN outside of spans and where not judged."""

    typ: Floats
    lower: Floats
    upper: Floats


def _smoothed(cells: OpCells, stretches: list[tuple[int, int]]) -> tuple[Smoothed, Flags]:
    """Medians of five cells within each span; and a mask of the spans widened by a cell."""
    found = Smoothed(*(np.full(len(cells.typ), np.nan) for _ in range(3)))
    edge = np.zeros(len(cells.typ), dtype=np.bool_)
    for first, last in stretches:
        edge[max(0, first - 1) : last + 1] = True
        known = first + np.flatnonzero(~np.isnan(cells.typ[first:last]))
        for column, smooth in zip((cells.typ, cells.lower, cells.upper), found, strict=True):
            smooth[known] = _medians(np.where(np.isnan(column), cells.typ, column)[known])
    # No answer is no matter of noise.
    silent = edge & np.isinf(cells.typ)
    return Smoothed(*(np.where(silent, np.inf, column) for column in found)), edge


def _medians(values: Floats) -> Floats:
    """Median of each value and up to two neighbours on either side."""
    if not len(values):
        return values
    half = min(_AROUND_CELL, (len(values) - 1) // 2)
    padded = np.concatenate([np.full(half, np.nan), values, np.full(half, np.nan)])
    rows = np.lib.stride_tricks.sliding_window_view(padded, 2 * half + 1)
    return np.asarray(np.nanmedian(rows, axis=-1))


def _runs(flags: Flags) -> list[tuple[int, int]]:
    """[first, last) of consecutive flags."""
    edges: Places = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]])))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def _within(
    starts: Instants, slow: Flags, length: int, span_ns: tuple[int, int]
) -> tuple[tuple[int, int], ...]:
    return tuple(
        (max(span_ns[0], int(starts[first])), min(span_ns[1], int(starts[last - 1]) + length))
        for first, last in _runs(slow)
    )
