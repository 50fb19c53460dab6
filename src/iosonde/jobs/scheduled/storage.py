"""Slow, clear and unknown time of storage during a job.

::

    windows of a minute, each op and host     typ, its interval, lost; what the probing host explains is unknown, and
                                              what is cached in part before its baseline is reliable
    of several hosts the lower median         one slow login node is not a slow file system
    three slow windows in a row               begin a slow stretch (weather.events.slow_intervals)
    events, as every door tells them          slow, too, where cells see none: shorter ones, and a baseline's first hour
    cells of a target                         slow: some op is, within a stretch; else clear: some op is judged;
                                              else unknown
    the job's time                            slow + clear + unknown, cut at its begin and end

Within a stretch a cell's typ is the median of the five windows around it: single windows are noisy, and a stretch of
3x is not cut into pieces by them. A level L ("at least 3x") counts the slow cells whose slowest op has typ >= L; an
op that did not answer has typ = inf. Bounds: the least counts cells whose interval lies above L, the most those whose
interval reaches L, one window around each stretch included; both allow a window a stretch for its edges. Without
events stretches under three windows are not seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iosonde.jobs.scheduled.cells import (
    TargetCells,
    cells_of,
)
from iosonde.jobs.scheduled.event_time import judged_by
from iosonde.jobs.scheduled.storage_time import LEVELS, StorageTime
from iosonde.jobs.scheduled.time_of import time_of
from iosonde.model.frames import SlowdownQuery
from iosonde.model.names import host_of_rank
from iosonde.model.units import DAY_NS
from iosonde.weather.events.slow_intervals import RULE, Rule
from iosonde.weather.slowdown.slowdown import analyse, learned
from iosonde.weather.slowdown.window_length import windows_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from iosonde.weather.events.told import Happened
    from iosonde.weather.slowdown.baseline import LearntBaselines
    from iosonde.weather.store import Store

_MINUTE_NS, _TEN_NS = 60_000_000_000, 600_000_000_000
_LONGEST_BY_MINUTES_NS = 8 * DAY_NS
_AROUND = 10
"""Windows before and after the job in which a slow span may start or end."""
_LONG_RULE = Rule(hot_windows=1, quiet_windows=1, merged_windows=1)
"""Rule for windows of ten minutes and more, which have enough operations to count singly."""
_ENOUGH = 0.1


def storage_during(
    store: Store,
    begin_ns: int,
    end_ns: int,
    known: LearntBaselines | None = None,
    happened: Happened | None = None,
) -> list[StorageTime]:
    """Every probed target in [begin, end), the slowest first; [] without probes.

    ``happened``: events of that time, which count as slow, too (None: cells alone count). Raises StoreError.
    """
    if not store.probed():
        return []
    known = known or learned(store, SlowdownQuery(until_ns=end_ns))
    span = (begin_ns, end_ns)
    length = _MINUTE_NS if end_ns - begin_ns <= _LONGEST_BY_MINUTES_NS else _TEN_NS
    seen = _seen(store, span, length, known)
    judged = _judged(seen, span)
    longer = sorted({_TEN_NS, *(own for own in windows_of(known).values() if own > _TEN_NS)})
    for coarse_ns in longer:
        if judged >= _ENOUGH * (end_ns - begin_ns):
            break
        # Raw samples are gone, or a probe is too slow for shorter windows.
        coarse = _seen(store, span, coarse_ns, known)
        if (here := _judged(coarse, span)) > judged:
            seen, judged = coarse, here
    found = [
        time_of(one, span, judged_by(happened, one.target, len(one.hosts), end_ns)) for one in seen
    ]
    return sorted(found, key=_slowest_first)


def _judged(seen: Sequence[TargetCells], span_ns: tuple[int, int]) -> int:
    """Time that the cells of all targets judge together, ns."""
    found = [time_of(one, span_ns) for one in seen]
    return sum(one.slow_ns + one.clear_ns for one in found)


def _slowest_first(one: StorageTime) -> tuple[object, ...]:
    return (-one.slow_ns * min(one.told.level, LEVELS[-1]), one.unknown_ns, one.target)


def _seen(
    store: Store, span_ns: tuple[int, int], length_ns: int, known: LearntBaselines
) -> list[TargetCells]:
    """Cells of every probed target around a span."""
    begin_ns, end_ns = span_ns
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
        TargetCells(
            target,
            tuple(sorted(hosts.get(target, ()))),
            starts,
            {op: cells_of(windows, rows, starts) for op, rows in ops.items()},
            rule,
        )
        for target, ops in series.items()
    ]
