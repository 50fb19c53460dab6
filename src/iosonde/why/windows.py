"""Slowdown of targets side by side in one stretch: windows of weather's detector, and their median with an interval."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iosonde.model.frames import SlowdownQuery
from iosonde.stats.ranks import quantile_ranks
from iosonde.weather.series.stretches import with_stretches
from iosonde.why.links import Ratio

if TYPE_CHECKING:
    from iosonde.model.arrays import Flags, Floats
    from iosonde.model.frames import Frame
    from iosonde.weather.store import Store
    from iosonde.why.links import StretchFacts

MINUTE_NS, SHORT_NS = 60_000_000_000, 10_000_000_000
LONG_NS = 600_000_000_000
"""Stretches below this have windows of ten seconds."""
TRAILING_NS = 3_600_000_000_000
"""While what is usual is learnt the hour before stands in."""
MOST_NS = 86_400_000_000_000
"""Of a longer stretch its last day counts."""
_FEWEST = 6
_MOSTLY_LOST = 0.5


def stretch_windows(store: Store, slow: StretchFacts, judged_ns: int = MINUTE_NS) -> Frame:
    """Windows of every target that the host watches, within the stretch. Raises StoreError.

    ``judged_ns``: the length of windows that the op of the stretch is judged in; of a short stretch they are shorter.
    """
    end = slow.end_ns or slow.seen_until_ns
    begin = max(slow.begin_ns, end - max(MOST_NS, _FEWEST * judged_ns))
    width = judged_ns
    if judged_ns == MINUTE_NS and end - begin < LONG_NS:
        width = SHORT_NS
    query = SlowdownQuery(
        host=slow.host,
        since_ns=begin,
        until_ns=end,
        window_ns=width,
        trailing_ns=max(TRAILING_NS, width),
    )
    windows = with_stretches(store, query, end).windows
    if not len(windows):
        return windows
    inside = (windows["start_ns"] >= begin - width // 2) & (windows["start_ns"] < end)
    return windows.take(inside)


def typ_of(windows: Frame, target: str, op: str) -> Ratio | None:
    """Median slowdown of one op of a target over windows; None: no window is judged.

    Windows that the probing host explains do not count; one in which most operations were lost counts as infinitely
    slow. The interval is that of the median, from order statistics; below six windows of a window's own interval.
    """
    rows = (windows["target"] == target) & (windows["op"] == op)
    some = windows.take(rows)
    if not len(some):
        return None
    typ = np.asarray(some["slowdown"], dtype=np.float64)
    typ = np.where(mostly_lost(some), np.inf, typ)
    typ = np.where(some["host_busy"].astype(bool), np.nan, typ)
    known = np.sort(typ[~np.isnan(typ)])
    if not len(known):
        return None
    middle = float(known[(len(known) - 1) // 2])
    ranks = quantile_ranks(len(known), 0.5)
    if ranks is not None:
        return Ratio(middle, float(known[ranks[0] - 1]), float(known[ranks[2] - 1]))
    lower, upper = (_middle(some[f"slowdown_{end}"]) for end in ("lower", "upper"))
    return Ratio(middle, lower, upper)


def mostly_lost(windows: Frame) -> Flags:
    """Windows in which half of the operations or more were lost; missing data: not lost."""
    flags: Flags = np.nan_to_num(np.asarray(windows["lost"], np.float64)) >= _MOSTLY_LOST
    return flags


def _middle(values: Floats) -> float:
    known = np.asarray(values, dtype=np.float64)
    known = known[~np.isnan(known)]
    return float(np.median(known)) if len(known) else float("nan")
