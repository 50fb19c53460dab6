"""When one series changed for good: dates, how sure they are, and what it was before and after.

Values are scaled by their noise, clipped, and cut into segments of at least so many days that

    sum of squared distances to segment means + PENALTY kappa ln n  per change

is least (exact, for any spacing in time). Then the least sure change is taken back until all have ``p`` of at
most ``SURE``. ``p`` is of the largest step that could have been found between the neighbours of a change ::

    P(max |step| > c) = c phi(c) (ln((1 - a)**2 / a**2) (1 - 1 / c**2) + 4 / c**2),   c = |step| / (s sqrt(kappa))

``a`` being the share of a shortest segment: a place that was looked for is not a place that was given. The
interval of a date are all places at which a cut would be worse by less than ``REACH`` in the logarithm of the
likelihood: the largest of two random walks stays below it in 95 % of cases.
Sources: Killick et al. 2012; Csoergo and Horvath 1997, 1.3 (maximum of the step); Siegmund 1988 (interval);
docs/methods/umami.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from iosonde.stats.regimes import CLIP, MOST_ALIKE, alikeness, noise_scale, running_median
from iosonde.stats.tails import normal_quantile
from iosonde.stats.tamed import tamed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

SHORTEST_DAYS = 7.0
"""A segment lasts at least so long."""
FEWEST = 5
"""Values of a segment, at least."""
PENALTY = 3.0
SURE = 0.01
TAILS = 3
"""Degrees of freedom of the noise when a change is placed."""
SEEN = 3.0
"""Autocorrelation above this over sqrt(n) is there."""
REACH = -float(np.log(1 - np.sqrt(0.95)))
"""3.68: the larger of two exponential variables stays below it with probability 0.95."""


@dataclass(frozen=True)
class Shift:
    """A lasting change. Times in the unit of the input (days), levels in that of the values.

    ``at``: the first value after it; it happened between ``earliest`` and ``latest`` (95 %). ``before`` and
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


@dataclass(frozen=True)
class Shifts:
    """All changes of a series in order; ``n``: known values; ``kappa``: so many of them are worth one."""

    n: int
    kappa: float
    found: tuple[Shift, ...]


def shifts(at_days: Floats, values: Floats, shortest_days: float = SHORTEST_DAYS) -> Shifts:
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
        return Shifts(n, 1.0, ())
    z = np.clip((y - running_median(y)) / scale, -CLIP, CLIP)
    alike = alikeness(z[:, None])
    level = np.clip((y - np.median(y)) / scale, -3 * CLIP, 3 * CLIP)
    series = _Series(
        at,
        np.clip(level, running_median(level) - CLIP, running_median(level) + CLIP),
        shortest_days,
    )
    kappa = (1 + alike) / (1 - alike)
    cuts = series.cut(PENALTY * kappa * np.log(n))
    cuts, kappa = series.sure(cuts)
    return Shifts(n, kappa, tuple(_described(y, units, series, cuts, kappa)))


def _described(
    y: Floats, units: Floats, series: _Series, cuts: list[int], kappa: float
) -> list[Shift]:
    bounds = [0, *cuts, len(y)]
    p = [series.step(a, cut, b, kappa) for a, cut, b in zip(bounds, cuts, bounds[2:], strict=False)]
    near, start = [], 0
    for cut, b in pairwise([*cuts, len(y)]):
        places = [start + place for place in _placed(y[start:b], cut - start, kappa)]
        near.append(places)
        start = places[0]
    bounds = [0, *(places[0] for places in near), len(y)]
    parts = [units[a:b] for a, b in pairwise(bounds)]
    levels = [float(np.median(part)) for part in parts]
    return [
        Shift(
            float(series.at[place]),
            float(series.at[first - 1]),
            float(series.at[last]),
            levels[index],
            levels[index + 1],
            len(parts[index]),
            len(parts[index + 1]),
            p[index],
        )
        for index, (place, first, last) in enumerate(near)
    ]


def _placed(y: Floats, cut: int, kappa: float) -> tuple[int, int, int]:
    """Where in ``y`` the change is, and the first and last place it could be at.

    Each side has its own median and spread, and Student's tails: a slow run just before a change for the worse is
    not taken for it. A place that would take half of the step away is not better.
    """
    floor = 1e-3 * float(np.abs(y - np.median(y)).mean())
    better = np.cumsum(_fit(y, y[:cut], floor) - _fit(y, y[cut:], floor))
    places = np.arange(FEWEST, len(y) - FEWEST + 1)
    gains = better[places - 1]
    place = int(places[np.argmax(gains)])
    good = places[gains.max() - gains <= REACH * kappa]
    if abs(_step(y, place)) < abs(_step(y, cut)) / 2:
        place = cut
    return place, min(place, int(good[0])), max(place, int(good[-1]))


def _step(y: Floats, cut: int) -> float:
    return float(np.median(y[cut:]) - np.median(y[:cut]))


def _fit(y: Floats, side: Floats, floor: float) -> Floats:
    """Logarithm of the likelihood of each value among those of a side."""
    middle = float(np.median(side))
    scale = max(1.4826 * float(np.median(np.abs(side - middle))), floor)
    z = (y - middle) / scale
    fit: Floats = -np.log(scale) - (TAILS + 1) / 2 * np.log1p(z**2 / TAILS)
    return fit


class _Series:
    """Sums from which the cost of every stretch follows."""

    def __init__(self, at: Floats, z: Floats, shortest_days: float) -> None:
        self.at = at
        self._z = z
        self._sum = np.concatenate([[0.0], np.cumsum(z)])
        self._squares = np.concatenate([[0.0], np.cumsum(z**2)])
        n = len(at)
        early = np.searchsorted(at, at - shortest_days, side="right")
        self._last_start = np.minimum(np.arange(n) + 1 - FEWEST, early - 1 + (shortest_days <= 0))
        """Latest start of a segment that ends with a value."""

    def cost(self, a: NDArray[np.intp] | int, b: NDArray[np.intp] | int) -> Floats:
        """Squared distances of [a, b) to its mean."""
        total = self._sum[b] - self._sum[a]
        cost: Floats = self._squares[b] - self._squares[a] - total**2 / (b - a)
        return np.maximum(cost, 0.0)

    def cut(self, penalty: float) -> list[int]:
        """Starts of the second and later segments of the best segmentation."""
        n = len(self.at)
        best = np.full(n + 1, np.inf)
        best[0] = -penalty
        start = np.zeros(n + 1, dtype=np.intp)
        for end in range(1, n + 1):
            latest = int(self._last_start[end - 1])
            if latest < 0:
                continue
            starts = np.arange(latest + 1)
            costs = best[starts] + self.cost(starts, end) + penalty
            start[end] = int(np.argmin(costs))
            best[end] = costs[start[end]]
        if not np.isfinite(best[n]):
            return []
        cuts, end = [], int(start[n])
        while end > 0:
            cuts.append(end)
            end = int(start[end])
        return cuts[::-1]

    def sure(self, cuts: list[int]) -> tuple[list[int], float]:
        """Take the least sure change back until all are sure; with kappa of what is left within segments."""
        cuts = list(cuts)
        while True:
            bounds = [0, *cuts, len(self.at)]
            kappa = self._kappa(bounds)
            p = [
                self.step(a, cut, b, kappa)
                for a, cut, b in zip(bounds, cuts, bounds[2:], strict=False)
            ]
            if max(p, default=0.0) <= SURE:
                return cuts, kappa
            del cuts[int(np.argmax(p))]

    def _kappa(self, bounds: list[int]) -> float:
        """From autocorrelation within segments at two lags, less what their means took away.

        A first-order process under white noise has a(2) / a(1) = phi, whatever the noise.
        """
        lengths = np.diff(bounds)
        means = np.array([self._mean(a, b) for a, b in pairwise(bounds)])
        rest = self._z - np.repeat(means, lengths)
        size, lost = float(rest @ rest), len(lengths) / len(rest)
        if size == 0:
            return 1.0
        one, two = (float(rest[lag:] @ rest[:-lag]) / size for lag in (1, 2))
        one, two = one + (1 + 4 * one) * lost, two + (1 + 4 * one) * lost
        one = float(np.clip(one, 0.0, MOST_ALIKE))
        phi = float(np.clip(two / one, one, MOST_ALIKE)) if one > SEEN / np.sqrt(len(rest)) else one
        return 1 + 2 * one / (1 - phi)

    def step(self, a: int, cut: int, b: int, kappa: float) -> float:
        """Chance of such a step at a place that was looked for."""
        n, left, right = b - a, cut - a, b - cut
        within = float(self.cost(a, cut) + self.cost(cut, b)) / max(1, n - 2)
        gap = abs(self._mean(a, cut) - self._mean(cut, b))
        c = gap / np.sqrt(max(within, 1e-12) * kappa * (1 / left + 1 / right))
        share = min(0.49, FEWEST / n)
        c = _normal(float(c), n / kappa - 2)
        if c < 1.5:
            return 1.0
        reach = 2 * np.log((1 - share) / share) * (1 - 1 / c**2) + 4 / c**2
        return float(min(1.0, c * np.exp(-(c**2) / 2) / np.sqrt(2 * np.pi) * reach))

    def _mean(self, a: int, b: int) -> float:
        return float((self._sum[b] - self._sum[a]) / (b - a))


def _normal(t: float, freedom: float) -> float:
    """The normal deviate that is as unlikely as Student's ``t``; 0 without degrees of freedom, at most 37."""
    from scipy.special import stdtr  # type: ignore[import-untyped, unused-ignore]

    if freedom <= 0:
        return 0.0
    return -float(normal_quantile(np.array(max(1e-300, float(stdtr(freedom, -t))))))
