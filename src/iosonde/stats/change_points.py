"""Lasting changes of one series: dates, their certainty, and levels before and after.

Values are scaled by their noise, clipped, and cut into segments of at least so many days (``stats.segments``) at
``PENALTY kappa ln n`` per change; the least sure change is taken back until all have ``p`` of at most ``SURE``.
Each is then placed anew: both sides have their own median and spread, and Student's tails. What could be its date
are all places that are worse by less than ``REACH kappa`` in the logarithm of the likelihood: the largest of two
random walks stays below it in 95% of cases. ``p`` is the larger one of two: of the step between means of clipped
values with one spread, and of the step between medians with a spread a side; both of a step that was looked for.
Sources: Siegmund 1988 (interval); Welch 1947 (two spreads); docs/methods/umami.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from iosonde.stats.regime_search import CLIP, alikeness, noise_scale, running_median
from iosonde.stats.scaled import tamed
from iosonde.stats.segments import FEWEST, SURE, Series, chance

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats


SHORTEST_DAYS = 7.0
"""Least length of a segment."""
PENALTY = 3.0
TAILS = 3
"""Degrees of freedom of the noise model when a change is located."""
REACH = -float(np.log(1 - np.sqrt(0.95)))
"""3.68: the larger of two exponential variables stays below it with probability 0.95."""


@dataclass(frozen=True)
class ChangePoint:
    """A lasting change. Times in the unit of the input (days), levels in that of the values.

    ``at``: the first value after it; it happened between ``earliest`` and ``latest`` (95%). ``before`` and
    ``after`` are medians of the segments on both sides, with ``n_before`` and ``n_after`` values; ``p``: chance of such
    a step somewhere between the neighbouring changes without any.
    """

    at: float
    earliest: float
    latest: float
    before: float
    after: float
    n_before: int
    n_after: int
    p: float
    gradual: bool = False
    """True if a straight line over both segments fits as well as the step: a drift, which has no date."""


@dataclass(frozen=True)
class ChangePoints:
    """All changes of a series in order; ``n``: known values; ``kappa``: values per independent one."""

    n: int
    kappa: float
    found: tuple[ChangePoint, ...]


def shifts(at_days: Floats, values: Floats, shortest_days: float = SHORTEST_DAYS) -> ChangePoints:
    """Lasting changes of ``values`` (n,) at ``at_days`` (n,), ascending, of any spacing.

    Missing data: values that are not finite are left out. Too few values, or a series that never moves, have
    no change. Raises ValueError when times are missing, descend, or differ in number from the values.
    """
    at_days, values = np.asarray(at_days, dtype=np.float64), np.asarray(values, dtype=np.float64)
    if (
        at_days.shape != values.shape
        or not (np.diff(at_days) >= 0).all()
        or np.isnan(at_days).any()
    ):
        raise ValueError("times do not fit the values; expected as many, known and ascending")
    known = np.isfinite(values)
    at, y = at_days[known], values[known]
    n, units = len(y), y
    y = tamed(y) if n else y
    scale = noise_scale(y)
    if n < 2 * FEWEST or scale == 0:
        return ChangePoints(n, 1.0, ())
    with np.errstate(over="ignore"):  # what is out of reach is clipped
        z = np.clip((y - running_median(y)) / scale, -CLIP, CLIP)
        level = np.clip((y - np.median(y)) / scale, -3 * CLIP, 3 * CLIP)
    alike = alikeness(z[:, None])
    around = running_median(level)
    series = Series(at, np.clip(level, around - CLIP, around + CLIP), shortest_days)
    cuts, kappa = series.sure(series.cut(PENALTY * (1 + alike) / (1 - alike) * np.log(n)))
    while True:
        found = _described(y, series, cuts, kappa)
        worst = int(np.argmax([one.p for one in found])) if found else -1
        if worst < 0 or found[worst].p <= SURE:
            break
        del cuts[worst]
    return ChangePoints(n, kappa, tuple(_in_units(found, units)))


def _described(y: Floats, series: Series, cuts: list[int], kappa: float) -> list[ChangePoint]:
    bounds = [0, *cuts, len(y)]
    steps = zip(bounds, cuts, bounds[2:], strict=False)
    p = [series.step(a, cut, b, kappa) for a, cut, b in steps]
    near, start = [], 0
    for cut, b in pairwise([*cuts, len(y)]):
        near.append([start + place for place in _placed(y[start:b], cut - start, kappa)])
        start = near[-1][0]
    edges = [0, *(places[0] for places in near), len(y)]
    parts = [y[a:b] for a, b in pairwise(edges)]
    return [
        ChangePoint(
            float(series.at[place]),
            float(series.at[first - 1]),
            float(series.at[last]),
            float(np.median(before)),
            float(np.median(after)),
            len(before),
            len(after),
            max(chance_before, _unlike(before, after, kappa)),
            drift,
        )
        for (place, first, last), (before, after), chance_before, drift in zip(
            near, pairwise(parts), p, _gradual(parts, edges, series, kappa), strict=True
        )
    ]


def _gradual(parts: list[Floats], edges: list[int], series: Series, kappa: float) -> list[bool]:
    """For each change, true if a line fits as well: alone, or with neighbours in the same direction."""
    found = [series.gradual(edges[i : i + 3], kappa) for i in range(len(edges) - 2)]
    ways = np.sign(np.diff([float(np.median(part)) for part in parts]))
    first = 0
    for i in range(1, len(ways) + 1):
        if i == len(ways) or ways[i] != ways[first]:
            if series.gradual(edges[first : i + 2], kappa):
                found[first:i] = [True] * (i - first)
            first = i
    return found


def _in_units(found: list[ChangePoint], units: Floats) -> list[ChangePoint]:
    """Changes with levels in the input's unit."""
    ends = np.cumsum([found[0].n_before, *(one.n_after for one in found)]) if found else np.empty(0)
    medians = [float(np.median(part)) for part in np.split(units, ends[:-1].astype(np.intp))]
    return [
        replace(one, before=before, after=after)
        for one, (before, after) in zip(found, pairwise(medians), strict=True)
    ]


def _unlike(before: Floats, after: Floats, kappa: float) -> float:
    """Significance (p) of a step of the median, with a spread for each side (Welch)."""
    floor = _floor(np.append(before, after))
    errors, freedom = [], []
    for side in (before, after):
        errors.append(np.pi / 2 * _spread(side, floor) ** 2 * kappa / len(side))
        freedom.append(max(0.5, len(side) / kappa - 1))
    gap = abs(float(np.median(after) - np.median(before)))
    if gap == 0:
        return 1.0
    total = sum(errors)
    welch = total**2 / sum(error**2 / free for error, free in zip(errors, freedom, strict=True))
    return chance(gap / np.sqrt(total), len(before) + len(after), welch)


def _placed(y: Floats, cut: int, kappa: float) -> tuple[int, int, int]:
    """Position of the change in ``y``, and the first and last position it could have.

    Each side has its own median and spread, and Student's tails: a slow run just before a change for the worse is
    not taken for it.
    """
    floor = _floor(y)
    better = np.cumsum(_fit(y, y[:cut], floor) - _fit(y, y[cut:], floor))
    places = np.arange(FEWEST, len(y) - FEWEST + 1)
    gains = better[places - 1]
    place = int(places[np.argmax(gains)])
    good = places[gains.max() - gains <= REACH * kappa]
    return place, int(good[0]), int(good[-1])


def _floor(y: Floats) -> float:
    """Lower bound of the spread of a side."""
    return max(1e-150, 1e-3 * float(np.abs(y - np.median(y)).mean()))


def _spread(side: Floats, floor: float) -> float:
    return max(1.4826 * float(np.median(np.abs(side - np.median(side)))), floor)


def _fit(y: Floats, side: Floats, floor: float) -> Floats:
    """Log-likelihood of each value under the distribution of a side."""
    scale = _spread(side, floor)
    z = (y - np.median(side)) / scale
    fit: Floats = -np.log(scale) - (TAILS + 1) / 2 * np.log1p(z**2 / TAILS)
    return fit
