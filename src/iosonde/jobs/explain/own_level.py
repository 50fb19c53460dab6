"""What a run's own amounts let expect of its performance, where its history shows that they matter.

Growing output or another input of the same program is no slowness. Asked are amounts (ranks, bytes, opens, ...) of the
run that are at least ``RATIO`` away from the usual and go with performance: over the history (rank correlation of at
least ``LEAST``, and ``SURE`` beyond chance), or because at least ``FEWEST`` runs with such an amount, to a factor of
``ALIKE``, were faster or slower than the others (mean rank, as sure). The amount of the largest correlation gives the
expected rate ``f(a)``::

    log f(a) = median{log y_i - b (log a_i - log a) : runs of the history with an amount like a}

with ``b`` the slope between the medians of the lowest and of the highest third of the amounts (Tukey's resistant line).
Each run is then set beside the one explained: ``y_i f(a) / f(a_i)``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.jobs.explain.own_doing import OwnChange, amounts
from iosonde.stats.midranks import midranks, rank_correlation

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats, Places
    from iosonde.model.jobs import JobTable

RATIO = 1.25
ALIKE = 1.5
LEAST = 0.5
SURE = 2.6
"""Distance of a rank correlation, or of a mean rank, from what chance makes, in standard errors."""
FEWEST = 3
"""Least number of runs with an amount like a run's, or so many nearest ones."""
FEWEST_KNOWN = 5
MOST_PLACES = 200
"""Amounts for which the expectation is computed; between them it is drawn straight."""


class OwnLevel(NamedTuple):
    """The amount that the run's performance depends on, and performances as if all runs had the run's amount."""

    change: OwnChange
    y: Floats
    """(n,) in the unit of the performance, of all rows of the table; NaN where the amount is not known."""


def own_level(table: JobTable, row: int, others: Places, y: Floats) -> OwnLevel | None:
    """The performance ``y`` (n,) of all runs as with the run's own amount; None if its amounts are usual.

    Missing data: runs without the amount or without performance are no history of it.
    """
    best: tuple[float, OwnLevel] | None = None
    for what, (unit, column) in amounts(table).items():
        known = others[(column[others] > 0) & (y[others] > 0)]
        value = float(column[row])
        if not value > 0 or len(known) < FEWEST_KNOWN:
            continue
        a, speed = np.log(column[known]), np.log(y[known])
        usual = float(np.median(a))
        if abs(np.log(value) - usual) < np.log(RATIO):
            continue
        rho = abs(float(rank_correlation(speed, a[:, None])[0]))
        with_it = rho >= max(LEAST, SURE / np.sqrt(len(known) - 1))
        if not with_it and not _such_runs_differ(np.abs(a - np.log(value)), speed):
            continue
        if best is None or rho > best[0]:
            change = OwnChange(what, unit, value, float(np.exp(usual)), len(known))
            best = rho, OwnLevel(change, _beside(column, y, a, speed, value))
    return None if best is None else best[1]


def _such_runs_differ(apart: Floats, speed: Floats) -> bool:
    """True if runs with an amount like the run's are faster or slower than the others; ``apart``: in logarithms."""
    alike = apart <= np.log(ALIKE)
    m, rest = int(alike.sum()), int((~alike).sum())
    if min(m, rest) < FEWEST:
        return False
    ranks = midranks(speed[:, None])[:, 0]
    error = np.sqrt(rest * (len(speed) + 1) / (12 * m))
    return bool(abs(ranks[alike].mean() - (len(speed) + 1) / 2) >= SURE * error)


def _beside(column: Floats, y: Floats, a: Floats, speed: Floats, value: float) -> Floats:
    """``y`` (n,) of runs with ``column`` (n,) as with ``value``, from the history ``a``, ``speed`` (logarithms)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        every = np.log(np.where(column > 0, column, np.nan))
    places = np.unique(np.quantile(a, np.linspace(0, 1, MOST_PLACES), method="nearest"))
    at = np.union1d(places, [np.log(value)])
    slope = _slope(a, speed)
    expected = np.empty(len(at))
    for i, place in enumerate(at):
        apart = np.abs(a - place)
        near = apart <= max(np.log(ALIKE), float(np.partition(apart, FEWEST - 1)[FEWEST - 1]))
        expected[i] = np.median(speed[near] - slope * (a[near] - place))
    mine = expected[np.searchsorted(at, np.log(value))]
    return np.asarray(y * np.exp(mine - np.interp(every, at, expected)))


def _slope(a: Floats, speed: Floats) -> float:
    """Slope of the resistant line."""
    low, high = a <= np.quantile(a, 1 / 3), a >= np.quantile(a, 2 / 3)
    run = float(np.median(a[high]) - np.median(a[low]))
    return float(np.median(speed[high]) - np.median(speed[low])) / run if run > 0 else 0.0
