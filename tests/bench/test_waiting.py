"""The verdict of adaptive mode on curves whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest

from iosonde.bench.adaptive.rates import LEVELS, Rates, rates
from iosonde.bench.adaptive.verdict import FEWEST, MARGIN, MOST, RateTrend, judge, more_to_run
from iosonde.queue.closed_network import Network

T = np.array(LEVELS)
FLAT = np.zeros(len(T))
DIPS = np.log(np.array([7191, 6300, 5450, 4665, 5020, 6030, 6060, 6181]) / 7191)
"""Rates of a store whose background work begins when it is left idle."""


def curve(n_star: float, clients: int = 100):
    network = Network(clients, 1e-3, (n_star - 1) * 1e-3)
    return np.log(network.corrected_per_s(T) / network.corrected_per_s(0.0))


def run(shape, random, measurements=FEWEST, noise=0.05, drift=0.0):
    logs = shape + noise * random.standard_normal((measurements, len(T)))
    logs += drift * random.standard_normal((measurements, 1))
    return Rates(T, T, 5_000 * np.exp(logs))


@pytest.mark.parametrize(
    ("shape", "verdict"),
    [
        (FLAT, RateTrend.SIMILAR),
        (curve(68), RateTrend.INCREASES),
        (curve(20), RateTrend.INCREASES),
        (DIPS, RateTrend.DECREASES),
        (np.linspace(0, -0.5, len(T)), RateTrend.DECREASES),
    ],
)
def test_each_kind_of_store(shape, verdict):
    random = np.random.default_rng(5)
    said = [judge(run(shape, random, noise=0.03, drift=0.2)).trend for _ in range(20)]
    assert said.count(verdict) >= 19
    assert set(said) <= {verdict, RateTrend.INCONCLUSIVE}


def test_a_dip_that_recovers_is_found_and_named():
    recovered = DIPS.copy()
    recovered[-2:] = [0.02, 0.05]
    found = judge(run(recovered, np.random.default_rng(6), noise=0.03))
    assert found.trend is RateTrend.DECREASES
    assert found.dip is not None
    assert found.dip.level == 0.25
    assert found.dip.upper < 1 / MARGIN
    assert found.change.ratio == pytest.approx(1.05, abs=0.06)


def test_a_shallow_dip_keeps_it_from_being_similar():
    shallow = FLAT.copy()
    shallow[3] = -0.16
    said = {judge(run(shallow, np.random.default_rng(s), noise=0.06)).trend for s in range(20)}
    assert RateTrend.INCREASES not in said
    similar = sum(
        judge(run(shallow, np.random.default_rng(s), noise=0.06)).trend is RateTrend.SIMILAR
        for s in range(40)
    )
    assert similar <= 16


@pytest.mark.parametrize(("noise", "most"), [(0.05, 0.01), (0.15, 0.08)])
def test_nothing_is_rarely_taken_for_something(noise, most):
    random, n = np.random.default_rng(7), 300
    said = [judge(run(FLAT, random, noise=noise)).trend for _ in range(n)]
    wrong = sum(word in (RateTrend.INCREASES, RateTrend.DECREASES) for word in said)
    assert wrong / n <= most + 2 * (most * (1 - most) / n) ** 0.5


def test_one_level_against_all_others_is_no_rise():
    odd = -0.01 * np.arange(len(T))
    odd[-1] = 0.3
    found = judge(run(odd, np.random.default_rng(8), noise=0.02))
    assert found.change.lower > MARGIN
    assert found.elasticity[0] < 0.1
    assert found.trend is RateTrend.INCONCLUSIVE


def test_repeats_that_are_asked_for_decide():
    random, asked, decided = np.random.default_rng(9), 0, 0
    for _ in range(60):
        whole = run(FLAT, random, measurements=MOST, noise=0.09)
        first = judge(Rates(T, T, whole.corrected_per_s[:FEWEST]))
        if first.trend is RateTrend.INCONCLUSIVE and first.more_measurements:
            asked += 1
            more = Rates(T, T, whole.corrected_per_s[: FEWEST + first.more_measurements])
            decided += judge(more).trend is not RateTrend.INCONCLUSIVE
    assert asked > 15
    assert decided / asked > 0.6


def test_one_further_look():
    random = np.random.default_rng(1)
    clear = judge(run(curve(30), random))
    unclear = judge(run(curve(90), random, noise=0.2))
    assert unclear.trend is RateTrend.INCONCLUSIVE
    assert [more_to_run(clear, n) for n in (2, 5, 8)] == [3, 0, 0]
    assert [more_to_run(unclear, n) for n in (2, 5, 6, 8, 12)] == [3, 3, 2, 0, 0]


def test_a_ratio_at_the_border_is_said_to_stay_open_and_few_repeats_are_not_enough():
    # A little below: at the border itself the last bit decides, which processors round differently.
    border = (np.log(MARGIN) - 1e-12) * np.log1p(T) / np.log(5)
    off = 0.05 * np.array([[-1.0], [0.0], [1.0], [-1.0], [1.0]]) * (T > 1)
    wild = judge(Rates(T, T, np.exp(border + off)))
    assert wild.trend is RateTrend.INCONCLUSIVE
    assert wild.change.ratio == pytest.approx(MARGIN)
    assert wild.more_measurements is None
    few = judge(run(curve(30), np.random.default_rng(1), measurements=2, noise=0.01))
    assert (few.trend, few.leaning) == (RateTrend.INCONCLUSIVE, RateTrend.INCREASES)
    assert few.more_measurements == FEWEST - 2
    single = judge(run(curve(30), np.random.default_rng(1), measurements=1, noise=0.01))
    assert single.change.lower is None
    assert single.elasticity[1:] == (None, None)


def test_repeats_that_agree_to_the_bit_are_not_believed():
    found = judge(Rates(T, T, np.tile(100.0 * np.exp(curve(50)), (5, 1))))
    assert found.change.upper / found.change.lower > 1.01


def test_more_than_waits_explain_is_not_plausible():
    steep = np.log1p(T)
    assert judge(run(steep, np.random.default_rng(2), noise=0.02)).plausible
    assert not judge(run(1.2 * steep, np.random.default_rng(2), noise=0.02)).plausible
    # had the clients really waited for longer, the same rates would be possible
    logs = np.tile(1.2 * steep, (5, 1))
    assert judge(Rates(T, np.expm1(1.2 * steep), np.exp(logs))).plausible


@pytest.mark.parametrize("slope", [-0.3, 0.0, 0.4, 1.0])
def test_elasticity_is_the_slope_against_measured_waits(slope):
    waited = T * 1.3 + 0.01
    random = np.random.default_rng(3)
    logs = slope * np.log1p(waited) + 0.01 * random.standard_normal((6, len(T)))
    logs[0, 4] += 3
    value, low, high = judge(Rates(T, waited, np.exp(logs))).elasticity
    assert value == pytest.approx(slope, abs=0.05)
    assert low < slope < high


def test_rows_in_any_order_become_a_table():
    random = np.random.default_rng(4)
    measurement, level = (part.ravel() for part in np.meshgrid(np.arange(5), T, indexing="ij"))
    rate = 100 + 10 * measurement + level
    order = random.permutation(len(rate))
    found = rates(measurement[order], level[order], level[order] * 1.5, rate[order])
    assert found.level.tolist() == list(LEVELS)
    assert found.corrected_per_s == pytest.approx(rate.reshape(5, -1))
    assert found.measurements == 5
    assert [asked for asked, _ in found.off_nominal()] == [0.5, 1.0, 2.0, 4.0]


def test_missing_rates_and_double_ones():
    found = rates([0, 0, 0, 1, 1], [0, 4, 4, 0, 4], [np.nan, 4, 4.2, 0, 4], [10, 4, 16, -1, 5])
    assert found.corrected_per_s[0].tolist() == pytest.approx([10, 8])
    assert np.isnan(found.corrected_per_s[1, 0])
    assert found.measured.tolist() == [0, 4]
    assert found.measurements == 1
    for level in ([0.0, 0.0], [1.0, 4.0]):
        with pytest.raises(ValueError, match="without waits"):
            rates([0, 0], level, level, [1.0, 1.0])
    with pytest.raises(ValueError, match="no measurement"):
        judge(rates([0, 1], [0, 4], [0, 4], [1.0, 1.0]))
