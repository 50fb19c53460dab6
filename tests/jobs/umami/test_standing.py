"""Where a value stands in its history: the quartiles of the diagram, ties, and what is not judged."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from iosonde.jobs.umami.quartile import (
    ENOUGH,
    Standing,
    bad_quartile_delta,
    cliffs_delta,
    quartile_of,
    stand,
)
from iosonde.stats.midranks import midranks, share_below

NUMBERS = st.floats(-1e300, 1e300) | st.integers(-3, 3).map(float)
TEN = np.arange(1.0, 11.0)
NAN = float("nan")


def drawn_quartile(history, value):
    """As the published diagram colours: the first percentile that is not below the value."""
    for quartile, bound in enumerate(np.percentile(history, [25, 50, 75, 100])):
        if value <= bound:
            return quartile
    return 3


@given(st.lists(st.floats(0, 1e6), min_size=5, max_size=40, unique=True), st.floats(-1, 1e6))
def test_without_ties_a_value_is_coloured_as_in_the_diagram(history, value):
    history = np.array(history)
    if np.count_nonzero(np.percentile(history, [0, 25, 50, 75, 100]) == value) > 1:
        return
    assert quartile_of(history, value, "high") == (drawn_quartile(history, value), False)


@pytest.mark.parametrize(
    ("value", "high", "low"),
    [
        (0.0, Standing.BAD, Standing.GOOD),
        (1.0, Standing.BAD, Standing.GOOD),
        (3.25, Standing.BAD, Standing.GOOD),
        (3.3, Standing.POOR, Standing.OK),
        (5.5, Standing.POOR, Standing.OK),
        (6.0, Standing.OK, Standing.POOR),
        (9.0, Standing.GOOD, Standing.BAD),
        (10.0, Standing.GOOD, Standing.BAD),
        (11.0, Standing.GOOD, Standing.BAD),
    ],
)
def test_quartiles_by_hand(value, high, low):
    assert stand(TEN, value, "high").standing is high
    assert stand(TEN, value, "low").standing is low
    assert stand(TEN, value, None).standing is Standing.NEUTRAL


@given(
    st.lists(st.integers(0, 2).map(float), min_size=ENOUGH, max_size=30),
    st.integers(0, 2).map(float),
)
def test_a_tie_is_neither_worst_nor_best_and_is_the_same_upside_down(history, value):
    history = np.array(history)
    high, low = stand(history, value, "high"), stand(-history, -value, "low")
    if high.tied:
        assert high.standing in {Standing.OK, Standing.POOR}
        assert low.standing is high.standing
    equal = np.count_nonzero(np.percentile(history, [0, 25, 50, 75, 100]) == value)
    assert high.tied == (equal > 1)


def test_a_constant_history_that_goes_on_is_as_usual_and_one_that_ends_is_not():
    zeros = np.zeros(20)
    for good in ("high", "low"):
        assert stand(zeros, 0.0, good).standing is Standing.OK
    assert stand(zeros, 1.0, "low").standing is Standing.BAD
    assert stand(zeros, 1.0, "high").standing is Standing.GOOD
    assert stand(zeros, -1.0, "high").standing is Standing.BAD


def test_mostly_nothing_is_as_usual_until_it_is_something():
    history = np.array([0.0] * 18 + [4.0, 266.0])
    assert stand(history, 0.0, "low").standing is Standing.OK
    assert stand(history, 0.0, "high").standing is Standing.OK
    assert stand(history, 803.0, "low").standing is Standing.BAD


@pytest.mark.parametrize(
    ("history", "value", "standing"),
    [
        (TEN, NAN, Standing.MISSING),
        (TEN, float("inf"), Standing.MISSING),
        (np.empty(0), NAN, Standing.MISSING),
        (TEN[:4], 3.0, Standing.TOO_LITTLE_HISTORY),
        (np.append(TEN[:4], [NAN, float("inf")]), 3.0, Standing.TOO_LITTLE_HISTORY),
        (np.append(TEN[:5], NAN), 3.0, Standing.POOR),
    ],
)
def test_what_is_not_judged(history, value, standing):
    assert stand(history, value, "high").standing is standing


def test_the_box_is_that_of_the_diagram():
    history = np.append(np.arange(100.0), NAN)
    box = stand(history, 50.0, "high").box
    assert (box.n, box.q25, box.q50, box.q75) == (100, 24.75, 49.5, 74.25)
    assert (box.low, box.high) == pytest.approx((4.95, 94.05))
    assert box.outliers.tolist() == [0, 1, 2, 3, 4, 95, 96, 97, 98, 99]
    few = stand(TEN[:3], 1.0, "high").box
    assert np.isnan(few.q50)
    assert few.outliers.tolist() == [1, 2, 3]


@given(st.lists(NUMBERS, max_size=30), NUMBERS)
def test_any_history_gives_a_word_and_a_share(history, value):
    stood = stand(np.array(history, dtype=float), value, "low")
    assert (stood.standing is Standing.TOO_LITTLE_HISTORY) == (len(history) < ENOUGH)
    assert np.isnan(stood.share) if not history else 0 <= stood.share <= 1


def test_the_share_below_counts_ties_half():
    assert share_below(np.array([1, 2, 2, 3, NAN]), 2.0) == 0.5
    assert np.isnan(share_below(np.array([NAN]), 2.0))
    assert np.isnan(share_below(TEN, NAN))


@given(st.lists(st.lists(NUMBERS | st.just(NAN), min_size=3, max_size=3), max_size=20))
def test_midranks_are_those_of_scipy(rows):
    values = np.array(rows, dtype=float).reshape(-1, 3)
    expected = stats.rankdata(values, axis=0, nan_policy="omit") if len(rows) else values
    assert np.array_equal(midranks(values), expected, equal_nan=True)


@given(st.lists(NUMBERS, min_size=1, max_size=15), st.lists(NUMBERS, min_size=1, max_size=15))
def test_cliffs_delta_is_that_of_all_pairs(these, those):
    signs = [np.sign(float(a > b) - float(a < b)) for a in these for b in those]
    assert cliffs_delta(np.array(these), np.array(those)) == pytest.approx(np.mean(signs))


def test_the_bad_quartile_against_the_rest():
    y = np.arange(20.0)
    assert bad_quartile_delta(y, -y) == 1.0
    assert bad_quartile_delta(y, np.where(y < 10, y, NAN)) == -1.0
    assert bad_quartile_delta(y, np.zeros(20)) == 0.0
    assert np.isnan(bad_quartile_delta(y, np.full(20, NAN)))
    assert np.isnan(cliffs_delta(np.empty(0), y))
