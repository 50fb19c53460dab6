"""Last lasting change of a kind before a run, if there was one.

A run that is slow beside all of its history may be as fast as every run of the last months. That is no weather of its
day but a climate, and whatever else changed with it goes with performance over the whole history. So what is usual, and
what goes with performance, is that of the runs since.
Source: ``stats.change_points``; docs/methods/climate.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from iosonde.model.units import DAY_NS
from iosonde.stats.change_points import shifts
from iosonde.stats.segments import FEWEST

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MOST_RUNS = 2000
"""Most runs examined before and after it: the search is quadratic."""
SMALLEST = 0.1
"""Least change reported, as a share of the larger level."""


@dataclass(frozen=True)
class Since:
    """A lasting change before a run. ``at_ns``: the first run after it; ``n`` other runs between it and the next one,
    which begins at ``until_ns`` (None: there is none).

    ``before``, ``median``: of the runs before it, and of those ``n``; ``value``: of the run; all in the unit of the
    performance. ``gradual``: a drift does as well.
    """

    at_ns: int
    until_ns: int | None
    n: int
    before: float
    median: float
    value: float
    gradual: bool

    def of(self, start_ns: NDArray[np.int64]) -> NDArray[np.bool_]:
        """True for runs (n,) of its time, by their begins."""
        begun = start_ns >= self.at_ns
        return begun if self.until_ns is None else begun & (start_ns < self.until_ns)


def since(start_ns: NDArray[np.int64], performance: Floats, place: int) -> Since | None:
    """The last lasting change before the run at ``place`` of runs in order of time, all (n,).

    Missing data: runs without performance are left out; None if it has none, or if there was no change.
    """
    first = max(0, place - MOST_RUNS)
    part = slice(first, place + MOST_RUNS)
    known = np.isfinite(performance[part])
    if not known[place - first]:
        return None
    at, y = start_ns[part][known], performance[part][known]
    mine = int(known[: place - first].sum())
    days = at / DAY_NS
    found = shifts(days, y).found
    starts = [int(np.searchsorted(days, one.at)) for one in found]
    before = [i for i, start in enumerate(starts) if start <= mine]
    if not before:
        return None
    last = before[-1]
    bounds = [0, *starts, len(y)]
    old = y[bounds[last] : bounds[last + 1]]
    segment = np.delete(y[bounds[last + 1] : bounds[last + 2]], mine - bounds[last + 1])
    levels = float(np.median(old)), float(np.median(segment)) if len(segment) else 0.0
    if len(segment) < FEWEST or min(levels) <= 0 or min(levels) > (1 - SMALLEST) * max(levels):
        return None
    until = int(at[starts[last + 1]]) if last + 1 < len(starts) else None
    return Since(
        int(at[starts[last]]), until, len(segment), *levels, float(y[mine]), found[last].gradual
    )
