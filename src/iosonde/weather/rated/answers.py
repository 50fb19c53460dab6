"""Windows of the page with baseline and slowdown, from the earliest new row on where the others are at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.model.frames import Frame
from iosonde.weather.slowdown.baseline import learn as learn_baselines
from iosonde.weather.slowdown.slowdown import (
    CONTROLS,
    add_slowdown,
    host_lateness,
    in_op_order,
    statistic_columns,
    with_host_busy,
)
from iosonde.weather.slowdown.slowdown import judged as judged_against
from iosonde.weather.slowdown.trailing import trailing_median
from iosonde.weather.slowdown.young import with_young

if TYPE_CHECKING:
    from typing import Unpack

    from numpy.typing import NDArray

    from iosonde.model.arrays import Flags
    from iosonde.model.frames import SampleChoice, WindowTable
    from iosonde.weather.slowdown.baseline import LearntBaselines
    from iosonde.weather.store import Store

_FEW = 8
"""Most new windows of a series whose baselines are computed one by one."""
_COLUMNS = statistic_columns("median")
_STATISTICS = (*("q50_ns", "q50_lower_ns", "q50_upper_ns", "q90_ns", "max_ns"), *CONTROLS)
"""Statistics for the page, and for judging a window in ``weather.slowdown.slowdown``."""


def learn(store: Store, *, host: str, target: str) -> LearntBaselines:
    """What is usual of a target as seen from a host. Raises StoreError."""
    return learn_baselines(store, host=host, target=target)


def page_windows(store: Store, window_ns: int, **which: Unpack[SampleChoice]) -> WindowTable:
    """Windows with the statistics that the page shows. Raises StoreError."""
    return store.windows(window_ns, statistics=_STATISTICS, levels=True, **which)


def rated_windows(windows: WindowTable, trailing_ns: int) -> WindowTable:
    """Windows with baseline and slowdown, in the order of ops."""
    return in_op_order(add_slowdown(windows, _COLUMNS, trailing_ns))


def rated_after(
    older: WindowTable, fresh: WindowTable, window_ns: int, trailing_ns: int
) -> WindowTable:
    """``older`` rated windows, and ``fresh`` ones after them with theirs, in the order of ops."""
    return in_op_order(_together(older, _rated(older, fresh, window_ns, trailing_ns)))


def judged(
    store: Store, rated: WindowTable, shown: Flags, known: LearntBaselines, trailing_ns: int
) -> WindowTable:
    """The ``shown`` ones of ``rated`` windows against what is ``known``, as the page has them. Raises StoreError."""
    found = judged_against(with_young(rated, known, trailing_ns).take(shown), known, "typ")
    return with_host_busy(found.with_columns(host_lateness(store, found)))


def _rated(older: Frame, fresh: Frame, window_ns: int, trailing_ns: int) -> Frame:
    """``fresh`` windows with baseline and slowdown, given the ``older`` ones before them."""
    lengths = [rows.stop - rows.start for _, rows in fresh.series()]
    if max(lengths, default=0) > _FEW or len(older) == 0:
        names = fresh.keys()
        whole = _together(Frame({name: older[name] for name in names}), fresh)
        rated = add_slowdown(_sorted(whole), _COLUMNS, trailing_ns)
        first = fresh["start_ns"].min() if len(fresh) else 0
        return rated.take(rated["start_ns"] >= first)
    before = {key: older.take(rows) for key, rows in older.series()}
    parts = []
    for key, rows in fresh.series():
        known = fresh.take(rows)
        past = before.get(key)
        for place in range(len(known)):
            one = known.take(slice(place, place + 1))
            baseline = _baseline(past, known.take(slice(0, place)), one, trailing_ns)
            parts.append(_with_baseline(one, baseline, window_ns))
    return _together(*parts) if parts else add_slowdown(fresh, _COLUMNS, trailing_ns)


def _baseline(past: Frame | None, known: Frame, one: Frame, trailing_ns: int) -> float:
    """Baseline of a single window: exactly that of ``trailing_median``.

    A median does not depend on the order of the windows in reach, so they are handed over by value:
    many times quicker for long histories.
    """
    start = int(one["start_ns"][0])
    medians = []
    for part in (past, known):
        if part is not None:
            reached = (part["start_ns"] >= start - trailing_ns) & (part["start_ns"] < start)
            medians.append(part["q50_ns"][reached])
    values = np.sort(np.concatenate(medians) if medians else np.empty(0))
    values = values[~np.isnan(values)]
    order = np.arange(len(values) + 1, dtype=np.int64)
    answer = trailing_median(order, np.append(values, one["q50_ns"]), len(order) + 1)
    return float(answer[-1])


def _with_baseline(one: Frame, baseline: float, window_ns: int) -> Frame:
    """Judge one window by ``add_slowdown`` with a known baseline.

    It gets as many windows before it as a baseline needs, all of that median.
    """
    if np.isnan(baseline):
        return add_slowdown(one, _COLUMNS, window_ns)
    copies = 6
    rows = np.zeros(copies, dtype=np.intp)
    series = one.take(rows)
    start = series["start_ns"] + (np.arange(copies) - copies + 1) * window_ns
    median = np.where(np.arange(copies) < copies - 1, baseline, series["q50_ns"])
    series = series.with_columns({"start_ns": start, "q50_ns": median})
    return add_slowdown(series, _COLUMNS, copies * window_ns).take(slice(copies - 1, copies))


def _sorted(windows: Frame) -> Frame:
    """Windows by series, each sorted by start."""
    order = np.lexsort([windows[name] for name in ("start_ns", "period_ns", "op")])
    return windows.take(order)


def _together(*frames: Frame) -> Frame:
    names = frames[0].keys()
    columns: dict[str, NDArray[Any]] = {
        name: np.concatenate([frame[name] for frame in frames]) for name in names
    }
    return Frame(columns)
