"""Motifs from counters, and what a prediction is worth when time is respected."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from iosonde.jobs.climate.clusters import (
    UNCLUSTERED,
    adjusted_rand,
    clusters,
    log_amounts,
    log_percent,
)
from iosonde.jobs.climate.prediction import FEWEST, climate_medians, validate

NAN = float("nan")


def jobs(seed, each=60, strange=20):
    """Counters (bytes read, bytes written, opens) of three motifs, and jobs like no other."""
    random = np.random.default_rng(seed)
    typical = np.array([[1e12, 1e3, 2e3], [1e3, 1e12, 2e3], [1e9, 1e9, 1e6]])
    truth = np.repeat(np.arange(3), each)
    counters = typical[truth] * random.lognormal(0, 0.3, (3 * each, 3))
    alone = 10 ** random.uniform(0, 15, (strange, 3))
    return np.vstack([counters, alone]), np.append(truth, np.full(strange, UNCLUSTERED))


def test_motifs_are_found_and_strange_jobs_left_out():
    counters, truth = jobs(1)
    found = clusters(log_amounts(counters))
    assert len(found.sizes) == 3
    assert adjusted_rand(found.label[:180], truth[:180]) > 0.99
    assert (found.label[180:] == UNCLUSTERED).mean() > 0.8
    assert found.unclustered == pytest.approx((found.label == UNCLUSTERED).mean())
    assert found.sizes.tolist() == sorted(found.sizes.tolist(), reverse=True)
    assert (np.bincount(found.label[found.label >= 0]) == found.sizes).all()


def test_jobs_with_gaps_are_unclustered_and_do_no_harm():
    counters, _ = jobs(2)
    counters[5, 1], counters[6, 0] = NAN, -1.0
    found = clusters(log_amounts(counters))
    assert found.label[5] == found.label[6] == UNCLUSTERED
    assert len(found.sizes) == 3


def test_features_of_parts_do_not_know_the_size_of_a_job():
    parts = np.array([[1.0, 99.0], [1e-9, 99e-9], [1e300, 99e300], [0.0, 0.0]])
    features = log_percent(parts)
    assert features[:3] == pytest.approx(np.tile(np.log10([2.0, 100.0]), (3, 1)))
    assert features[3].tolist() == [0.0, 0.0]
    assert np.isnan(log_percent(np.array([[1.0, NAN]]))).any()


@pytest.mark.parametrize("n", [0, 1, 5])
def test_too_few_jobs_have_no_motif(n):
    found = clusters(np.zeros((n, 2)))
    assert (found.label == UNCLUSTERED).all()
    assert np.isnan(found.unclustered) == (n == 0)


def test_equal_jobs_are_one_motif():
    assert clusters(np.ones((30, 2))).sizes.tolist() == [30]


LABELS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=40)


@given(LABELS)
def test_the_adjusted_rand_index_is_that_of_scikit_learn(pairs):
    one, other = np.array(pairs).T
    assert adjusted_rand(one, other) == pytest.approx(adjusted_rand_score(one, other))


def test_labels_of_any_kind_agree_or_are_refused():
    assert adjusted_rand(np.array(["a", "b", "a"]), np.array([7, 3, 7])) == 1.0
    assert np.isnan(adjusted_rand(np.array([1]), np.array([1])))
    with pytest.raises(ValueError, match="expected as many"):
        adjusted_rand(np.zeros(3), np.zeros(2))


def test_the_recent_median_never_looks_at_its_own_instant_nor_ahead():
    random = np.random.default_rng(3)
    at = np.sort(random.integers(0, 60, 150)).astype(float)
    y, strata = random.random(150), random.integers(0, 2, 150)
    y[::13] = NAN
    found = climate_medians(y, at, strata, 10.0)
    for i in range(150):
        before = (at >= at[i] - 10) & (at < at[i]) & (strata == strata[i]) & ~np.isnan(y)
        expected = np.median(y[before]) if before.sum() >= 3 else NAN
        assert found[i] == pytest.approx(expected, nan_ok=True)


def weather(seed, n=600, lasts=10):
    """A climate that steps every ten days, a metric that goes with it by accident, and one that acts."""
    random = np.random.default_rng(seed)
    at = np.sort(random.uniform(0, 200, n))
    climate = random.uniform(0.3, 0.9, 21)[(at / lasts).astype(int)]
    day = np.floor(at) + 0.1 * random.random(n)
    acting = random.random(n)
    y = climate - 0.3 * acting + 0.02 * random.standard_normal(n)
    return y, np.column_stack([day, acting]), at, np.zeros(n, dtype=np.int64)


def test_random_folds_promise_what_time_does_not_keep():
    y, x, at, strata = weather(4)
    found = validate(y, x, at, strata, seed=5)
    assert found is not None
    assert found.random.r2 > 0.75
    assert found.metrics.r2 < 0.5
    assert found.leaks
    assert not found.useful
    assert found.climate.mae < found.strata.mae
    assert found.metrics.n == found.climate.n == 300
    assert found.random.n == 600


def test_a_metric_that_acts_is_useful_beside_the_recent_median():
    y, x, at, strata = weather(4, lasts=40)
    found = validate(y, x[:, 1:], at, strata, seed=5)
    assert found is not None
    assert found.both.r2 > found.metrics.r2 + 0.1
    assert found.both.mae < found.climate.mae < found.strata.mae
    assert found.useful


def test_metrics_of_no_use_are_not_called_useful():
    random = np.random.default_rng(6)
    y, _, at, strata = weather(6)
    found = validate(y, random.random((600, 2)), at, strata, seed=7)
    assert found is not None
    assert not found.leaks or found.metrics.r2 < found.random.r2
    assert found.metrics.r2 < 0.1


def test_the_order_of_rows_and_the_seed_of_nothing_else_matter():
    y, x, at, strata = weather(8, 200)
    mixed = np.random.default_rng(9).permutation(200)
    one = validate(y, x, at, strata, seed=1)
    other = validate(y[mixed], x[mixed], at[mixed], strata[mixed], seed=1)
    assert one == other


def test_gaps_are_survived_and_few_rows_say_nothing():
    y, x, at, strata = weather(10, 200)
    y[::9], x[::5, 0], at[3] = NAN, np.inf, NAN
    late = np.where(at > 195, 1.0, NAN)
    x = np.column_stack([x, np.full(200, NAN), late])
    found = validate(y, x, at, strata, seed=1)
    assert found is not None
    assert found.random.n == np.count_nonzero(np.isfinite(y) & np.isfinite(at))
    few = FEWEST - 1
    assert validate(y[:few], x[:few], at[:few], strata[:few], seed=1) is None


def test_rows_of_one_instant_are_never_on_both_sides():
    y, x, _, strata = weather(11, 120)
    at = np.repeat([1.0, 2.0, 3.0, 4.0], 30)
    found = validate(y, x, at, strata, seed=1)
    assert found is not None
    assert found.metrics.n in {30, 60}
    assert np.isnan(validate(y, x, np.ones(120), strata, seed=1).metrics.r2)
