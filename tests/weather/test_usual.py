"""What is usual of a store: guarded, all-time, a period; and windows against it."""

import numpy as np
import pytest

from iosonde.model.frames import Choice, SlowdownQuery
from iosonde.weather.slowdown import baseline as usual
from iosonde.weather.slowdown.baseline import intervals_of, learn
from iosonde.weather.slowdown.guarded import guard
from iosonde.weather.slowdown.slowdown import analyse
from iosonde.weather.slowdown.unusual import hour_of_week
from iosonde.weather.store import Store
from tests.kit.samples.made import Trouble, made
from tests.kit.samples.makers import SECOND

START = 1_788_739_200 * SECOND
"""A Monday, 00:00 UTC."""
DAY, HOUR, TEN = 86_400, 3_600, 600 * SECOND
OPS = ("data_read", "md_create")


@pytest.fixture(scope="module")
def week(tmp_path_factory):
    """A week at 5 s: creates are slow for two days, a fifth of the reads for an hour; reads are cached."""
    root = tmp_path_factory.mktemp("week")
    troubles = (
        Trouble("md_create", 4 * DAY, 6 * DAY, 8.0),
        Trouble("data_read", 6.5 * DAY, 6.5 * DAY + HOUR, 20.0, 0.2),
    )
    rng = np.random.default_rng(7)
    made(root, rng, START, 7 * DAY, troubles, period_s=5, cached=0.4, ops=OPS)
    return Store(root)


def of(result, op, begin_s, end_s):
    windows = result.windows
    start = windows["start_ns"] - START
    chosen = (windows["op"] == op) & (start >= begin_s * SECOND) & (start < end_s * SECOND)
    return windows.take(chosen)


def test_two_slow_days_are_not_learnt_and_a_cache_does_not_mislead(week):
    result = analyse(week, SlowdownQuery(window_ns=TEN))
    slow = of(result, "md_create", 4 * DAY, 6 * DAY)
    assert np.median(slow["typ"]) == pytest.approx(8.0, rel=0.05)
    assert slow["slow"].all()
    assert np.median(of(result, "md_create", 6 * DAY, 7 * DAY)["typ"]) == pytest.approx(1, rel=0.04)
    reads = of(result, "data_read", 3 * DAY, 6 * DAY)
    assert set(reads["stage"]) == {"reliable"}
    assert np.median(reads["hit_share"]) == pytest.approx(0.4, abs=0.03)
    assert np.median(reads["typ"]) == pytest.approx(1, rel=0.05)
    assert np.quantile(np.abs(np.log(reads["typ"])), 0.95) < 0.4
    part = of(result, "data_read", 6.5 * DAY, 6.5 * DAY + HOUR)
    assert np.nanmedian(part["tail"]) > 3
    assert not part["slow"].any()
    (span,) = [span for span in result.spans if span.key.op == "md_create"]
    assert span.slowdown == pytest.approx(8.0, rel=0.1)
    assert span.lower < 8.0 < span.upper


def test_the_first_hour_is_learnt_with_medians(week):
    windows = of(analyse(week, SlowdownQuery(window_ns=60 * SECOND)), "md_create", 0, HOUR)
    assert set(windows["stage"]) == {"learning"}
    assert np.isnan(windows["typ"]).all()
    known = ~np.isnan(windows["slowdown"])
    assert known.sum() == 55
    ratio = windows["q50_ns"] / windows["baseline_ns"]
    assert np.allclose(windows["slowdown"][known], ratio[known])


def test_the_published_factor_is_median_over_median_of_all(week):
    query = SlowdownQuery(
        window_ns=4 * HOUR * SECOND, statistic="median", choice=Choice("all-time")
    )
    result = analyse(week, query)
    samples = week.samples(("service_ns", "op"), ops=("md_create",))
    everything = np.median(samples["service_ns"])
    windows = result.windows.take(result.windows["op"] == "md_create")
    assert np.allclose(windows["slowdown"], windows["q50_ns"] / everything, rtol=0.012)


def test_a_reference_period_is_compared_with(week):
    slow = Choice("period", START + 4 * DAY * SECOND, START + 6 * DAY * SECOND)
    result = analyse(week, SlowdownQuery(window_ns=TEN, choice=slow))
    before = of(result, "md_create", 0, 3 * DAY)
    assert np.median(before["typ"]) == pytest.approx(1 / 8, rel=0.05)


def test_judging_from_roll_ups_equals_judging_from_samples(week):
    """SQL over samples and the kernel over histograms say the same, to the width of a bucket."""
    result = analyse(week, SlowdownQuery(window_ns=TEN))
    judged = guard(intervals_of(week.rollups()))
    for place, key in enumerate(judged.intervals.keys):
        rows = slice(*judged.intervals.first[place : place + 2].tolist())
        windows = result.windows.take(result.windows["op"] == key.op)
        assert np.array_equal(windows["start_ns"], judged.intervals.start_ns[rows])
        for name in ("typ", "tail"):
            mine, theirs = windows[name], judged.columns[name][rows]
            both = ~np.isnan(mine) & ~np.isnan(theirs)
            # A version that ends with an interval is for the next one, in both.
            assert both.sum() > 900
            assert np.abs(np.log(mine[both] / theirs[both])).max() < 0.045
        assert np.array_equal(windows["lost"], judged.columns["lost"][rows])


def test_windows_compared_some_at_a_time_are_those_compared_at_once(week, monkeypatch):
    whole = analyse(week, SlowdownQuery(window_ns=TEN)).windows
    monkeypatch.setattr(usual, "_TOGETHER", 37)
    parts = analyse(week, SlowdownQuery(window_ns=TEN)).windows
    for name, column in whole.columns.items():
        assert np.array_equal(column, parts[name], equal_nan=column.dtype == np.float64), name


def test_learning_is_causal(week):
    """What is known of an instant does not depend on what came after it."""
    until = START + 5 * DAY * SECOND
    whole, part = learn(week), learn(week, until_ns=until)
    for key, baseline in part.baselines.items():
        n = len(baseline.from_ns) - 1  # the last one looked at the interval that was cut
        assert np.array_equal(
            baseline.numbers[:n], whole.baselines[key].numbers[:n], equal_nan=True
        )


def test_unusual_is_relative_to_the_same_time_of_past_weeks():
    number = np.arange(5 * 1008, dtype=np.int64)
    typ = np.ones(len(number))
    typ[(number % 1008 >= 100) & (number % 1008 < 200)] = 3.0
    usual = hour_of_week(number, typ)
    assert np.isnan(usual[:1005]).all()
    late = number >= 1011
    backup = late & (number % 1008 >= 103) & (number % 1008 < 197)
    assert (usual[backup] == 3.0).all()
    quiet = late & ((number % 1008 < 97) | (number % 1008 >= 203))
    assert (usual[quiet] == 1.0).all()
    assert len(hour_of_week(np.empty(0, np.int64), np.empty(0))) == 0
