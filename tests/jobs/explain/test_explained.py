"""Forward selection and local loss: what is found, in which order, and what gaps and ties do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from benchmarks.truth.jobs import metrics as made
from iosonde.jobs.explain.neighbour_loss import (
    REACH,
    SHRINK,
    TRIMMED,
    local_losses,
    losses_of_rows,
)
from iosonde.stats.selection import MOST_MISSING, Shape, select

NAN = float("nan")


def test_the_first_gain_is_r_squared_of_least_squares_on_ranks():
    random = np.random.default_rng(1)
    x, y, _ = made.history(random, 80, "U", 0.5)
    found = select(y, x)
    z = stats.zscore(stats.rankdata(x[:, 3]))
    design = np.column_stack([np.ones(80), z, z**2 - 1])
    ranks = stats.rankdata(y)
    rest = ranks - design @ np.linalg.lstsq(design, ranks, rcond=None)[0]
    assert found.alone[3] == pytest.approx(1 - rest.var() / ranks.var())


def test_the_first_is_the_best_however_close_the_next_is():
    random = np.random.default_rng(9)
    for _ in range(20):
        x, y, _ = made.history(random, 40, "linear", 0.2)
        found = select(y, x)
        assert found.first == int(np.argmax(found.alone))
        assert found.first == found.steps[0].metric if found.steps else True


def test_two_causes_enter_in_turn_with_what_each_adds():
    random = np.random.default_rng(2)
    x = random.standard_normal((300, 5))
    y = 2 * x[:, 1] - x[:, 4] + 0.5 * random.standard_normal(300)
    found = select(y, np.column_stack([x, x[:, 1] ** 3]))
    assert [step.metric for step in found.steps] == [1, 4]
    assert [step.sign for step in found.steps] == [1, -1]
    assert found.first == 1
    first, second = found.steps
    assert first.gain == pytest.approx(found.alone[1])
    assert 0.1 < second.gain < 0.3
    assert first.gain + second.gain < 1


@pytest.mark.parametrize(
    ("form", "sign", "shape"),
    [
        (lambda u: u, 1, Shape.MONOTONE),
        (lambda u: -u, -1, Shape.MONOTONE),
        (lambda u: -np.maximum(0, u - 0.7), -1, Shape.THRESHOLD),
        (lambda u: np.maximum(0, 0.3 - u), -1, Shape.THRESHOLD),
        (lambda u: np.abs(u - 0.5), 1, Shape.U),
        (lambda u: -np.abs(u - 0.5), -1, Shape.U),
    ],
)
def test_sign_and_shape(form, sign, shape):
    random = np.random.default_rng(3)
    u = random.random((400, 2))
    y = form(u[:, 0])
    y = y / y.std() + 0.7 * random.standard_normal(400)
    (step,) = select(y, u).steps
    assert (step.metric, step.sign, step.shape) == (0, sign, shape)


def test_nothing_enters_that_does_not_pay():
    random = np.random.default_rng(4)
    entered = [
        len(select(made.ar(random, 60, 0.0)[:, 0], made.ar(random, 60, 0.0, 8)).steps) > 0
        for _ in range(60)
    ]
    assert np.mean(entered) < 0.15


def test_a_missing_value_speaks_for_nobody():
    random = np.random.default_rng(5)
    x = random.standard_normal((200, 4))
    y = x[:, 0] + 0.5 * random.standard_normal(200)
    full = select(y, x)
    x[random.random(200) < 0.2, 0] = NAN
    y[7] = NAN
    part = select(y, x)
    assert part.n == 199
    assert part.steps[0].metric == 0
    assert 0.5 * full.alone[0] < part.alone[0] < full.alone[0]
    x[: int(200 * MOST_MISSING) + 20, 0] = np.inf
    x[:, 1] = 3.0
    gone = select(y, x)
    assert np.isnan(gone.alone[:2]).all()
    assert gone.first in {2, 3}


def test_too_little_to_select_from():
    nothing = select(np.arange(5.0), np.arange(5.0)[:, None])
    assert (nothing.steps, nothing.first) == ((), None)
    assert select(np.ones(30), np.random.default_rng(6).random((30, 2))).first is None
    assert select(np.arange(30.0), np.empty((30, 0))).steps == ()
    assert select(np.arange(30.0), np.full((30, 2), NAN)).first is None


def test_a_perfect_explanation_ends_the_search():
    y = np.arange(30.0)
    found = select(y, np.column_stack([y**3, -y, np.tile([1.0, 2.0], 15)]))
    assert [step.metric for step in found.steps] == [0]
    assert found.steps[0].gain == pytest.approx(1.0)


ANY = st.floats(allow_nan=True, allow_infinity=True) | st.integers(0, 2).map(float)


@given(st.lists(st.lists(ANY, min_size=4, max_size=4), max_size=25))
def test_any_numbers_are_selected_from(rows):
    values = np.array(rows, dtype=float).reshape(-1, 4)
    found = select(values[:, 0], values[:, 1:])
    assert sum(step.gain for step in found.steps) <= 1 + 1e-9
    assert len({step.metric for step in found.steps}) == len(found.steps)


def test_local_loss_by_hand():
    y = np.array([10.0] * 15 + [4.0, 5.0, 6.0, 5.0, 5.0])
    x = np.column_stack([np.arange(20.0), np.tile([0.0, 1.0], 10), np.full(20, NAN)])
    found = local_losses(y, x, np.array([18.0, NAN, 1.0]))
    shares = (np.arange(20) + 0.5) / 20
    like = np.sort(y[np.abs(shares - 18.5 / 20) <= REACH + 1e-12])
    m, out = len(like), int(TRIMMED * len(like))
    assert found.usual == 10.0
    assert found.matches.tolist() == [m, 0, 0]
    expected = (10 - like[out : m - out].mean()) / 10 * m / (m + SHRINK)
    assert found.loss[0] == pytest.approx(expected)
    assert np.isnan(found.loss[1:]).all()
    assert found.share[0] == pytest.approx(18.5 / 20)
    assert found.ranking.tolist() == [0]


def test_one_crashed_run_is_not_a_reason():
    random = np.random.default_rng(7)
    y = 1 + 0.02 * random.standard_normal(60)
    x = random.standard_normal((60, 2))
    x[:6] = np.column_stack([np.full(6, 5.0), np.zeros(6)])
    y[:6] -= 0.1
    y[6], x[6] = 0.0, (0.0, 5.0)
    found = local_losses(y, x, np.array([5.0, 5.0]))
    assert found.ranking.tolist() == [0, 1]
    assert found.loss[0] > 0.05
    assert abs(found.loss[1]) < 0.02


def test_a_metric_that_is_mostly_the_same_blames_nothing_by_being_so():
    random = np.random.default_rng(8)
    y = random.uniform(0.5, 1.0, 50)
    x = np.zeros((50, 1))
    x[:3] = 4.0
    found = local_losses(y, x, np.zeros(1))
    assert found.matches[0] == 47
    assert abs(found.loss[0]) < 0.05


def test_few_runs_like_today_and_no_usual_say_nothing():
    y, x = np.ones(10), np.arange(10.0)[:, None]
    assert np.isnan(local_losses(y[:2], x[:2], np.zeros(1)).loss[0])
    assert np.isnan(local_losses(-y, x, np.zeros(1)).loss[0])
    empty = local_losses(np.empty(0), np.empty((0, 1)), np.zeros(1))
    assert np.isnan(empty.usual)
    assert len(empty.ranking) == 0
    with pytest.raises(ValueError, match="expected"):
        local_losses(y, x, np.zeros(2))


@given(st.lists(st.lists(ANY, min_size=3, max_size=3), min_size=1, max_size=25))
@settings(max_examples=50)
def test_any_history_is_lost_in(rows):
    values = np.array(rows, dtype=float).reshape(-1, 3)
    with np.errstate(over="ignore", invalid="ignore"):
        found = local_losses(values[1:, 0], values[1:, 1:], values[0, 1:])
    assert (np.isnan(found.share) | ((found.share >= 0) & (found.share <= 1))).all()
    assert len(found.ranking) <= 2


@pytest.mark.parametrize("seed", range(12))
def test_losses_of_many_rows_are_those_of_each(seed):
    random = np.random.default_rng(seed)
    n = int(random.integers(1, 60))
    x = random.normal(size=(n, 5)).round(int(random.integers(0, 3)))
    x[random.random((n, 5)) < 0.1] = NAN
    x[random.random((n, 5)) < 0.05] = np.inf
    y = random.lognormal(size=n)
    y[random.random(n) < 0.1] = NAN
    rows = np.flatnonzero(np.isfinite(y))
    for row, one in zip(rows.tolist(), losses_of_rows(y, x, rows), strict=True):
        others = np.arange(n) != row
        alone = local_losses(y[others], x[others], x[row])
        assert one.matches.tolist() == alone.matches.tolist()
        for name in ("usual", "loss", "share"):
            both = getattr(one, name), getattr(alone, name)
            assert np.allclose(*both, rtol=1e-12, atol=1e-14, equal_nan=True)
