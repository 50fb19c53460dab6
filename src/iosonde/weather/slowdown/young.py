"""What is usual in the first hour: the median of the windows so far that were not slow, and how much they vary.

::

    windows   1.0 1.1 0.9 1.0 1.0 1.1 3.9 4.1 4.0 1.0     ms, medians
    usual      -   -   -   -   -  1.0 1.0 1.0 1.0 1.0     none before five windows; slow ones are not learnt
    error                         .08 .08 .08 .08 .07     of logarithms; slow is at least 2x and exp(4 error)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iosonde import _core
from iosonde.model.frames import NULL_NS
from iosonde.model.slowdown import INTERVAL_NS
from iosonde.weather.slowdown.guarded import STAGES

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats, Ints
    from iosonde.model.frames import SeriesKey, WindowTable
    from iosonde.weather.slowdown.baseline import LearntBaselines

RELIABLE = 432
"""Intervals with operations until a baseline is reliable."""
FIRST_WINDOWS = 5
"""Nothing is usual before so many."""
_MEDIAN = ("q50_lower_ns", "q50_ns", "q50_upper_ns")


def with_young(windows: WindowTable, known: LearntBaselines, trailing_ns: int) -> WindowTable:
    """``windows`` of ``add_slowdown``: ``baseline_ns`` as it was while ``known`` expected nothing, and ``young_error``.

    Needs whole series from their first window on, sorted by start. Missing data: NaN before five windows are known,
    and ``young_error`` is NaN where ``known`` expects something.
    """
    baseline = windows["baseline_ns"].copy()
    error = np.full(len(windows), np.nan)
    for key, rows in windows.series():
        start = windows["start_ns"][rows]
        first = learnt_from(known, key)
        n = len(start) if first is None else int(np.searchsorted(start, first))
        part = slice(rows.start, rows.start + n)
        medians = [windows[name][part] for name in _MEDIAN]
        usual, error[part] = young_baselines(start[:n], medians, trailing_ns)
        baseline[part] = np.where(
            usual > 0, usual, np.nan
        )  # of a latency of nothing there is no ratio
    return windows.with_columns({"baseline_ns": baseline, "young_error": error})


def learnt_from(known: LearntBaselines, key: SeriesKey) -> int | None:
    """From when on a guarded baseline is there; None: it is not yet."""
    baseline = known.baselines.get(key)
    return None if baseline is None or not len(baseline.from_ns) else int(baseline.from_ns[0])


def judged_from(known: LearntBaselines, key: SeriesKey, window_ns: int) -> int | None:
    """From when on the series is judged against a guarded baseline; None: it is not yet.

    Ten minutes that hold one or two operations make an early baseline too quick: it has to be reliable there.
    """
    baseline = known.baselines.get(key)
    if baseline is None or window_ns <= INTERVAL_NS:
        return learnt_from(known, key)
    reliable = np.flatnonzero(baseline.stage == len(STAGES) - 1)
    return int(baseline.from_ns[reliable[0]]) if len(reliable) else None


def young_baselines(
    start_ns: Ints, medians_ns: list[Floats], trailing_ns: int
) -> tuple[Floats, Floats]:
    """What was usual of each window of one series, and the error of its logarithm.

    Shape: (n,), three (n,) -> (n,), (n,). ``medians_ns``: lower end, median, upper end. Unit: ns; the error has none.
    Missing data: a window without an interval is not learnt; NaN until five are known. Source: the native core, which
    gives the live probe the same.
    """
    columns = []
    for values in medians_ns:
        column = np.full(len(start_ns), NULL_NS, dtype=np.int64)
        known = ~np.isnan(values)
        column[known] = values[known].astype(np.int64)
        columns.append(column.data)
    starts = np.ascontiguousarray(start_ns, dtype=np.int64)
    raw = _core.young_baselines(starts.data, columns, trailing_ns)
    found = np.frombuffer(raw, dtype=np.float64).reshape(-1, 2)
    return found[:, 0], found[:, 1]
