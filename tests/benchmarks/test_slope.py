"""The interval of a soak's slope holds what it promises, though the errors hang together."""

import math

import numpy as np
import pytest

from benchmarks.soak import slope

SERIES = 300
POINTS = 240
TRUTH = 2.0


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_the_interval_covers_the_truth_as_often_as_it_says(rho: float) -> None:
    random = np.random.default_rng(7)
    times = np.arange(POINTS) / 720
    errors = np.zeros((SERIES, POINTS))
    for i in range(1, POINTS):
        errors[:, i] = rho * errors[:, i - 1] + random.normal(size=SERIES)
    fits = [slope.fit(times, TRUTH * times + noise) for noise in errors]
    covered = np.mean([fit.lower <= TRUTH <= fit.upper for fit in fits])
    # Four standard errors of a share of 300.
    assert covered == pytest.approx(slope.LEVEL, abs=0.05)
    assert np.mean([fit.value for fit in fits]) == pytest.approx(TRUTH, abs=2)


def test_few_points_say_nothing_and_a_straight_line_everything() -> None:
    few = slope.fit(np.arange(5.0), np.arange(5.0))
    assert math.isnan(few.value)
    assert few.upper == math.inf
    exact = slope.fit(np.arange(20.0), 3 * np.arange(20.0))
    assert exact.lower == pytest.approx(3)
    assert exact.upper == pytest.approx(3)
