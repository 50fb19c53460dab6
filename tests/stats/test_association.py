"""Coefficients against SciPy, n_eff and prewhitening against their formulas, gaps, constants, signs that turn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchmarks.truth.jobs import metrics as made
from iosonde.jobs.correlate.simpson import simpson
from iosonde.stats.association import ENOUGH_EFFECTIVE, associations
from iosonde.stats.multiple import benjamini_hochberg

NAN = float("nan")


@pytest.fixture
def table():
    """60 runs of 8 metrics, some of them missing, and a y that follows metric 2."""
    random = np.random.default_rng(1)
    x = made.ar(random, 60, 0.5, 8)
    y = x[:, 2] + made.ar(random, 60, 0.3)[:, 0]
    x[3:9, 1] = NAN
    x[::7, 4] = np.inf
    y[11] = NAN
    return x, y


def test_coefficients_and_their_naive_p_are_those_of_scipy(table):
    x, y = table
    found = associations(y, x)
    for j in range(8):
        both = np.isfinite(x[:, j]) & np.isfinite(y)
        pearson = stats.pearsonr(x[both, j], y[both])
        spearman = stats.spearmanr(x[both, j], y[both])
        assert found.n[j] == both.sum()
        assert (found.pearson[j], found.pearson_p[j]) == pytest.approx(tuple(pearson), rel=1e-9)
        assert (found.spearman[j], found.spearman_p[j]) == pytest.approx(tuple(spearman), rel=1e-9)


def test_the_corrections_are_their_formulas(table):
    x, y = table
    found = associations(y, x)
    both = np.isfinite(y)
    u, v = stats.rankdata(x[both, 2]), stats.rankdata(y[both])
    u, v, n = u - u.mean(), v - v.mean(), both.sum()

    def a(series, k):
        return (series[k:] * series[:-k]).sum() / (series**2).sum()

    grown = 1 + 2 * sum((1 - k / n) * a(u, k) * a(v, k) for k in range(1, n // 5 + 1))
    assert found.n_eff[2] == pytest.approx(n / max(1, grown))
    e, f = u[1:] - a(u, 1) * u[:-1], v[1:] - a(v, 1) * v[:-1]
    white = stats.pearsonr(e, f)[0]
    t = abs(white) * np.sqrt((n - 3) / (1 - white**2))
    assert found.prewhitened_p[2] == pytest.approx(2 * stats.t.sf(t, n - 3), rel=1e-9)
    rho, free = found.spearman[2], found.n_eff[2] - 2
    corrected = 2 * stats.t.sf(abs(rho) * np.sqrt(free / (1 - rho**2)), free)
    assert found.p[2] == pytest.approx(2 * min(corrected, found.prewhitened_p[2]), rel=1e-9)
    assert found.q == pytest.approx(benjamini_hochberg(found.p))
    assert found.q.argmin() == 2
    assert found.q[2] < 1e-4


def test_partial_coefficients_are_those_of_residual_ranks(table):
    x, y = table
    found = associations(y, x, given=x[:, [2, 5]])
    known = np.isfinite(y)
    ranks = np.column_stack([stats.rankdata(column) for column in x[known][:, [2, 5]].T])
    design = np.column_stack([np.ones(known.sum()), ranks])
    u, v = stats.rankdata(x[known, 0]), stats.rankdata(y[known])
    rest = [s - design @ np.linalg.lstsq(design, s, rcond=None)[0] for s in (u, v)]
    assert found.partial[0] == pytest.approx(stats.pearsonr(*rest)[0])
    assert np.isnan(found.partial[[2, 5]]).all()
    assert np.isnan(associations(y, x).partial).all()


def test_a_common_cause_is_taken_out():
    random = np.random.default_rng(2)
    load = random.standard_normal((400, 1))
    y = (load + 0.5 * random.standard_normal((400, 1)))[:, 0]
    found = associations(y, load + 0.5 * random.standard_normal((400, 1)), given=load)
    assert found.spearman[0] > 0.6
    assert abs(found.partial[0]) < 0.1
    assert found.partial_p[0] > 0.05


def test_constant_columns_and_too_few_rows_have_no_coefficient():
    y = np.arange(20.0)
    x = np.column_stack([np.full(20, 7.0), y, np.where(y < 3, y, NAN), np.full(20, NAN)])
    found = associations(y, x)
    assert found.n.tolist() == [20, 20, 3, 0]
    assert np.isnan(found.pearson[[0, 2, 3]]).all()
    assert np.isnan(found.q[[0, 2, 3]]).all()
    assert (found.pearson[1], found.spearman[1]) == pytest.approx((1.0, 1.0))
    assert np.isnan(associations(np.full(20, 2.0), x).spearman).all()
    assert len(associations(y, np.empty((20, 0))).p) == 0
    assert np.isnan(associations(np.empty(0), np.empty((0, 2))).p).all()


def test_too_little_independent_data_is_no_claim():
    slow = np.linspace(0, 1, 24)
    found = associations(slow, np.column_stack([slow**2, np.random.default_rng(3).random(24)]))
    assert found.spearman[0] == pytest.approx(1.0)
    assert found.n_eff[0] < ENOUGH_EFFECTIVE
    assert found.enough.tolist() == [False, True]
    assert np.isnan(found.q[0])
    assert not np.isnan(found.q[1])


def test_other_lengths_are_refused():
    with pytest.raises(ValueError, match="expected"):
        associations(np.zeros(3), np.zeros((4, 2)))
    with pytest.raises(ValueError, match="expected"):
        associations(np.zeros(3), np.zeros((3, 2)), np.zeros((2, 1)))
    with pytest.raises(ValueError, match="expected"):
        simpson(np.zeros(3), np.zeros((3, 2)), np.zeros(2, dtype=int))


ANY = st.floats(allow_nan=True, allow_infinity=True) | st.integers(0, 2).map(float)


@given(st.lists(st.lists(ANY, min_size=4, max_size=4), max_size=25))
def test_any_numbers_give_shares_or_nothing(rows):
    values = np.array(rows, dtype=float).reshape(-1, 4)
    found = associations(values[:, 0], values[:, 1:], given=values[:, 3:])
    for part in (found.pearson_p, found.spearman_p, found.prewhitened_p, found.p, found.q):
        assert (np.isnan(part) | ((part >= 0) & (part <= 1))).all()
    for part in (found.pearson, found.spearman, found.partial):
        assert (np.isnan(part) | (np.abs(part) <= 1)).all()
    told = ~np.isnan(found.n_eff)
    assert (found.n_eff[told] <= found.n[told]).all()


def test_pooling_that_turns_a_sign_is_told():
    random = np.random.default_rng(4)
    groups = np.arange(600) % 3
    x = random.standard_normal((600, 3))
    y = 0.6 * x[:, 0] + random.standard_normal(600)
    x[:, 0] += 3.0 * groups
    y -= 3.0 * groups
    x[:, 1] += 2.0 * groups
    found = simpson(y, x, groups)
    assert found.turned.tolist() == [True, False, False]
    assert found.pooled[0] < -0.5
    assert found.within[0] > 0.3
    assert found.opposed[:, 0].all()
    assert found.only_between.tolist() == [False, True, False]
    assert found.groups.tolist() == [0, 1, 2]


def test_where_groups_agree_nothing_is_told():
    random = np.random.default_rng(5)
    x = random.standard_normal((300, 2))
    x[:, 1] = 1.0
    found = simpson(x[:, 0] + random.standard_normal(300), x, np.arange(300) % 2)
    assert not found.turned.any()
    assert not found.opposed.any()
    assert found.within[0] == pytest.approx(found.pooled[0], abs=0.1)
    assert np.isnan(found.within[1])
