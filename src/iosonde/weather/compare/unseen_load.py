"""Chance differences between the shares of two samples below one latency, including load.

Source: docs/methods/compare.md; ``weather.compare.dependence`` has the model of the load.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.stats.student import student_share
from iosonde.stats.tails import normal_density, normal_quantile
from iosonde.weather.compare import dependence
from iosonde.weather.compare.whole import Distance

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from iosonde.model.arrays import Flags, Floats
    from iosonde.weather.compare.sides import Side


_STEPS, _STEPS_OF_CHANCE = 50, 22
"""Bisection steps for a gap; a gap of given probability needs no more than a millionth."""
_SIZES = 40
"""Number of standard deviations that represent the grid: neighbours differ by less than a tenth."""
UNEQUAL = 2.0
"""Variance factor of exponential event lengths: half as many equal ones vary as much, E[x^2] / E[x]^2."""
FEWEST_FREEDOM = 4.0
"""Degrees of freedom of a gap whose sides have hardly any independent samples."""


class Gaps:
    """Chance gaps between the two shares below a latency, for every level.

    Two accounts of the load are kept and the more careful one counts: that of the indicator "below the
    quantile" itself, and that of the normal scores of all latencies, diluted to what a load that moves
    all of them shows at this level (it sees a weak load better). The tails are Student's: a share of few
    independent events in the rarer tail varies more than a normal variable, as bursts in q90 do.
    """

    def __init__(self, sides: tuple[Side, Side], p: Floats) -> None:
        taus = dependence.time_constants([side.blocks for side in sides])
        layouts = [dependence.layout_of(side.blocks, taus) for side in sides]
        self._p = p
        self.distance = Distance(sides, layouts)
        """Of all latencies, where a gap of shares has an end."""
        spread = p * (1 - p)
        dilution = normal_density(normal_quantile(p)) ** 2 / spread
        scores = _fits(layouts, [normal_quantile(side.ranks) for side in sides])
        self.odds_of_load = dependence.odds_of_load(scores)
        """Of all latencies, for ``dependence.no_load_beside``."""
        self._accounts: list[tuple[_Account, _Account]] = []
        for level, diluted, scale in zip(p, dilution.tolist(), spread, strict=True):
            below: list[Floats] = [side.is_below(level) for side in sides]
            own = _Account(_fits(layouts, below), _variances(layouts, 1.0, scale))
            self._accounts.append((own, _Account(scores, _variances(layouts, diluted, scale))))
        self.weigh(dependence.NO_LOAD)

    def weigh(self, no_load: float) -> None:
        """Update the weights of loads. ``no_load``: prior weight of no load."""
        self._mixtures = [[account.mixture(no_load) for account in pair] for pair in self._accounts]
        self.sides: Floats = np.array(
            [np.max([mixture.sides for mixture in level], axis=0) for level in self._mixtures]
        )
        """Variance of each side's share below, (levels, 2)."""
        independent = (self._p * (1 - self._p))[:, None] / self.sides
        rarer = np.minimum(self._p, 1 - self._p) / UNEQUAL
        self._freedom = np.maximum(independent.sum(axis=1) * rarer, FEWEST_FREEDOM).tolist()

    def chance(self, gap: Floats) -> Floats:
        """Two-sided probability of a gap at least as large, (levels,)."""
        found = [
            max(mixture.chance(size, freedom) for mixture in level)
            for size, level, freedom in zip(
                gap.tolist(), self._mixtures, self._freedom, strict=True
            )
        ]
        certain: Floats = np.minimum(1.0, np.array(found))
        return certain

    def at(self, chance: float) -> Floats:
        """Gap with this probability, (levels,)."""
        return bisect(lambda gap: self.chance(gap) > chance, len(self._mixtures), _STEPS_OF_CHANCE)


class _Mixture(NamedTuple):
    """Possible standard deviations of a gap, and the expected variance of each side's share."""

    weight: Floats
    deviation: Floats
    sides: tuple[float, float]

    def chance(self, gap: float, freedom: float) -> float:
        # Shares that do not vary at all have a deviation of 0: no gap is then the only one that chance makes.
        certain = np.full(self.deviation.shape, 0.0 if gap == 0 else -np.inf)
        scaled = np.divide(-gap, self.deviation, out=certain, where=self.deviation > 0)
        return float((self.weight * 2 * student_share(scaled, freedom)).sum())


class _Account(NamedTuple):
    """Evidence about a load (taus, shares), and the implied variance of each side's share."""

    fits: Floats
    variances: tuple[Floats, Floats]

    def mixture(self, no_load: float) -> _Mixture:
        weight = dependence.weights(self.fits, no_load)
        one, other = self.variances
        sides = (float((weight * one).sum()), float((weight * other).sum()))
        return _Mixture(*_gathered(weight.ravel(), (one + other).ravel()), sides)


def _gathered(weight: Floats, variance: Floats) -> tuple[Floats, Floats]:
    """Weights and standard deviations, with similar ones merged into their mean variance."""
    size = np.log(variance)
    reach = max(float(np.ptp(size)), 1e-9)
    place = np.minimum(((size - size.min()) / reach * _SIZES).astype(np.intp), _SIZES - 1)
    weights: Floats = np.bincount(place, weights=weight, minlength=_SIZES).astype(np.float64)
    some = weights > 0
    means = np.bincount(place, weights=weight * variance, minlength=_SIZES)[some] / weights[some]
    return weights[some], np.sqrt(means)


def _fits(layouts: Sequence[dependence.BlockGrid], series: Sequence[Floats]) -> Floats:
    """Evidence of both sides about one load."""
    one, other = (dependence.evidence(*pair) for pair in zip(layouts, series, strict=True))
    return one + other


def _variances(
    layouts: Sequence[dependence.BlockGrid], dilution: float, scale: float
) -> tuple[Floats, Floats]:
    one, other = (scale * dependence.mean_variance(layout, dilution) for layout in layouts)
    return one, other


def bisect(holds: Callable[[Floats], Flags], count: int, steps: int = _STEPS) -> Floats:
    """Largest gap in (0, 1) for which ``holds`` is true, for each level, by bisection."""
    low, high = np.zeros(count), np.ones(count)
    for _ in range(steps):
        middle = (low + high) / 2
        yes = holds(middle)
        low, high = np.where(yes, middle, low), np.where(yes, high, middle)
    return low
