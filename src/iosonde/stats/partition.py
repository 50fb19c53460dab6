"""Optimal segmentation of a series: least sum of costs, with a penalty per cut, in O(n**2).

Source: Jackson et al. 2005, An algorithm for optimal partitioning of data on an interval.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats, Places

    Cost = Callable[[Places, int], Floats]
    """Starts (k,) and one end -> costs (k,) of the segments [start, end)."""


def best_cuts(cost: Cost, latest: Places, penalty: float) -> list[int]:
    """Starts of the second and later segments of n places.

    ``latest`` (n,): the latest start of a segment that ends with each place, below 0 where none can end. Empty where
    no cut into such segments exists.
    """
    n = len(latest)
    best = np.full(n + 1, np.inf)
    best[0] = -penalty
    start, places = np.zeros(n + 1, dtype=np.intp), np.arange(n)
    for end in range(1, n + 1):
        if latest[end - 1] < 0:
            continue
        some = latest[end - 1] + 1
        costs = best[:some] + cost(places[:some], end) + penalty
        start[end] = costs.argmin()
        best[end] = costs[start[end]]
    cuts: list[int] = []
    end = int(start[n]) if n and np.isfinite(best[n]) else 0
    while end > 0:
        cuts.append(end)
        end = int(start[end])
    return cuts[::-1]
