"""The core's statistics against SciPy and against their definitions."""

import numpy as np
import pytest
from scipy import stats

from iosonde import _core

NULL = -(2**63)


@pytest.mark.parametrize("q", [0.25, 0.5, 0.75, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("n", [6, 13, 36, 60, 72, 368, 600, 3600, 14_400, 100_000])
def test_ranks_are_the_binomial_ones(n: int, q: float) -> None:
    found = _core.quantile_ranks(n, q)
    if n < _core.minimum_count(q):
        assert found is None
        return
    cumulative = stats.binom(n, q).cdf(np.arange(n))
    lower = int(np.searchsorted(cumulative, 0.025, side="right"))
    upper = int(np.searchsorted(cumulative, 0.975, side="left")) + 1
    assert found == (lower, int(np.ceil(q * n - 1e-9)), upper)


@pytest.mark.parametrize("q", [0.5, 0.95, 0.99])
@pytest.mark.parametrize("n", [6, 60, 600])
def test_intervals_cover_the_truth(n: int, q: float) -> None:
    ranks = _core.quantile_ranks(n, q)
    if ranks is None:
        assert n < _core.minimum_count(q)
        return
    random = np.random.default_rng(5)
    values = np.sort(random.lognormal(0.0, 1.0, (4000, n)), axis=1)
    truth = float(stats.lognorm(s=1.0).ppf(q))
    covered = np.mean((values[:, ranks[0] - 1] <= truth) & (truth <= values[:, ranks[2] - 1]))
    assert covered >= 0.94


def test_trailing_median_of_a_step() -> None:
    starts = np.arange(20, dtype=np.int64)
    medians = np.where(starts < 10, 100, 300).astype(np.int64)
    medians[3] = NULL
    baseline = np.frombuffer(_core.trailing_median(starts, medians, 1000))
    assert np.isnan(baseline[:6]).all()
    assert (baseline[6:19] == 100).all()


def test_onset_is_the_first_slow_sample() -> None:
    service = np.array([100] * 50 + [300] * 20, dtype=np.int64)
    due = np.arange(70, dtype=np.int64)
    assert _core.onset(due, service, 100.0, 3.0) == 50
    assert _core.onset(due[:50], service[:50], 100.0, 3.0) is None


def test_wrong_lengths_are_refused() -> None:
    two, three = np.zeros(2, dtype=np.int64), np.zeros(3, dtype=np.int64)
    with pytest.raises(ValueError, match="expected equal lengths"):
        _core.trailing_median(two, three, 1)
    with pytest.raises(ValueError, match="expected equal lengths"):
        _core.onset(two, three, 1.0, 2.0)
