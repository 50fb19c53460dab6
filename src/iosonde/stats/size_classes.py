"""Classes of sizes found in a history: cuts in the valleys of log size.

The logarithms of the sizes are counted in windows of ``WINDOW``. A valley splits them where its window holds far fewer
sizes than the fullest window on either side: at most ``EMPTIER`` of the smaller one, with a chance of at most ``P`` if
both were equally dense (binomial), and at least ``FEWEST`` sizes on either side. Each side is then split again. Sizes
that spread evenly, with one peak or with a long tail are one class.
Source: docs/methods/umami.md, kinds; Silverman 1981 (modes and the valleys between them).
"""

from __future__ import annotations

from math import comb, log
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats, Ints

WINDOW = log(1.35)
"""Sizes within this factor (e to the power of it) are of one window."""
PARTS = 4
"""Steps per width of the moving window."""
FEWEST = 10
"""Least number of sizes of a class."""
EMPTIER = 1 / 3
P = 0.001
_LARGEST_COUNT = 500
"""Sizes in two windows beyond which the share alone decides: the p value is far below ``P``."""
_MOST_STEPS = 4000
"""Longest range of sizes in steps; its ends are cut off: 4000 steps are 130 orders of magnitude."""


def size_classes(sizes: Floats) -> Ints:
    """The class of each of ``sizes`` (n,), from 0, the smallest sizes first.

    Unit: any, sizes are above 0. Missing data: what is not finite or not above 0 is -1. One class: all 0.
    """
    found = np.full(len(sizes), -1, dtype=np.int64)
    known = np.flatnonzero(np.isfinite(sizes) & (sizes > 0))
    if len(known) == 0:
        return found
    order = known[np.argsort(sizes[known], kind="stable")]
    logs = np.log(sizes[order])
    bounds = _cuts(logs, 0, len(logs))
    label = np.zeros(len(logs), dtype=np.int64)
    for bound in bounds:
        label[bound:] += 1
    found[order] = label
    return found


def _cuts(logs: Floats, first: int, last: int) -> list[int]:
    """Positions in sorted ``logs`` at which a class starts, within [first, last)."""
    at = _valley(logs[first:last])
    if at is None:
        return []
    return [*_cuts(logs, first, first + at), first + at, *_cuts(logs, first + at, last)]


def _valley(logs: Floats) -> int | None:
    """Number of sorted ``logs`` (n,) below the clearest valley; None if there is none."""
    n = len(logs)
    if n < 2 * FEWEST or logs[-1] - logs[0] < WINDOW:
        return None
    step = WINDOW / PARTS
    place = np.minimum((logs - logs[0]) / step, _MOST_STEPS).astype(np.int64)
    counts = np.pad(np.bincount(place), PARTS)
    below = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts)])
    window = below[PARTS:] - below[:-PARTS]
    left = np.maximum.accumulate(window)[: -2 * PARTS]
    right = np.maximum.accumulate(window[::-1])[::-1][2 * PARTS :]
    valley = window[PARTS:-PARTS]
    peak = np.minimum(left, right)
    # the window of a valley is cut in its middle
    split = below[PARTS + PARTS // 2 : PARTS + PARTS // 2 + len(valley)]
    could = (np.minimum(split, n - split) >= FEWEST) & (valley <= EMPTIER * peak)
    score = np.where(could, peak - valley / EMPTIER, -1.0)
    best = np.flatnonzero(score >= max(score.max(), 0.0))
    best = best[[_chance(int(valley[i]), int(peak[i])) <= P for i in best]]
    return int(split[best[len(best) // 2]]) if len(best) else None


def _chance(valley: int, peak: int) -> float:
    """Probability that a window holds at most ``valley`` if two equally dense ones hold both together."""
    total = valley + peak
    if total > _LARGEST_COUNT:
        return 0.0
    return float(sum(comb(total, k) for k in range(valley + 1)) / 2**total)
