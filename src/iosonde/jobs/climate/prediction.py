"""Accuracy of predictions of performance from metrics, judged on later runs.

Places of one day resemble each other. Random folds put some of them into the training and ask for the others, so
they measure how well a model remembers the climate, not how well it predicts (``leaks``). Only a split in time
says what a prediction is worth, and only beside what the recent median says without any metric.
Source: docs/methods/umami.md; Isakov et al. SC 2022 (what a model's error consists of).
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from iosonde.model.arrays import Floats, Ints, Places


CLIMATE_DAYS = 14.0
"""Window of the recent median."""
CLIMATE_FEWEST = 3
"""Least number of earlier values of the stratum for a recent median."""
FOLDS = 3
FIRST_SHARE = 0.5
"""Share of the rows that the first time split learns from."""
TREES, LEAVES, RATE = 60, 15, 0.1
BINS = 63
"""Levels of a metric for trees: more cost time and change no R**2 by .02."""
FEWEST = 40
"""Least number of rows for a validation."""
LEAK = 0.05
"""Least excess of R**2 of random folds over a time split that counts as a leak."""


@dataclass(frozen=True)
class Score:
    """Accuracy on ``n`` rows that were not learned from.

    ``r2``: 1 - squared error / squared distance to the mean of these rows (below 0: worse than it); ``mae``: mean
    absolute error in the unit of y.
    """

    n: int
    r2: float
    mae: float


@dataclass(frozen=True)
class Validation:
    """Scores, all on later rows than were learned from, except ``random``.

    ``strata``: the stratum's median so far, no metric; ``climate``: its median of the last ``CLIMATE_DAYS``;
    ``metrics``: metrics and stratum; ``both``: and the climate; ``random``: ``metrics`` in random folds.
    """

    strata: Score
    climate: Score
    metrics: Score
    both: Score
    random: Score

    @property
    def leaks(self) -> bool:
        """True if random folds promise more than a time split keeps."""
        return self.random.r2 - self.metrics.r2 > LEAK

    @property
    def useful(self) -> bool:
        """True if metrics predict better than the recent median alone."""
        return self.both.mae < self.climate.mae and self.both.r2 > self.climate.r2


def validate(
    y: Floats, metrics: Floats, at_days: Floats, strata: Ints, seed: int
) -> Validation | None:
    """Validate a prediction of ``y`` (n,) from ``metrics`` (n, p) at ``at_days`` (n,), any order.

    ``strata`` (n,): which rows are comparable, from 0. ``seed`` draws the random folds. Missing data: rows without
    y or time are left out; missing metrics are the model's to deal with. None below ``FEWEST`` rows.
    Learns from all rows before each of ``FOLDS`` stretches of the last part (``FIRST_SHARE``); rows of the same
    instant are never on both sides.
    """
    known = np.flatnonzero(np.isfinite(y) & np.isfinite(at_days))
    if len(known) < FEWEST:
        return None
    rows = known[np.argsort(at_days[known], kind="stable")]
    y, at, strata = y[rows], at_days[rows], strata[rows]
    x = np.where(np.isfinite(metrics[rows]), metrics[rows], np.nan)
    recent = climate_medians(y, at, strata)
    plain = np.column_stack([x, strata])
    later = _later(at)
    shuffled = np.array_split(np.random.default_rng(seed).permutation(len(y)), FOLDS)
    mixed = [(np.setdiff1d(np.arange(len(y)), fold), fold) for fold in shuffled]
    usual = [(test, _usual(y[learn], strata[learn], strata[test])) for learn, test in later]
    fallback = [
        (test, np.where(np.isnan(recent[test]), alone, recent[test])) for test, alone in usual
    ]
    return Validation(
        _score(y, usual),
        _score(y, fallback),
        _score(y, _predicted(plain, y, later)),
        _score(y, _predicted(np.column_stack([plain, recent]), y, later)),
        _score(y, _predicted(plain, y, mixed)),
    )


def climate_medians(y: Floats, at_days: Floats, strata: Ints, days: float = CLIMATE_DAYS) -> Floats:
    """Median of the stratum's ``y`` over the last ``days`` before each row, NaN below ``CLIMATE_FEWEST`` values.

    Shapes: (n,) each, ``at_days`` ascending. Only rows that are strictly earlier count. NaN in y is left out.
    """
    medians = np.full(len(y), np.nan)
    for stratum in np.unique(strata):
        rows = np.flatnonzero((strata == stratum) & ~np.isnan(y))
        asked = np.flatnonzero(strata == stratum)
        first = np.searchsorted(at_days[rows], at_days[asked] - days, side="left")
        end = np.searchsorted(at_days[rows], at_days[asked], side="left")
        for row, a, b in zip(asked, first, end, strict=True):
            if b - a >= CLIMATE_FEWEST:
                medians[row] = np.median(y[rows[a:b]])
    return medians


def _later(at: Floats) -> list[tuple[Places, Places]]:
    """Time splits: all rows before a span, and the span. ``at`` ascends."""
    n = len(at)
    places = np.linspace(round(FIRST_SHARE * n), n, FOLDS + 1).round().astype(np.intp)
    edges = [int(np.searchsorted(at, at[place], side="left")) for place in places[:-1]] + [n]
    return [(np.arange(a), np.arange(a, b)) for a, b in pairwise(edges) if 0 < a < b]


def _usual(y: Floats, strata: Ints, asked: Ints) -> Floats:
    """Median of each stratum so far, or of all rows if it has none."""
    usual = np.full(len(asked), np.median(y))
    for stratum in np.unique(strata):
        usual[asked == stratum] = np.median(y[strata == stratum])
    return usual


def _predicted(
    x: Floats, y: Floats, splits: Sequence[tuple[Places, Places]]
) -> list[tuple[Places, Floats]]:
    from sklearn.ensemble import (  # type: ignore[import-untyped, unused-ignore]
        HistGradientBoostingRegressor,
    )
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped, unused-ignore]

    def ask(split: tuple[Places, Places]) -> tuple[Places, Floats]:
        learn, test = split
        model = HistGradientBoostingRegressor(
            max_iter=TREES,
            max_leaf_nodes=LEAVES,
            learning_rate=RATE,
            max_bins=BINS,
            early_stopping=False,
            random_state=0,
        )
        told = ~np.isnan(x[learn]).all(axis=0)  # a column that nobody knew yet teaches nothing
        with threadpool_limits(1, "openmp"):  # a limit of this thread alone
            model.fit(x[np.ix_(learn, told)], y[learn])
            guess = model.predict(x[np.ix_(test, told)])
        return test, np.asarray(guess, dtype=np.float64)

    # Trees this small wait for threads longer than they work: whole models go side by side instead.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(ask, splits))


def _score(y: Floats, predicted: Sequence[tuple[Places, Floats]]) -> Score:
    if not predicted:
        return Score(0, float("nan"), float("nan"))
    truth = np.concatenate([y[rows] for rows, _ in predicted])
    error = truth - np.concatenate([guess for _, guess in predicted])
    spread = float(((truth - truth.mean()) ** 2).sum())
    r2 = 1 - float((error**2).sum()) / spread if spread > 0 else float("nan")
    return Score(len(truth), r2, float(np.abs(error).mean()))
