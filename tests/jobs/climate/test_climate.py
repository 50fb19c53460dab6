"""Climate: what was planted is found with its date, what was not is not; the recorded year says what it must."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.jobs.climate.climate import Climate, changed_on, climate
from iosonde.jobs.climate.metrics import by_day, safe_metrics
from iosonde.jobs.climate.series import DAY_NS
from iosonde.jobs.climate.words import say_along, say_change, say_climates, say_event, say_on_date
from iosonde.jobs.table.from_files import merged
from iosonde.model.errors import NothingMeasuredError, UsageError
from iosonde.model.frames import NULL_NS
from tests.kit.jobs.climates_made import runs, together, weathered
from tests.kit.jobs.jobs_made import DAY, START_S, table

START_NS = START_S * 10**9


def day(ns: int) -> float:
    """Days since the first day of made tables."""
    return (ns - START_NS) / DAY_NS


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("gap", [None, (144, 158)], ids=["no gap", "gap"])
def test_a_shift_of_three_of_five_series_is_one_event(seed: int, gap: tuple[int, int] | None):
    found = climate(together(seed=seed, gap=gap))
    assert {(c.file_system, c.motif) for c in found.changes} == {
        (place, "ior shared read") for place in ("one", "two", "three")
    }
    for change in found.changes:
        assert day(change.earliest_ns) < 150 <= day(change.latest_ns)
        assert change.earliest_ns < change.at_ns <= change.latest_ns
        assert 0.55 < change.ratio < 0.80
        assert change.q < 0.01
        assert not change.own
    (event,) = found.events
    assert event.file_systems == ("one", "three", "two")
    assert set(event.steady) == {("one", "hacc fpp write"), ("two", "hacc fpp write")}
    assert event.asked == 5
    assert day(event.earliest_ns) < 150 <= day(event.latest_ns)
    assert "ior shared read fell to 0.6" in say_event(event)
    assert "on all 3 file systems" in say_event(event)
    assert "2 of 5 series did not change" in say_event(event)
    assert ("with no run from 2027-03-0" in say_event(event)) == (gap is not None)


def test_where_nothing_was_planted_nothing_is_found():
    still = {(place, "app fpp write"): ((0.0, 0.0),) for place in "abcde"}
    changes = [
        len(climate(runs(np.random.default_rng(seed), still, days=200, phi=0.5)).changes)
        for seed in range(8)
    ]
    assert sum(n > 0 for n in changes) <= 1


def test_segments_are_the_runs_between_changes():
    found = climate(together())
    for one in found.series:
        assert sum(part.n for part in one.segments) == len(one.values)
        assert len(one.segments) == len(one.changes) + 1
        for part in one.segments:
            inside = (one.times_ns >= part.start_ns) & (one.times_ns <= part.end_ns)
            values = one.values[inside]
            assert part.n == len(values)
            assert part.median == pytest.approx(np.median(values))
            assert part.mad == pytest.approx(np.median(np.abs(values - np.median(values))))
            assert part.peak == values.max()
            assert part.of_own_peak == pytest.approx(np.median(values) / values.max())
    assert max(part.peak for part in found.series[0].segments) == 1.0


def test_two_dates_are_two_events():
    early, late = ((0.0, 0.0), (80.0, -0.5)), ((0.0, 0.0), (220.0, 0.5))
    series = {("a", "x"): early, ("b", "x"): early, ("a", "y"): late, ("b", "y"): late}
    found = climate(runs(np.random.default_rng(5), series))
    assert [sorted({c.motif for c in event.changes}) for event in found.events] == [["x"], ["y"]]
    assert [len(event.changes) for event in found.events] == [2, 2]
    on = changed_on(found, START_NS + 220 * DAY_NS)
    assert {(c.file_system, c.motif) for c in on.changes} == {("a", "y"), ("b", "y")}
    assert set(on.steady) == {("a", "x"), ("b", "x")}
    assert any("y rose" in line for line in say_on_date(on))
    quiet = changed_on(found, START_NS + 150 * DAY_NS)
    assert not quiet.changes
    assert "no lasting change" in say_on_date(quiet)[0]
    assert len(quiet.steady) == 4


def test_a_benchmark_that_does_something_else_is_told():
    series = {("fs", "app"): ((0.0, 0.0), (100.0, -0.6))}
    found = climate(
        runs(np.random.default_rng(3), series, own={("fs", "app"): (100.0, 10.0, 90.0)})
    )
    (change,) = found.changes
    (own,) = change.own
    assert (own.metric, round(own.before), round(own.after)) == ("own_reads", 10, 90)
    assert "the jobs themselves changed: reads of the job 10.0 -> 90.0" in say_change(change)


def test_what_changed_with_it_is_told_and_what_leaks_is_not():
    made = together()
    rng = np.random.default_rng(9)
    at = (made.start_ns - START_NS) / DAY_NS
    full = np.where(at < 150, 60.0, 80.0) + rng.standard_normal(len(made))
    fast = 100 * made.metrics["fraction_of_peak_ratio"] + rng.standard_normal(len(made))
    flat = 5 + rng.standard_normal(len(made))
    made = made.with_metrics(
        {
            "fullest_ost_percent": full,
            "oss_cpu_max_percent": fast,
            "mds_cpu_mean_percent": flat,
            "performance_bytes_per_s": made.metrics["fraction_of_peak_ratio"] * 1e9,
        }
    )
    found = climate(made)
    (event,) = found.events
    assert {m.metric for m in event.metrics} == {"fullest_ost_percent"}
    assert {m.file_system for m in event.metrics} == {"one", "two", "three"}
    assert any(line.startswith("fullest OST on one 6") for line in say_along(event))
    safe = {one.name for one in safe_metrics(made)}
    assert "oss_cpu_max_percent" not in safe
    assert {"fullest_ost_percent", "mds_cpu_mean_percent"} <= safe


@pytest.mark.parametrize("seed", [80, 81, 82])
def test_three_climates_are_found_with_their_dates(seed: int):
    (place,) = climate(weathered(seed, 1.5, (0, 120, 240), (0, 1, 2))).regimes
    starts = [day(regime.start_ns) for regime in place.regimes]
    assert len(starts) == 3
    assert np.abs(np.array(starts) - (0, 120, 240)).max() <= 5
    assert [regime.name for regime in place.regimes] == ["A", "B", "C"]
    assert place.regimes[1].distinct
    assert {one.against for one in place.regimes[1].distinct} == {"before"}


def test_a_climate_that_comes_back_has_its_name():
    (place,) = climate(weathered(84, 2.5, (0, 90, 180, 270), (0, 1, 0, 1))).regimes
    assert [regime.name for regime in place.regimes] == ["A", "B", "A", "B"]
    assert place.climates == 2
    assert place.at(START_NS + 100 * DAY_NS) is place.regimes[1]
    assert place.at(START_NS - DAY_NS) is None


def test_a_stationary_year_is_one_climate():
    places = [climate(weathered(seed, 0.0, (0,), (0,))).regimes[0] for seed in range(20, 26)]
    assert sum(len(place.regimes) > 1 for place in places) <= 1


@settings(max_examples=15, deadline=None)
@given(st.data())
def test_events_hold_every_change_once(data: st.DataObject):
    seed = data.draw(st.integers(0, 10**6))
    rng = np.random.default_rng(seed)
    series = {
        (place, motif): ((0.0, 0.0), (float(rng.uniform(20, 100)), float(rng.uniform(-1, 1))))
        for place in "ab"
        for motif in "xy"
    }
    found = climate(runs(rng, series, days=120))
    held = [change for event in found.events for change in event.changes]
    assert sorted(map(repr, held)) == sorted(map(repr, found.changes))
    for event in found.events:
        assert event.earliest_ns <= event.at_ns <= event.latest_ns
        keys = [(change.file_system, change.motif) for change in event.changes]
        assert len(set(keys)) == len(keys)
        assert not set(keys) & set(event.steady)
        for change in event.changes:
            assert change.earliest_ns <= event.earliest_ns <= event.latest_ns <= change.latest_ns


def test_medians_of_days():
    start = np.array([0, 1, 2, 3 * DAY_NS, 3 * DAY_NS + 5], dtype=np.int64)
    first, days = by_day(
        start, {"a": np.array([1.0, np.nan, 4.0, np.nan, np.nan]), "b": np.arange(5.0)}
    )
    assert first == 0
    np.testing.assert_equal(days[:, 0], [2.5, np.nan, np.nan, np.nan])
    np.testing.assert_equal(days[:, 1], [1.0, np.nan, np.nan, 3.5])


def test_short_series_and_odd_rows_are_left_out():
    made = together()
    odd = made.take(slice(0, 40))
    odd = replace(
        odd,
        file_system=np.full(40, "tiny", dtype=object),
        motif=np.array(["few"] * 5 + [""] * 35, dtype=object),
    )
    whole = merged([made, odd])
    start = whole.start_ns.copy()
    start[whole.motif == ""] = NULL_NS
    fraction = whole.metrics["fraction_of_peak_ratio"].copy()
    fraction[:7] = (np.nan, np.inf, 0.0, -1.0, np.nan, np.nan, np.nan)
    found = climate(
        replace(whole, start_ns=start).with_metrics({"fraction_of_peak_ratio": fraction})
    )
    assert ("tiny", "few") in found.too_short
    assert len(found.series) == 5
    assert len(found.changes) == 3


def test_only_what_is_asked_for():
    made = together()
    found = climate(made, file_system="one", until_ns=START_NS + 140 * DAY_NS)
    assert {one.file_system for one in found.series} == {"one"}
    assert not found.changes
    assert found.until_ns < START_NS + 140 * DAY_NS
    assert {one.motif for one in climate(made, motif="hacc fpp write").series} == {"hacc fpp write"}


def test_what_cannot_be_answered():
    made = together()
    with pytest.raises(UsageError, match=r"no job has the file system 'four'.*one, three, two"):
        climate(made, file_system="four")
    with pytest.raises(UsageError, match="no job has the motif"):
        climate(made, motif="nothing")
    with pytest.raises(UsageError, match="no I/O performance"):
        climate(table({"own_reads": [1.0, 2.0]}))
    with pytest.raises(NothingMeasuredError):
        climate(made, since_ns=START_NS + 10_000 * DAY_NS)
    with pytest.raises(NothingMeasuredError):
        climate(table({"fraction_of_peak_ratio": [np.nan, 0.0]}))


@pytest.mark.parametrize("n", [1, 2, 12])
def test_few_or_equal_runs_change_nothing(n: int):
    found: Climate = climate(table({"fraction_of_peak_ratio": [1.0] * n}))
    assert not found.changes
    assert not found.events
    assert len(found.too_short) == (n < 10)
    assert found.regimes[0].regimes == ()
    assert "too few motifs and metrics" in say_climates(found.regimes[0])


def test_tables_are_joined():
    one = table({"performance_bytes_per_s": [1.0, 2.0], "own_reads": [1.0, 1.0]})
    later = [START_S + 5 * DAY, START_S + 0.5 * DAY]
    two = table({"performance_bytes_per_s": [4.0, 1.0]}, start_s=later, job_id=["8", "9"])
    both = merged([one, two, one])
    assert both.job_id.tolist() == ["1", "9", "2", "8"]
    np.testing.assert_equal(both.metrics["own_reads"], [1.0, np.nan, 1.0, np.nan])
    assert merged([one]) is one


def test_rare_motifs_do_not_hide_the_climates_of_the_others():
    made = weathered(80, 1.5, (0, 120, 240), (0, 1, 2))
    rare = replace(made, motif=np.array([f"app{i}" for i in range(365)], dtype=object))
    (place,) = climate(merged([made, replace(rare, step=rare.motif)])).regimes
    assert place.motifs == ("ior shared write",)
    assert len(place.regimes) == 3


def test_many_runs_and_motifs_take_bounded_time():
    rng = np.random.default_rng(1)
    n = 6000
    motif = [f"app{i}" for i in rng.integers(0, 3000, n // 2)] + ["daily"] * (n // 2)
    start = np.sort(rng.uniform(0, 300, n)) * DAY + START_S
    metrics = {"fraction_of_peak_ratio": rng.random(n), "fullest_ost_percent": rng.random(n)}
    began = time.process_time()
    found = climate(table(metrics, motif=motif, start_s=start.tolist()))
    assert time.process_time() - began < 10
    assert len(found.too_short) > 1500


def test_a_change_among_very_many_runs():
    rng = np.random.default_rng(2)
    n = 23_000
    at = np.sort(rng.uniform(0, 200, n))
    f = np.where(at < 120, 0.8, 0.6) * np.exp(0.1 * rng.standard_normal(n))
    found = climate(
        table({"fraction_of_peak_ratio": f / f.max()}, start_s=(START_S + at * DAY).tolist())
    )
    (change,) = found.changes
    assert abs(day(change.at_ns) - 120) < 0.5
    assert change.n_before + change.n_after == n
    assert change.ratio == pytest.approx(0.75, abs=0.02)
