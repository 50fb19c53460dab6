"""Optimal segmentation of one series into levels, for any spacing in time, and the significance of steps.

Cost ``sum of squared distances to segment means + penalty per change``, minimised exactly in O(n**2). The chance
of a step is that of the largest one that a search would find without any ::

    P(max |step| > c) = c phi(c) (ln((1 - a)**2 / a**2) (1 - 1 / c**2) + 4 / c**2)

with ``a`` the share of a shortest segment. Sources: ``stats.partition``; Csoergo and Horvath 1997, 1.3 (maximum
of the step); docs/methods/umami.md.
"""

from __future__ import annotations

from itertools import pairwise
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from iosonde.stats.partition import best_cuts
from iosonde.stats.regime_search import MOST_ALIKE
from iosonde.stats.student import student_share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from iosonde.model.arrays import Floats, Places


FEWEST = 5
"""Values of a segment, at least."""
SURE = 0.05
"""Significance level of each of two tests of a change; both together pass about half of that."""
SEEN = 3.0
"""Autocorrelation above this over sqrt(n) is significant."""


class Series:
    """A series at ``at`` (days), values ``z`` of about unit noise, with prefix sums for costs of segments."""

    def __init__(self, at: Floats, z: Floats, shortest_days: float) -> None:
        self.at = at
        self._z = z
        self._sum = np.concatenate([[0.0], np.cumsum(z)])
        self._squares = np.concatenate([[0.0], np.cumsum(z**2)])
        n = len(at)
        early = np.searchsorted(at, at - shortest_days, side="right")
        self._last_start = np.minimum(np.arange(n) + 1 - FEWEST, early - 1 + (shortest_days <= 0))
        """Latest start of a segment that ends with a value."""

    def cost(self, a: Places | int, b: Places | int) -> Floats:
        """Squared distances of [a, b) to its mean."""
        total = self._sum[b] - self._sum[a]
        cost: Floats = self._squares[b] - self._squares[a] - total**2 / (b - a)
        return np.maximum(cost, 0.0)

    def cut(self, penalty: float) -> list[int]:
        """Starts of the second and later segments of the best segmentation."""
        return best_cuts(self.cost, self._last_start, penalty)

    def sure(self, cuts: list[int]) -> tuple[list[int], float]:
        """Remove the least significant change until all are significant; with kappa of the residuals."""
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
        """Kappa from autocorrelation within segments at two lags, corrected for the subtraction of means.

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
        """Significance (p) of a step at a position chosen by search."""
        n, left, right = b - a, cut - a, b - cut
        within = float(self.cost(a, cut) + self.cost(cut, b)) / max(1, n - 2)
        gap = abs(self._mean(a, cut) - self._mean(cut, b))
        c = gap / np.sqrt(max(within, 1e-12) * kappa * (1 / left + 1 / right))
        return chance(float(c), n, n / kappa - 2)

    def gradual(self, bounds: Sequence[int], kappa: float) -> bool:
        """True if a straight line fits as well as levels between ``bounds`` (first, cuts, end).

        Each place that was looked for is worth ``kappa ln n`` (Schwarz 1978).
        """
        a, b = bounds[0], bounds[-1]
        t, z = self.at[a:b] - self.at[a:b].mean(), self._z[a:b]
        size = float(t @ t)
        if size == 0:
            return False
        line = float(self.cost(a, b)) - float(t @ z) ** 2 / size
        steps = sum(float(self.cost(start, end)) for start, end in pairwise(bounds))
        return line < steps + (len(bounds) - 2) * kappa * float(np.log(b - a))

    def _mean(self, a: int, b: int) -> float:
        return float((self._sum[b] - self._sum[a]) / (b - a))


def chance(t: float, n: int, freedom: float) -> float:
    """Significance (p) of a largest step of ``t`` standard errors among ``n`` values; ``freedom``: degrees of
    freedom.
    """
    c = _normal(t, freedom)
    if c < 1.5:
        return 1.0
    share = min(0.49, FEWEST / n)
    reach = 2 * np.log((1 - share) / share) * (1 - 1 / c**2) + 4 / c**2
    return float(min(1.0, c * np.exp(-(c**2) / 2) / np.sqrt(2 * np.pi) * reach))


def _normal(t: float, freedom: float) -> float:
    """Normal deviate with the p value of Student's ``t``; 0 without degrees of freedom, at most 37."""
    if freedom <= 0:
        return 0.0
    share = float(student_share(np.array(-t), freedom))
    return -NormalDist().inv_cdf(min(max(1e-300, share), 1 - 1e-16))
