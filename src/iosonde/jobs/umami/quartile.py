"""Standing of a value in its history: the colour of a row of an UMAMI diagram, and its box.

The history excludes the value itself, whichever run is asked about; the caller gives both.
Source: Lockwood et al., UMAMI (PDSW 2017), figure 2 and its published code; docs/methods/umami.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

import numpy as np

from iosonde.stats.boxes import Box
from iosonde.stats.midranks import share_below

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Good = Literal["high", "low"] | None
"""Good end of a metric; None if unknown."""
ENOUGH = 5
"""Least number of earlier values for a judgement."""
WHISKERS = (5.0, 95.0)
"""Percentiles at which the whiskers end."""


class Standing(StrEnum):
    """Standing of a value. The first four are quartiles of the history, worst first."""

    BAD = "bad"
    POOR = "poor"
    OK = "ok"
    GOOD = "good"
    NEUTRAL = "neutral"
    """Metric without a good or bad end."""
    TOO_LITTLE_HISTORY = "too little history"
    MISSING = "missing"


_WORST_FIRST = (Standing.BAD, Standing.POOR, Standing.OK, Standing.GOOD)


@dataclass(frozen=True)
class Stood:
    """A value in its history; ``box`` and ``share`` are set even without a class.

    ``share``: share of the history below the value, ties half (NaN if either is missing);
    ``tied``: quartiles could not be told apart at this value; ``alike``: values of the history that equal it.
    """

    value: float
    n: int
    share: float
    standing: Standing
    tied: bool
    box: Box
    alike: int = 0


def stand(history: Floats, value: float, good: Good) -> Stood:
    """Judge ``value`` by ``history`` (n,), which does not contain it.

    Unit: that of the values. Missing data: what is not finite is left out of the history; such a value is
    ``MISSING``. Fewer than ``ENOUGH`` known earlier values give no class.
    """
    known = np.asarray(history, dtype=np.float64)
    known = known[np.isfinite(known)]
    n = len(known)
    value = float(value) if np.isfinite(value) else float("nan")
    standing, tied = Standing.MISSING, False
    if not np.isnan(value):
        standing = Standing.TOO_LITTLE_HISTORY if n < ENOUGH else Standing.NEUTRAL
    if standing is Standing.NEUTRAL and good is not None:
        quartile, tied = quartile_of(known, value, good)
        standing = _WORST_FIRST[quartile if good == "high" else 3 - quartile]
    alike = int(np.count_nonzero(known == value))
    return Stood(value, n, share_below(known, value), standing, tied, percentile_box(known), alike)


def quartile_of(history: Floats, value: float, good: Literal["high", "low"]) -> tuple[int, bool]:
    """Quartile (0 to 3) of ``history`` (n > 0, none missing) that holds ``value``, and True for a tie.

    It is the first of the percentiles 25, 50, 75, 100 that is not below the value; above all, the last.
    Where two or more of minimum, quartiles and maximum *equal* the value, quartiles around it cannot be
    told apart: of those that touch the value it gets the one nearest to the middle, and of the two middle
    ones the better. So a constant history that goes on is ``OK``, and never the worst or the best.
    """
    with np.errstate(over="ignore"):
        bounds = np.percentile(history, [0, 25, 50, 75, 100])
    equal = np.flatnonzero(bounds == value)
    if len(equal) < 2:
        return min(3, int(np.searchsorted(bounds[1:], value, side="left"))), False
    lowest, highest = max(0, int(equal[0]) - 1), min(3, int(equal[-1]))
    better = (2, 1) if good == "high" else (1, 2)
    touched = range(lowest, highest + 1)
    return next(middle for middle in (*better, 0, 3) if middle in touched), True


def percentile_box(history: Floats) -> Box:
    """The box of a row: quartiles by linear interpolation, whiskers at the ``WHISKERS`` percentiles.

    Shape: (n,), none missing. As ``boxes.box``: below ``ENOUGH`` values there is no box, and all are outliers.
    """
    if len(history) < ENOUGH:
        nan = float("nan")
        few = np.sort(history)
        return Box(len(few), nan, nan, nan, nan, nan, few, np.ones(len(few), dtype=np.int64))
    with np.errstate(over="ignore"):
        low, q25, q50, q75, high = np.percentile(history, [WHISKERS[0], 25, 50, 75, WHISKERS[1]])
    outliers = np.sort(history[(history < low) | (history > high)])
    each = np.ones(len(outliers), dtype=np.int64)
    return Box(
        len(history), float(q25), float(q50), float(q75), float(low), float(high), outliers, each
    )


def cliffs_delta(these: Floats, those: Floats) -> float:
    """Cliff's delta: probability that a value of ``these`` (n,) exceeds one of ``those`` (m,), minus the reverse.

    Missing data: NaN is left out; NaN when a side is empty. Source: Cliff 1993.
    """
    these, those = these[~np.isnan(these)], np.sort(those[~np.isnan(those)])
    if len(these) == 0 or len(those) == 0:
        return float("nan")
    above = np.searchsorted(those, these, side="left").sum()
    below = (len(those) - np.searchsorted(those, these, side="right")).sum()
    return float((above - below) / (len(these) * len(those)))


def bad_quartile_delta(y: Floats, metric: Floats) -> float:
    """Cliff's delta of a metric: runs whose ``y`` is in its lowest quartile against all others.

    Shapes: (n,) each. Missing data: runs that lack either are left out. NaN when a side is empty.
    """
    both = ~np.isnan(y) & ~np.isnan(metric)
    if not both.any():
        return float("nan")
    bad = y[both] <= np.percentile(y[both], 25)
    return cliffs_delta(metric[both][bad], metric[both][~bad])
