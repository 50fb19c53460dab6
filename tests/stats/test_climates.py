"""Climates and lasting shifts: planted ones are found with their dates, chance ones are not, gaps are survived."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.truth.jobs import metrics as made
from iosonde.stats.change_points import REACH, shifts
from iosonde.stats.regime_search import SHORTEST_DAYS, noise_scale, regimes, running_median
from iosonde.stats.segments import FEWEST, SURE

NAN = float("nan")


def three(seed, days=120):
    """Days of 4 metrics: a climate, another, and the first again."""
    random = np.random.default_rng(seed)
    values = made.ar(random, days, 0.3, 4)
    values[days // 3 : 2 * days // 3] += 3.0
    return values * np.array([1.0, 1e9, 1e-6, 5.0])


def test_a_climate_that_comes_back_has_one_name():
    found = regimes(three(1))
    assert found.starts == pytest.approx([0, 40, 80], abs=1)
    assert found.climate.tolist() == [0, 1, 0]
    assert found.climates == 2
    assert found.days.sum() == 120
    assert (np.bincount(found.segment) == found.days).all()
    assert found.medians.shape == (3, 4)
    assert found.medians[1, 1] - found.medians[0, 1] == pytest.approx(3e9, rel=0.3)


def test_missing_days_and_metrics_are_survived_and_stay_missing():
    values = three(2)
    values[10:20] = NAN
    values[50:60, :2] = NAN
    values[::9, 3] = np.inf
    values = np.column_stack([values, np.full(120, NAN), np.full(120, 7.0)])
    found = regimes(values)
    assert found.starts == pytest.approx([0, 40, 80], abs=2)
    assert (found.segment[10:20] == -1).all()
    assert found.segment[54] == -1  # three of five metrics
    assert found.days.sum() == 109
    assert np.isnan(found.medians[:, 4]).all()
    assert (found.medians[:, 5] == 7.0).all()


@pytest.mark.parametrize("shape", [(0, 3), (5, 3), (30, 0), (2 * SHORTEST_DAYS - 1, 2)])
def test_too_little_is_one_climate_or_none(shape):
    found = regimes(np.random.default_rng(3).random(shape))
    assert len(found.starts) == (shape[0] > 0 and shape[1] > 0)
    assert found.climates == len(found.starts)


def test_nothing_that_moves_is_one_climate():
    assert len(regimes(np.ones((60, 2))).starts) == 1
    assert len(regimes(np.full((60, 2), NAN)).starts) == 0


def test_a_scale_is_that_of_the_noise_whatever_the_level():
    random = np.random.default_rng(4)
    noise = random.standard_normal(4000)
    steps = np.repeat([0.0, 50.0, -20.0, 7.0], 1000)
    assert noise_scale(noise + steps) == pytest.approx(1.0, rel=0.1)
    assert noise_scale(np.ones(9)) == 0.0
    assert noise_scale(np.empty(0)) == 0.0
    assert noise_scale(np.array([0.0, 0.0, 0.0, 1.0, 1.0])) > 0


def test_a_running_median_is_that_of_what_is_known():
    series = np.array([1.0, NAN, 3.0, 4.0, 100.0, 6.0])
    assert running_median(series, 3).tolist() == [1.0, 2.0, 3.5, 4.0, 6.0, 53.0]
    assert np.isnan(running_median(np.full(3, NAN), 3)).all()


def year(seed, cut=150.0, step=0.25, n=200):
    """Irregular times of a year and fractions of peak that fall at ``cut``, with slow runs."""
    random = np.random.default_rng(seed)
    levels, spreads = (0.85, 0.85 - step), (0.05, 0.05)
    return made.runs(
        random, phi=0.3, levels=levels, spreads=spreads, cuts=(cut,), slow=(0.05, 0.05), n=n
    )


@pytest.mark.parametrize("seed", range(6))
def test_a_shift_has_its_date_levels_and_interval(seed):
    at, y = year(seed)
    (one,) = shifts(at, y).found
    assert one.at == pytest.approx(150, abs=8)
    assert one.earliest < 150 < one.latest
    assert one.earliest < one.at <= one.latest
    assert one.latest - one.earliest < 25
    assert (one.before, one.after) == pytest.approx((0.85, 0.60), abs=0.03)
    assert one.n_before + one.n_after == 200
    assert one.p < 1e-6


def test_a_slow_run_before_a_gap_is_not_the_change():
    random = np.random.default_rng(7)
    before = 0.85 + 0.12 * random.standard_normal(80)
    before[::6] *= 0.3
    before[-2:] = (0.3, 0.4)
    after = 0.12 + 0.02 * random.standard_normal(80)
    at = np.append(np.arange(80.0), 100 + np.arange(80.0))
    (one,) = shifts(at, np.append(before, after)).found
    assert one.at == 100.0
    assert (one.earliest, one.latest) == (79.0, 100.0)
    before[-2:] = (0.05, 0.35)
    (torn,) = shifts(at, np.append(before, after)).found
    assert torn.earliest < 79
    assert torn.latest == 100.0


def test_units_and_gaps_change_nothing():
    at, y = year(8)
    (one,) = shifts(at, y).found
    (large,) = shifts(at + 1e4, y * 1e200).found
    assert large.p == pytest.approx(one.p)
    assert large.at == pytest.approx(one.at + 1e4)
    gaps = np.append(y, [NAN, np.inf])
    assert shifts(np.append(at, [365.5, 366.0]), gaps) == shifts(at, y)


def test_a_segment_lasts_at_least_so_long():
    at = np.linspace(0, 60, 241)
    y = np.where((at > 20) & (at < 24), 0.2, 0.8)
    y += 0.02 * np.random.default_rng(10).standard_normal(241)
    assert len(shifts(at, y, shortest_days=2.0).found) == 2
    bounds = [0, *(one.at for one in shifts(at, y).found), 60]
    assert np.diff(bounds).min() >= 6


def test_neighbours_that_resemble_each_other_feign_few_changes():
    random = np.random.default_rng(9)
    claims = [
        len(shifts(np.arange(200.0), made.ar(random, 200, 0.6)[:, 0]).found) for _ in range(60)
    ]
    assert np.mean(np.array(claims) > 0) <= 0.12


def test_what_never_moves_or_is_too_short_has_no_shift():
    assert shifts(np.arange(30.0), np.ones(30)).found == ()
    assert shifts(np.empty(0), np.empty(0)).n == 0
    few = 2 * FEWEST - 1
    assert shifts(np.arange(float(few)), np.arange(float(few))).found == ()
    assert shifts(np.zeros(30), np.append(np.zeros(15), np.ones(15))).found == ()


def test_a_clean_step_is_where_it_is():
    (one,) = shifts(np.arange(40.0), np.repeat([0.0, 1.0], 20)).found
    assert (one.at, one.before, one.after) == (20.0, 0.0, 1.0)
    assert one.p < 1e-9


@pytest.mark.parametrize("at", [[2.0, 1.0, 3.0], [1.0, NAN, 3.0], [1.0, 2.0]])
def test_times_that_do_not_fit_are_refused(at):
    with pytest.raises(ValueError, match="expected"):
        shifts(np.array(at), np.zeros(3))


def test_the_reach_is_that_of_two_random_walks():
    assert (1 - np.exp(-REACH)) ** 2 == pytest.approx(0.95)


ANY = st.floats(allow_nan=True, allow_infinity=True) | st.integers(0, 2).map(float)


@given(st.lists(ANY, max_size=40))
@settings(max_examples=40, deadline=None)
def test_any_series_can_be_asked(values):
    values = np.array(values, dtype=float)
    found = shifts(np.arange(len(values)) * 3.0, values)
    assert all(one.earliest < one.at <= one.latest and 0 <= one.p <= SURE for one in found.found)
    days = regimes(np.column_stack([values, values[::-1]]))
    assert days.days.sum() == np.count_nonzero(days.segment >= 0)
