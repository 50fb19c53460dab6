"""The best cut beside all cuts."""

from itertools import combinations, pairwise

import numpy as np
import pytest

from iosonde.stats.partition import best_cuts


@pytest.mark.parametrize("seed", range(30))
def test_it_is_the_best_of_all_cuts(seed):
    random = np.random.default_rng(seed)
    n, shortest = int(random.integers(1, 10)), int(random.integers(1, 4))
    values = random.standard_normal(n) + 2 * (np.arange(n) >= random.integers(0, n + 1))
    penalty = float(random.uniform(0.1, 2))

    def distances(a, b):
        return float(((values[a:b] - values[a:b].mean()) ** 2).sum())

    def total(cuts):
        bounds = [0, *cuts, n]
        return sum(distances(a, b) for a, b in pairwise(bounds)) + penalty * len(cuts)

    every = [
        cuts
        for k in range(n)
        for cuts in combinations(range(1, n), k)
        if min(b - a for a, b in pairwise([0, *cuts, n])) >= shortest
    ]

    def cost(starts, end):
        return np.array([distances(start, end) for start in starts])

    found = best_cuts(cost, np.arange(n) + 1 - shortest, penalty)
    if not every:
        assert found == []
    else:
        assert total(found) == pytest.approx(min(map(total, every)))


def test_too_short_a_series_has_no_cut():
    def cost(starts, end):
        return np.zeros(len(starts))

    assert best_cuts(cost, np.array([], dtype=np.intp), 1.0) == []
    assert best_cuts(cost, np.array([-3, -2]), 1.0) == []
