"""Forward selection of metrics that explain a history of performance, whatever the shape of the relation.

With ``z`` the standardised ranks of a metric, each metric enters with two columns, ``z`` and ``z**2 - 1``:
least squares on the ranks of y then also sees what hurts only beyond a threshold, or at both ends. Metrics
enter while ``n ln RSS + m (2 ln n + 2 ln p)`` falls, for ``m`` of ``p`` metrics: two coefficients each, and the
price of having chosen the best of p.
Sources: Schwarz 1978 (the price of a coefficient); Foster and George 1994 (of the choice); docs/methods/umami.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from iosonde.stats.midranks import midranks

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats, Places


MOST_MISSING = 0.3
"""Largest share of missing rows of a metric in use."""
FEWEST = 8
"""Least number of rows for a selection."""
SAME_AXIS = 1e-6
"""Collinearity: a metric whose column keeps less than this share of its length adds nothing."""
ROUNDING = 1e-9
"""Gains closer than this are equal: the first metric enters."""
ALONE = 0.25
"""Threshold shape: the flat part changes by less than this share of the other."""
CLEAR = 2.0
"""Standard errors by which both ends must differ from the middle for a U."""


class Shape(StrEnum):
    """Shape of the relation of y with a metric."""

    MONOTONE = "monotone"
    THRESHOLD = "threshold"
    U = "U"


@dataclass(frozen=True)
class Step:
    """A selected metric.

    ``gain``: share of the variance of y's ranks that it adds (delta R**2); ``sign``: +1 where y is higher
    at the metric's upper end than at its lower, for a U where it is higher at the ends than in the middle.
    """

    metric: int
    gain: float
    sign: int
    shape: Shape


@dataclass(frozen=True)
class Selection:
    """``alone`` (p,): R**2 of each metric by itself, NaN if left out; ``steps``: the selected ones.

    ``first`` is the best metric even where the rule lets none enter; None where there is none.
    """

    n: int
    alone: Floats
    steps: tuple[Step, ...]

    @property
    def first(self) -> int | None:
        """Metric that explains most by itself."""
        if np.isnan(self.alone).all():
            return None
        return int(np.flatnonzero(self.alone >= np.nanmax(self.alone) - ROUNDING)[0])


def select(y: Floats, metrics: Floats, most: int = 8) -> Selection:
    """Select the columns of ``metrics`` (n, p) that explain ``y`` (n,).

    Missing data: rows without y are left out. A metric is ranked among its known values, a missing one
    stands in the middle (it speaks neither for nor against); metrics of which more than ``MOST_MISSING``
    is missing, or that never change, are left out.
    """
    known = np.isfinite(y)
    y, x = y[known], np.where(np.isfinite(metrics[known]), metrics[known], np.nan)
    n, p = x.shape
    alone = np.full(p, np.nan)
    if n < FEWEST or p == 0 or y.min() == y.max():
        return Selection(n, alone, ())
    usable, z = _scores(x)
    target = _standard(midranks(y[:, None]))[:, 0] / np.sqrt(n)
    first, second = _standard(z), _standard(z**2 - 1)
    rest, gains = target, _gains(first, second, target)
    alone[usable] = gains
    price = 2 * np.log(n) + 2 * np.log(max(2, len(usable)))
    chosen: list[tuple[int, float]] = []
    while len(usable) and len(chosen) < most and n > 2 * len(chosen) + 4:
        best = int(np.flatnonzero(gains >= gains.max() - ROUNDING)[0])
        left = float(rest @ rest)
        if n * np.log(max(1e-12, 1 - gains[best] / left)) + price >= 0:
            break
        chosen.append((best, float(gains[best])))
        for axis in _axes(first[:, best], second[:, best]):
            rest = rest - axis * (axis @ rest)
            first = first - np.outer(axis, axis @ first)
            second = second - np.outer(axis, axis @ second)
        gains = _gains(first, second, rest)
        gains[[place for place, _ in chosen]] = -np.inf
    steps = _described(z, target, chosen)
    return Selection(n, alone, tuple(_renamed(step, usable) for step in steps))


def _scores(x: Floats) -> tuple[Places, Floats]:
    """Usable columns, and their standardised ranks with 0 for missing values."""
    missing = np.isnan(x)
    ranks = midranks(x)
    with np.errstate(invalid="ignore"):
        several = np.fmax.reduce(ranks, axis=0) > np.fmin.reduce(ranks, axis=0)
    usable = np.flatnonzero((missing.mean(axis=0) <= MOST_MISSING) & several)
    ranks, missing = ranks[:, usable], missing[:, usable]
    centred = np.where(missing, 0.0, ranks - np.nanmean(ranks, axis=0))
    deviation = np.sqrt((centred**2).sum(axis=0) / (~missing).sum(axis=0))
    z: Floats = centred / deviation
    z[missing] = np.nan
    return usable, z


def _standard(columns: Floats) -> Floats:
    """Centred columns of length sqrt(n); missing values lie in the middle, constant columns are 0."""
    known = ~np.isnan(columns)
    mean = np.where(known, columns, 0.0).sum(axis=0) / known.sum(axis=0)
    centred = np.where(known, columns - mean, 0.0)
    size = np.sqrt((centred**2).mean(axis=0))
    standard: Floats = centred / np.where(size > 1e-9, size, np.inf)
    return standard


def _gains(first: Floats, second: Floats, rest: Floats) -> Floats:
    """Decrease of the squared length of ``rest`` by each pair of columns."""
    n = len(rest)
    aa, bb = (first**2).sum(axis=0), (second**2).sum(axis=0)
    ab = (first * second).sum(axis=0)
    ay, by = first.T @ rest, second.T @ rest
    use_a = aa > SAME_AXIS * n
    slope = np.where(use_a, ab / np.where(use_a, aa, 1.0), 0.0)
    own = bb - slope * ab
    use_b = own > SAME_AXIS * n
    gain = np.where(use_a, ay**2 / np.where(use_a, aa, 1.0), 0.0)
    gain += np.where(use_b, (by - slope * ay) ** 2 / np.where(use_b, own, 1.0), 0.0)
    return np.asarray(gain)


def _axes(one: Floats, other: Floats) -> list[Floats]:
    """Orthonormal basis of two columns."""
    axes: list[Floats] = []
    for column in (one, other):
        rest = column
        for axis in axes:
            rest = rest - axis * (axis @ rest)
        size = float(np.sqrt(rest @ rest))
        if size > np.sqrt(SAME_AXIS * len(one)):
            axes.append(rest / size)
    return axes


def _described(z: Floats, target: Floats, chosen: list[tuple[int, float]]) -> list[Step]:
    """Sign and shape of each chosen metric, with the effect of the others removed."""
    pairs = {
        place: (_standard(z[:, [place]]), _standard(z[:, [place]] ** 2 - 1)) for place, _ in chosen
    }
    columns = [column for place, _ in chosen for column in pairs[place]]
    steps: list[Step] = []
    if not columns:
        return steps
    fit, *_ = np.linalg.lstsq(np.hstack(columns), target, rcond=None)
    rest = target - np.hstack(columns) @ fit
    for order, (place, gain) in enumerate(chosen):
        own = np.hstack(pairs[place]) @ fit[2 * order : 2 * order + 2]
        sign, shape = _shape(z[:, place], rest + own)
        steps.append(Step(place, gain, sign, shape))
    return steps


def _shape(z: Floats, y: Floats) -> tuple[int, Shape]:
    """Sign and shape from the means of y over the thirds of a metric."""
    known = ~np.isnan(z)
    z, y = z[known], y[known]
    lower, upper = np.quantile(z, [1 / 3, 2 / 3])
    parts = [y[z <= lower], y[(z > lower) & (z <= upper)], y[z > upper]]
    if min(map(len, parts)) < 2:
        return int(np.sign(np.dot(z, y))) or 1, Shape.MONOTONE
    low, middle, high = (float(part.mean()) for part in parts)
    errors = [float(part.var(ddof=1)) / len(part) for part in parts]
    left, right = middle - low, high - middle
    clear_left = abs(left) > CLEAR * np.sqrt(errors[0] + errors[1])
    clear_right = abs(right) > CLEAR * np.sqrt(errors[1] + errors[2])
    if clear_left and clear_right and left * right < 0:
        return (1 if right > 0 else -1), Shape.U
    flat, steep = sorted((abs(left), abs(right)))
    shape = Shape.THRESHOLD if flat < ALONE * steep else Shape.MONOTONE
    return (1 if high > low else -1), shape


def _renamed(step: Step, usable: Places) -> Step:
    return Step(int(usable[step.metric]), step.gain, step.sign, step.shape)
