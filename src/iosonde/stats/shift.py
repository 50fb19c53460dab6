"""By what ratio the quantiles of one sample lie above those of another, and how sure that is.

With ``F_a``, ``F_b`` the shares of samples at or below a latency, and ``Q_a``, ``Q_b`` the nearest-rank
quantiles, "b is higher at level p" means that some latency exists which more of a's samples than of b's
stay below. With ``s_a**2``, ``s_b**2`` the variances of these shares and ``s**2`` their sum, the interval ::

    Q_b(p - c s_b**2 / s) / Q_a(p + c s_a**2 / s)  ..  Q_b(p + c s_b**2 / s) / Q_a(p - c s_a**2 / s)

excludes 1 exactly when the shares differ by more than ``c s`` at the latency where their mean, weighted by
precision, is ``p``. So interval and p value are one thing, need no density and no resampling, hold for
distributions with two modes, and are the same every time. ``s`` comes from ``stats.dependence``.
Source: Woodruff 1952 for one quantile; docs/methods/compare.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.stats import dependence
from iosonde.stats.tails import normal_density, normal_quantile, normal_share

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LEVELS: tuple[float, ...] = (0.25, 0.50, 0.75, 0.90, 0.95, 0.99)
FEWEST = 20
"""Fewer samples on a side say nothing about how they depend on each other."""
_POWER_80 = 0.8416
_STEPS = 50


@dataclass(frozen=True)
class Period:
    """One side of a comparison: (samples,) each, ``at_s`` (s) ascending, positive ``weight``.

    ``value`` in any unit, finite; samples without a value are left out by the caller.
    """

    at_s: Floats
    value: Floats
    weight: Floats


@dataclass(frozen=True)
class Shift:
    """b / a at each level; (levels,) each. NaN = too few samples.

    ``lower``, ``upper``: 95 % interval; ``same_lower``, ``same_upper``: the interval that an equivalence
    test looks at; ``smallest``: the ratio above 1 that is found in 80 % of cases at 5 %;
    ``effective_a``, ``effective_b``: as many independent samples would know the share below as well.
    """

    ratio: Floats
    lower: Floats
    upper: Floats
    p_value: Floats
    same_lower: Floats
    same_upper: Floats
    smallest: Floats
    quantile_a: Floats
    quantile_b: Floats
    effective_a: Floats
    effective_b: Floats


def shift(
    a: Period, b: Period, levels: tuple[float, ...] = LEVELS, *, same_level: float = 0.90
) -> Shift:
    """Compare two periods. ``same_level``: level of the interval of the equivalence test.

    Raises ValueError for an empty level list. Below ``FEWEST`` samples on a side all is NaN.
    """
    if not levels:
        raise ValueError("no levels")
    p = np.array(levels)
    if min(len(a.value), len(b.value)) < FEWEST:
        return _unknown(p)
    sides = (_Side(a), _Side(b))
    gaps = _Gaps(sides, p)
    return _shift(sides, gaps, p, same_level)


class _Side:
    """A period, sorted."""

    def __init__(self, period: Period) -> None:
        self.period = period
        self.blocks = dependence.blocks_of(period.at_s, period.weight)
        values, place = np.unique(period.value, return_inverse=True)
        each = np.bincount(place, weights=self.blocks.weight)
        self.sorted: Floats = values
        self.below: Floats = np.cumsum(each)
        self.ranks: Floats = (self.below - each / 2)[place]
        """Share below, equal values half counted."""

    def quantile(self, p: Floats) -> Floats:
        """Nearest ranks; NaN outside (0, 1)."""
        place = np.searchsorted(self.below, np.clip(p, 0, 1) - 1e-12)
        found = self.sorted[np.minimum(place, len(self.sorted) - 1)]
        inside: Floats = np.where((p > 0) & (p < 1), found, np.nan)
        return inside


class _Gaps:
    """How far the two shares below a latency may lie apart by chance, for every level.

    Two accounts of the load are kept and the more careful one counts: that of the indicator "below the
    quantile" itself, and that of the normal scores of all latencies, diluted to what a load that moves
    all of them shows at this level (it sees a weak load better).
    """

    def __init__(self, sides: tuple[_Side, _Side], p: Floats) -> None:
        taus = dependence.time_constants([side.blocks for side in sides])
        layouts = [dependence.layout_of(side.blocks, taus) for side in sides]
        spread = p * (1 - p)
        dilution = normal_density(normal_quantile(p)) ** 2 / spread
        scores = _common(layouts, [normal_quantile(side.ranks) for side in sides])
        self._accounts: list[list[_Account]] = []
        for level, diluted, scale in zip(p, dilution.tolist(), spread, strict=True):
            below: list[Floats] = [
                (side.period.value <= side.quantile(level)).astype(np.float64) for side in sides
            ]
            self._accounts.append(
                [
                    _account(layouts, _common(layouts, below), 1.0, scale),
                    _account(layouts, scores, diluted, scale),
                ]
            )
        self.sides: Floats = np.array(
            [np.max([account.sides for account in level], axis=0) for level in self._accounts]
        )
        """Variance of each side's share below, (levels, 2)."""

    def chance(self, gap: Floats) -> Floats:
        """Two-sided probability of a gap at least as large, (levels,)."""
        found = [
            max(account.chance(size) for account in level)
            for size, level in zip(gap.tolist(), self._accounts, strict=True)
        ]
        certain: Floats = np.minimum(1.0, np.array(found))
        return certain

    def at(self, chance: float) -> Floats:
        """The gap that has this probability, (levels,)."""
        return _bisect(lambda gap: self.chance(gap) > chance, len(self._accounts))


class _Account(NamedTuple):
    """A mixture of what the variance of a gap may be, and the expected variance of each side's share."""

    weight: Floats
    spread: Floats
    sides: tuple[float, float]

    def chance(self, gap: float) -> float:
        return float((self.weight * 2 * normal_share(-gap / self.spread)).sum())


def _common(layouts: Sequence[dependence.Layout], series: Sequence[Floats]) -> Floats:
    """What the grid weighs when both sides have the same load."""
    fits = [dependence.evidence(*pair) for pair in zip(layouts, series, strict=True)]
    return dependence.weights(fits[0] + fits[1])


def _account(
    layouts: Sequence[dependence.Layout], weight: Floats, dilution: float, scale: float
) -> _Account:
    one, other = (scale * dependence.mean_variance(layout, dilution) for layout in layouts)
    sides = (float((weight * one).sum()), float((weight * other).sum()))
    return _Account(weight.ravel(), np.sqrt(one + other).ravel(), sides)


def _shift(sides: tuple[_Side, _Side], gaps: _Gaps, p: Floats, same_level: float) -> Shift:
    a, b = sides
    part = gaps.sides / gaps.sides.sum(axis=1, keepdims=True)

    def low(gap: Floats) -> Floats:
        return b.quantile(p - gap * part[:, 1]) / a.quantile(p + gap * part[:, 0])

    def high(gap: Floats) -> Floats:
        return b.quantile(p + gap * part[:, 1]) / a.quantile(p - gap * part[:, 0])

    with np.errstate(divide="ignore", invalid="ignore"):
        qa, qb = a.quantile(p), b.quantile(p)
        up = _bisect(lambda gap: low(gap) > 1, len(p))
        down = _bisect(lambda gap: high(gap) < 1, len(p))
        usual, same = gaps.at(0.05), gaps.at(1 - same_level)
        needed = usual + _POWER_80 * gaps.at(0.3173)
        spread = p * (1 - p)
        known = ~np.isnan(low(usual)) & ~np.isnan(high(usual))
        return Shift(
            ratio=qb / qa,
            lower=low(usual),
            upper=high(usual),
            p_value=np.where(known, gaps.chance(np.maximum(up, down)), 1.0),
            same_lower=low(same),
            same_upper=high(same),
            smallest=high(needed) / (qb / qa),
            quantile_a=qa,
            quantile_b=qb,
            effective_a=spread / gaps.sides[:, 0],
            effective_b=spread / gaps.sides[:, 1],
        )


def _bisect(holds: Callable[[Floats], NDArray[np.bool_]], count: int) -> Floats:
    """The largest gap in (0, 1) for which it holds, for each level; it holds below and not above."""
    low, high = np.zeros(count), np.ones(count)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        yes = holds(middle)
        low, high = np.where(yes, middle, low), np.where(yes, high, middle)
    return low


def _unknown(p: Floats) -> Shift:
    nothing = np.full(len(p), np.nan)
    return Shift(*(nothing.copy() for _ in Shift.__dataclass_fields__))
