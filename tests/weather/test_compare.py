"""Comparing two sides: no false alarms, what is there is found, and what people type."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC
from pathlib import Path

import numpy as np
import pytest

from benchmarks.truth.weather.compare import (
    CASES,
    SIX,
    Case,
    Six,
    autoregressive,
    bimodal,
    loaded,
    lognormal,
    measure,
    measure_six,
    measure_world,
)
from benchmarks.truth.weather.compare_worlds import worlds
from iosonde.model.errors import NothingMeasuredError, UnitError, UsageError
from iosonde.model.periods import parse_period
from iosonde.stats.multiple import benjamini_hochberg, holm, simes
from iosonde.weather.compare import dependence
from iosonde.weather.compare.compare import compare
from iosonde.weather.compare.ratios import MARGIN, of_a, short_ratio
from iosonde.weather.compare.seasons import hours_of_week, match
from iosonde.weather.compare.shift import FEWEST, LEVELS, Pair
from iosonde.weather.compare.sides import Period
from iosonde.weather.compare.unseen_load import FEWEST_FREEDOM
from iosonde.weather.compare.words import judge, say_comparison
from iosonde.weather.samples.periods import Part, part_samples, part_series, runs
from iosonde.weather.store import Store
from iosonde.weather.stored.selectors import Defaults, known_names, select, select_all, sides
from tests.kit.commands import run
from tests.kit.samples.made import USUAL_NS, Trouble, made
from tests.kit.samples.makers import SECOND, START, row, rows, sealed, simulated


def shift(a, b):
    return Pair(a, b, LEVELS).shift()


HOUR = 3600 * SECOND
MONDAY = 1_790_553_600 * SECOND
"""2026-09-28 00:00 UTC."""


def period(values, step_s=1.0, start_s=0.0):
    at = start_s + np.arange(len(values)) * step_s
    return Period(at, np.asarray(values, dtype=float), np.ones(len(values)))


@pytest.mark.parametrize(
    "case",
    [
        Case("lognormal", lognormal),
        Case("two modes", bimodal),
        Case("AR(1)", autoregressive),
        Case("load of a minute, 10 min", loaded(60)),
        Case("load of half an hour, 4 h", loaded(1800), 960, 15.0),
    ],
    ids=lambda case: case.name,
)
def test_without_a_difference_it_says_so_in_at_most_5_percent(case):
    # more than 5 of 30 have a probability of 0.3% when the rate is 5%
    assert measure(case, 30, 7).said <= 5 / 30


def test_a_naive_interval_would_fail_that():
    """The same pairs by order statistics that take the samples as independent."""
    rng = np.random.default_rng(7)
    wrong = 0
    for _ in range(40):
        one, other = (np.log(loaded(60)(rng, 600, 1.0)) for _ in range(2))
        error = 1.2533 * np.sqrt(one.var() / 600 + other.var() / 600)
        wrong += abs(np.median(other) - np.median(one)) > 1.96 * error
    assert wrong / 40 > 0.3


def test_six_ops_know_more_about_the_load_than_one():
    """All a fifth slower: found; without a difference, under one load: not said."""
    assert measure_six(Six("all", shifted=(0, 1, 2, 3, 4, 5)), 6, 16)[1] >= 0.9
    assert measure_six(Six("one load", 60), 8, 17)[0] <= 0.2


def test_what_others_show_makes_calm_calmer_and_a_load_likelier():
    alone = dependence.no_load_beside([])
    assert alone == pytest.approx(dependence.NO_LOAD)
    assert dependence.no_load_beside([0.4] * 5) > 0.9
    assert dependence.no_load_beside([0.4, 0.4, 1e6, 0.4, 0.4]) == pytest.approx(
        dependence.CALM, rel=0.01
    )
    assert dependence.no_load_beside([1.0]) == pytest.approx(alone)
    assert dependence.no_load_beside([1e300] * 5) == pytest.approx(dependence.CALM)


@pytest.mark.parametrize("factor", [1.2, 1 / 1.2])
def test_a_fifth_is_found_at_600_samples(factor):
    got = measure(Case("shifted", lognormal, factor=factor), 40, 8)
    assert got.said >= 0.9
    assert got.covered[1] >= 0.85


def test_the_smallest_difference_is_found_in_about_four_of_five():
    rng = np.random.default_rng(9)
    smallest = shift(*(period(lognormal(rng, 2000, 1.0)) for _ in range(2))).smallest[1]
    assert 1.02 < smallest < 1.10
    found = 0
    for _ in range(40):
        one, other = lognormal(rng, 2000, 1.0), lognormal(rng, 2000, 1.0) * smallest
        found += shift(period(one), period(other)).p_value[1] <= 0.05
    assert 0.65 <= found / 40 <= 1.0


def test_interval_and_p_value_are_one_thing():
    rng = np.random.default_rng(10)
    seen = set()
    for factor in np.linspace(1.0, 1.3, 12):
        got = shift(period(lognormal(rng, 600, 1.0)), period(lognormal(rng, 600, 1.0) * factor))
        excluded = (got.lower > 1) | (got.upper < 1)
        assert np.array_equal(excluded, (got.p_value < 0.05) & ~np.isnan(got.lower + got.upper))
        seen |= set(excluded.tolist())
    assert seen == {True, False}


def test_swapping_the_sides_inverts_the_answer():
    rng = np.random.default_rng(11)
    one, other = period(lognormal(rng, 900, 1.0)), period(lognormal(rng, 700, 1.0) * 1.1)
    there, back = shift(one, other), shift(other, one)
    assert there.ratio == pytest.approx(1 / back.ratio)
    assert there.lower == pytest.approx(1 / back.upper)
    assert there.p_value == pytest.approx(back.p_value)


def test_too_few_samples_give_no_number():
    got = shift(period(np.arange(1, FEWEST)), period(np.arange(1, 100)))
    assert np.isnan(got.ratio).all()
    got = shift(period(np.arange(1, 61)), period(np.arange(2, 62)))
    assert np.isnan(got.upper[LEVELS.index(0.99)])
    assert not np.isnan(got.upper[LEVELS.index(0.5)])


def test_equal_values_are_the_same():
    got = shift(period(np.full(600, 5.0)), period(np.full(900, 5.0)))
    assert got.lower[:5] == pytest.approx(np.ones(5))
    assert got.upper[:5] == pytest.approx(np.ones(5))
    assert got.p_value == pytest.approx(np.ones(6))


def test_a_coarse_clock_is_no_load():
    """Many equal values, as a clock of coarse steps gives them, in any order of time."""
    rng = np.random.default_rng(15)
    one, other = (np.round(lognormal(rng, 2000, 1.0) * 1e4) for _ in range(2))
    got = shift(period(one), period(other))
    assert got.effective_a.min() > 1000
    assert (got.lower <= 1).all()
    assert (got.upper >= 1).all()


def test_many_questions():
    assert simes(np.array([0.01, 0.02, 0.03, 0.04])) == pytest.approx(0.04)
    assert np.isnan(simes(np.array([np.nan])))
    assert holm(np.array([0.01, 0.04, np.nan, 0.03])) == pytest.approx(
        [0.03, 0.06, np.nan, 0.06], nan_ok=True
    )
    adjusted = benjamini_hochberg(np.array([[0.01, 0.04], [0.03, np.nan]]))
    assert adjusted == pytest.approx(np.array([[0.03, 0.04], [0.04, np.nan]]), nan_ok=True)


def test_hours_of_the_week_are_local():
    at = np.array([MONDAY, MONDAY + HOUR, MONDAY - HOUR])
    assert hours_of_week(at, UTC).tolist() == [0, 1, 167]


def test_weeks_are_matched_by_hour_of_week_and_equal_in_mix():
    week = MONDAY + np.arange(0, 7 * 24 * 4) * (HOUR // 4)
    later = week[week < MONDAY + 5 * 24 * HOUR] + 7 * 24 * HOUR
    got = match(week, np.zeros(len(week), int), later, np.zeros(len(later), int), UTC)
    assert (got.basis, got.hours, got.hours_a, got.hours_b) == ("hour of week", 120, 168, 120)
    assert got.used_a == pytest.approx(5 / 7)
    assert got.used_b == 1.0
    mixes = [
        np.bincount(hours_of_week(due, UTC), weights=weight, minlength=168)
        for due, weight in ((week, got.weight_a), (later, got.weight_b))
    ]
    assert mixes[0] == pytest.approx(mixes[1])


def test_different_days_are_matched_by_hour_of_day_or_not_at_all():
    day = MONDAY + np.arange(0, 24 * 60) * 60 * SECOND
    none = np.zeros(len(day), int)
    assert match(day, none, day + 24 * HOUR, none, UTC).basis == "hour of day"
    morning = day[:60]
    got = match(morning, none[:60], morning + 5 * HOUR, none[:60], UTC)
    assert (got.basis, got.used_a) == ("none", 1.0)


def test_a_daily_pattern_is_no_difference():
    """Nights are three times as fast; A has more nights than B. Matched, nothing is left of that."""
    rng = np.random.default_rng(12)
    minutes_a, minutes_b = np.arange(0, 3 * 1440, 2), np.arange(7 * 1440 + 480, 9 * 1440, 2)
    value = [
        lognormal(rng, len(m), 1.0) * np.where(m % 1440 < 480, 1 / 3, 1.0)
        for m in (minutes_a, minutes_b)
    ]
    due = [MONDAY + m * 60 * SECOND for m in (minutes_a, minutes_b)]
    got = match(due[0], np.zeros(len(due[0]), int), due[1], np.zeros(len(due[1]), int), UTC)
    at = [m * 60.0 for m in (minutes_a, minutes_b)]
    weights = (got.weight_a, got.weight_b)
    matched = [
        Period(a[w > 0], v[w > 0], w[w > 0]) for a, v, w in zip(at, value, weights, strict=True)
    ]
    raw = [Period(a, v, np.ones(len(v))) for a, v in zip(at, value, strict=True)]
    assert shift(*raw).ratio[0] > 1.3
    assert shift(*matched).ratio == pytest.approx(np.ones(6), rel=0.12)


def test_hosts_on_one_side_only_are_left_out():
    due = MONDAY + np.arange(100) * SECOND
    group_a, group_b = np.repeat([0, 1], 50), np.zeros(100, int)
    got = match(due, group_a, due + 7 * 24 * HOUR, group_b, UTC)
    assert got.used_a == 0.5
    assert not got.weight_a[50:].any()


PERIODS = {
    "2026-09-20": (1_789_862_400, 1_789_948_800),
    "2026-09-19..2026-09-20": (1_789_776_000, 1_789_948_800),
    "2026-W38": (1_789_344_000, 1_789_948_800),
    "2026-08": (1_785_542_400, 1_788_220_800),
    "yesterday": (1_789_862_400, 1_789_948_800),
    "2026-09-20T10:00..2026-09-20T12:00": (1_789_898_400, 1_789_905_600),
}


@pytest.mark.parametrize(("text", "ends"), PERIODS.items())
def test_periods(text, ends):
    assert parse_period(text, START, UTC) == (ends[0] * SECOND, ends[1] * SECOND)


def test_periods_that_reach_the_present():
    assert parse_period("-2h", START, UTC) == (START - 2 * HOUR, START)
    assert parse_period("today", START, UTC)[1] == START
    assert parse_period("-3h..-1h", START, UTC) == (START - 3 * HOUR, START - HOUR)


@pytest.mark.parametrize(
    "text",
    ["2026-13", "2026-02-30", "2026-W60", "..today", "a..b", "2030-01-01", "b", "", "1..2..3"],
)
def test_periods_that_are_none(text):
    with pytest.raises(UnitError):
        parse_period(text, START, UTC)


def two_days(root, factor=1.0):
    """Reads and stats of two days of one hour each, the second slower in reads."""
    rng = np.random.default_rng(13)
    for place, run_id in enumerate(("first", "second")):
        start = MONDAY + place * 24 * HOUR
        samples = []
        for op in ("data_read", "md_stat"):
            scale = factor if place and op == "data_read" else 1.0
            services = (lognormal(rng, 3600, 1.0) * scale * 1e9).astype(int).tolist()
            samples += rows(services, start, op=op, run_id=run_id)
        sealed(root, run_id, samples, start)
    return Store(root)


def test_two_days_in_a_store(tmp_path, utc):
    store = two_days(tmp_path, 1.3)
    a, b = (
        Part("/work", since_ns=MONDAY + d * 24 * HOUR, until_ns=MONDAY + (d + 1) * 24 * HOUR)
        for d in (0, 1)
    )
    found = {op.op: op for op in judge(compare(store, a, b, zone=UTC))}
    assert {op: got.verdict for op, got in found.items()} == {
        "data_read": "slower",
        "md_stat": "same",
    }
    middle = found["data_read"].levels[1]
    assert middle.lower < 1.3 < middle.upper
    assert middle.changed
    assert found["data_read"].basis == "hour of day"
    assert "not the same days of the week" in found["data_read"].notes[0]
    assert "reads are slower in B: q" in say_comparison(found["data_read"])
    back = judge(compare(store, b, a, zone=UTC))
    assert [op.verdict for op in back] == ["faster", "same"]


def test_commands(tmp_path, utc, capsys, monkeypatch):
    two_days(tmp_path, 1.3)
    monkeypatch.setattr("iosonde.cli.shared.options.now_ns", lambda: MONDAY + 30 * HOUR)
    assert run("compare", "yesterday", "today", store=tmp_path) == 0
    out = capsys.readouterr().out
    assert "reads are slower in B" in out
    assert "stats are the same in B as in A" in out
    assert run("compare", "first", "seco", "--format", "json", store=tmp_path) == 0
    ops = json.loads(capsys.readouterr().out)["ops"]
    assert [op["verdict"] for op in ops] == ["slower", "same"]
    assert {len(op["quantiles"]) for op in ops} == {len(LEVELS)}
    assert run("compare", "@2026-09-28", "@2026-09-29", "--format", "csv", store=tmp_path) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1 + 2 * len(LEVELS)


@pytest.mark.parametrize(
    ("sides_", "message"),
    [
        (("/wrk", "today"), "'/wrk' is neither"),
        (("first", "first"), "the same samples"),
        (("@2026-09-28..2026-09-29", "today"), "overlap"),
        (("run:first", "/work@yesterday"), "overlap"),
        (("run:nobody", "today"), "there is no run 'nobody'"),
        (("yesterday", "2026-09-28..2026-09-27"), "ends before it begins"),
        (("/scratch@today", "today"), "'/scratch' is neither"),
        (("2026-08", "today"), "no samples for A"),
    ],
)
def test_nonsense_is_refused(tmp_path, utc, capsys, monkeypatch, sides_, message):
    two_days(tmp_path)
    monkeypatch.setattr("iosonde.cli.shared.options.now_ns", lambda: MONDAY + 30 * HOUR)
    assert run("compare", *sides_, store=tmp_path) in (1, 2)
    assert message in capsys.readouterr().err


def test_selectors_know_targets_hosts_and_runs(tmp_path):
    two_days(tmp_path)
    known = known_names(runs(tmp_path))
    assert select("/work/", known, START, UTC) == Part("/work")
    assert select("login2", known, START, UTC) == Part(host="login2")
    assert select("seco", known, START, UTC) == Part(run_id="second")
    assert select("target:/work@-1h", known, START, UTC) == Part(
        "/work", since_ns=START - HOUR, until_ns=START
    )
    many = replace(known, targets=frozenset({"/work", "/home"}))
    with pytest.raises(UsageError, match="the target is missing"):
        sides(Part(since_ns=1, until_ns=2), Part(since_ns=3, until_ns=4), Defaults(), many)
    one, other = sides(Part("/work"), Part("/home"), Defaults(since_ns=5), many)
    assert (one.since_ns, other.since_ns) == (5, 5)
    with pytest.raises(UsageError, match="begins 2 run ids"):
        select("firs", replace(known, run_ids=frozenset({"first", "firsts"})), START, UTC)


def test_selectors_know_targets_by_the_path_they_are_watched_at(tmp_path, monkeypatch):
    two_days(tmp_path)
    states = [
        {"target": "/work", "path": "/mnt/lustre/dir"},
        {"target": "elsewhere", "path": "/other"},
        {"target": None, "path": None},
    ]
    known = known_names(runs(tmp_path), states)
    assert select("/mnt/lustre/dir/", known, START, UTC) == Part("/work")
    assert select("target:/mnt/lustre/dir@-1h", known, START, UTC).target == "/work"
    monkeypatch.chdir("/")
    assert select("mnt/../mnt/lustre/dir", known, START, UTC) == Part("/work")
    with pytest.raises(UsageError, match="'/other' is neither"):
        select("/other", known, START, UTC)
    two = {"/mnt": frozenset({"/work", "/home"})}
    with pytest.raises(UsageError, match="several targets are watched at /mnt"):
        select("/mnt", replace(known, targets_at=two), START, UTC)
    both = replace(known, targets_at={"/work": frozenset({"/home"})})
    assert select("/work", both, START, UTC) == Part("/work"), "a name is asked first"


def test_a_word_may_begin_several_runs(tmp_path):
    two_days(tmp_path)
    known = replace(
        known_names(runs(tmp_path)),
        run_ids=frozenset({"mdw-i0", "mdw-i1", "mdwx-i0", "abcd1", "abcd2"}),
    )
    assert [part.run_id for part in select_all("mdw", known, START, UTC)] == ["mdw-i0", "mdw-i1"]
    assert [part.run_id for part in select_all("run:abcd", known, START, UTC)] == ["abcd1", "abcd2"]
    parts = select_all("mdw@-1h", known, START, UTC)
    assert [(part.run_id, part.until_ns) for part in parts] == [
        ("mdw-i0", START),
        ("mdw-i1", START),
    ]
    with pytest.raises(UsageError, match="'abc' is neither"):
        select_all("abc", known, START, UTC)


def test_a_run_beside_another_day_or_another_host_is_no_overlap(tmp_path):
    two_days(tmp_path)
    known = known_names(runs(tmp_path))
    day = Part("/work", since_ns=MONDAY + 24 * HOUR, until_ns=MONDAY + 48 * HOUR)
    assert sides(Part(run_id="first"), day, Defaults(), known)[0].target == "/work"
    assert sides(Part("/work", host="a"), Part("/work", host="b"), Defaults(), known)


def test_the_page_says_what_the_code_does():
    page = (Path(__file__).parents[2] / "docs" / "methods" / "compare.md").read_text()
    words = " ".join(page.split())
    assert f"({len(dependence.SHARES)} shares, {dependence.TAUS} time constants" in words
    assert f"{dependence.BLOCKS} blocks" in words
    assert f"`h = 0` with {dependence.NO_LOAD}" in words
    assert f"to {dependence.SLOWEST_LOAD_S / 60:.0f} minutes" in words
    assert f"(1/{MARGIN} to {MARGIN}" in words
    assert (
        f"{dependence.ALL_CALM} that no op has a load, {dependence.CALM} that one has none" in words
    )
    assert f"at least {FEWEST_FREEDOM:g}): four bursts" in words
    assert f"fewer than {FEWEST} samples has no answer" in words
    for name in (*(case.name for case in (*CASES, *SIX)), *worlds(None)):
        assert f"| {name} |" in page


def test_what_a_user_waited_is_compared(tmp_path):
    samples = [
        row(MONDAY, 3 * SECOND // 2),
        row(
            MONDAY + SECOND,
            5_000_000,
            began_ns=MONDAY + 2 * SECOND,
            ended_ns=MONDAY + 2 * SECOND + 5,
        ),
        row(MONDAY + 2 * SECOND, 7, outcome="skipped", began_ns=None, ended_ns=MONDAY + 9 * SECOND),
        row(MONDAY + 3 * SECOND, None),
        row(MONDAY + 4 * SECOND, 7, outcome="shed", began_ns=None, ended_ns=None),
        row(MONDAY + 5 * SECOND, 7, outcome="EIO"),
    ]
    sealed(tmp_path, "r", samples, MONDAY)
    part = Part("/work")
    frame = part_samples(tmp_path, part, part_series(tmp_path, part))
    expected = [3 * SECOND // 2, SECOND + 5, 7 * SECOND, np.nan, np.nan]
    assert frame["response_ns"] == pytest.approx(expected, nan_ok=True)
    assert frame["lost"].tolist() == [False, True, True, True, True]


@pytest.mark.parametrize(
    ("queued", "usual_ns", "explained"),
    [(1.0, None, True), (0.2, None, False), (0.0, 13_000, True)],
    ids=["waits for a CPU", "a fifth of it", "a processor that wakes"],
)
@pytest.mark.parametrize("first", ["A", "B"])
def test_a_busy_host_is_no_slower_storage(
    tmp_path, monkeypatch, queued, usual_ns, explained, first
):
    if usual_ns is not None:
        monkeypatch.setitem(USUAL_NS, "md_create", usual_ns)
    trouble = Trouble("md_create", 1800, 3600, 2.3, queued=queued)
    made(tmp_path, np.random.default_rng(3), START, 3600, [trouble], ops=("md_create",))
    periods = [(START + k * HOUR // 2, START + (k + 1) * HOUR // 2) for k in (0, 1)]
    parts = [Part("/work", since_ns=since, until_ns=until) for since, until in periods]
    if first == "B":
        parts.reverse()
    verdict = judge(compare(Store(tmp_path), *parts))[0]
    word = "slower" if first == "A" else "faster"
    assert (verdict.verdict, verdict.host_busy) == (word, explained)
    words = f"; the probing host explains it, not proof of {word} storage"
    assert say_comparison(verdict).endswith(words) == explained
    assert verdict.to_json()["host_busy"] == explained


def test_quantiles_that_moved_both_ways_are_told(tmp_path):
    compared = compare(
        two_days(tmp_path),
        Part(run_id="first", target="/work"),
        Part(run_id="second", target="/work"),
    )
    op = compared.ops[0]
    got = replace(
        op.shift,
        ratio=np.array([0.8, 0.8, 0.8, 1.0, 1.3, 1.5]),
        lower=np.array([0.78, 0.78, 0.7, 0.9, 1.2, 1.1]),
        upper=np.array([0.82, 0.82, 0.9, 1.1, 1.4, 1.9]),
        p_value=np.full(6, 1e-9),
        same_lower=np.full(6, 0.7),
    )
    adjusted = np.array([1e-9, 1e-9, 1e-9, 0.5, 0.001, 0.01])
    (found,) = judge(
        replace(compared, ops=[replace(op, shift=got, p_value=1e-8, adjusted=adjusted)])
    )
    assert found.verdict == "faster"
    assert [level.level for level in found.against] == [0.95, 0.99]
    assert "but the other way at q95 1.30 (1.20-1.40), q99" in say_comparison(found)


def test_little_data_says_what_it_could_have_seen(tmp_path):
    rng = np.random.default_rng(14)
    for place in (0, 1):
        start = MONDAY + place * 7 * 24 * HOUR
        services = (lognormal(rng, 200, 1.0) * 1e9).astype(int).tolist()
        sealed(tmp_path, f"run{place}", rows(services, start, run_id=f"run{place}"), start)
    (found,) = judge(
        compare(Store(tmp_path), Part("/work", run_id="run0"), Part("/work", run_id="run1"))
    )
    assert found.verdict == "not enough data"
    assert found.levels[-1].ratio is None
    assert 1.2 < found.needed.factor < 4
    assert 1 < found.needed.longer < 100
    assert (
        f"at these ratios, {found.needed.longer:.2g} times the time would tell"
        in say_comparison(found)
    )
    told = say_comparison(found)
    assert f"a factor of {found.needed.factor:.2f} would have been seen" in told
    assert len(told.split()) <= 25
    assert found.to_json()["needed"]["factor"] == found.needed.factor
    vague = replace(found, needed=found.needed._replace(factor=80.51, longer=None))
    assert say_comparison(vague).endswith("a factor of 81 would have been seen")


def test_what_would_have_been_seen_is_found_in_about_four_of_five():
    rng = np.random.default_rng(21)
    pairs = [Pair(*(period(lognormal(rng, 200, 1.0)) for _ in range(2))) for _ in range(5)]
    for pair in pairs:
        pair.shift()
    seen = np.median([pair.seen(0.05) for pair in pairs])
    found = [
        shift(period(lognormal(rng, 200, 1.0)), period(lognormal(rng, 200, 1.0) * seen)).different
        for _ in range(30)
    ]
    assert 0.6 <= np.mean(np.array(found) <= 0.05) <= 1.0
    assert all(pair.seen(0.05 / 6) > pair.seen(0.05) for pair in pairs)


def test_fewer_samples_than_any_answer_needs_are_told(tmp_path):
    for name, n in (("few", FEWEST - 8), ("many", 100)):
        sealed(tmp_path, name, rows([5_000_000] * n, MONDAY, run_id=name), MONDAY)
    (found,) = judge(
        compare(Store(tmp_path), Part("/work", run_id="few"), Part("/work", run_id="many"))
    )
    assert say_comparison(found).endswith("each side needs 20 samples, and one has 12")
    assert found.needed.samples == FEWEST


def test_a_difference_that_no_load_explains_is_found_however_many_ops_are_asked():
    """38 times as long in all of six ops: the quantiles' p values have a floor, the whole has none."""
    alone, whole = measure_world(loaded(300), 6, 38.0, (118, 80), (4, 3))[2:]
    assert alone < 1
    assert whole == 1


@pytest.mark.parametrize("make", worlds(None).values(), ids=worlds(None))
def test_periods_of_one_process_of_another_world_are_called_different_in_at_most_5_percent(make):
    # more than 4 of 25 have a probability of 0.7% when the rate is 5%
    assert measure_world(make, 1, 1.0, (300, 300), (25, 22))[1] <= 4 / 25


def test_the_whole_is_the_ratio_of_geometric_means_and_wider_than_for_independent_samples():
    rng = np.random.default_rng(23)
    one, other = lognormal(rng, 900, 1.0), 1.3 * lognormal(rng, 700, 1.0)
    there, back = shift(period(one), period(other)).whole, shift(period(other), period(one)).whole
    assert there.ratio == pytest.approx(np.exp(np.log(other).mean() - np.log(one).mean()))
    assert (there.ratio, there.lower) == pytest.approx((1 / back.ratio, 1 / back.upper))
    assert there.p_value == pytest.approx(back.p_value)
    independent = 1.96 * np.sqrt(np.log(one).var() / 900 + np.log(other).var() / 700)
    assert np.log(there.upper / there.ratio) > independent


def test_the_whole_has_no_floor():
    """Each factor of ten makes it less likely that a load is the cause; a gap of shares cannot become larger."""
    rng = np.random.default_rng(24)
    one, other = autoregressive(rng, 80, 1.0), autoregressive(rng, 80, 1.0)
    got = [shift(period(one), period(other * 10.0**k)) for k in (1, 2, 3)]
    assert got[0].p_value[1] == pytest.approx(got[2].p_value[1])
    assert got[0].whole.p_value > 10 * got[1].whole.p_value > 100 * got[2].whole.p_value


def test_values_of_zero_from_a_coarse_clock_are_compared():
    got = shift(period(np.tile([0.0, 1.0, 2.0], 50)), period(np.tile([0.0, 100.0, 200.0], 50)))
    assert np.isfinite(got.whole.ratio)
    assert got.whole.ratio > 1
    assert shift(period(np.zeros(50)), period(np.zeros(50))).whole.ratio == 1


@pytest.mark.parametrize(
    ("ratio", "text"),
    [(1.214, "1.21"), (27.3, "27"), (0.1, "0.10"), (1 / 310.4, "1/310"), (0.0, "0.00")],
)
def test_ratios_are_readable(ratio, text):
    assert short_ratio(ratio) == text


def test_small_ratios_are_parts():
    assert of_a(1 / 310, 1 / 352, 1 / 281) == "1/310 (1/352-1/281) of A's"
    assert of_a(1.5, 0.05, 9.0) == "1.50 (1/20-9.00) times A's"
    assert of_a(1.5, None, None) == "n/a times A's"


def test_what_was_lost_is_said(tmp_path):
    """A hang of one side is one event, too little for a verdict; the sentence does not hide it."""
    simulated(tmp_path / "a", 900)
    hang = {"op": "md_create", "after": "300s", "for": "100s", "hang": True}
    simulated(tmp_path / "a", 900, hang, seed=8, host="login3")
    store = Store(tmp_path / "a")
    found = judge(compare(store, Part("/work", "login2"), Part("/work", "login3")))
    creates = next(op for op in found if op.op == "md_create")
    assert "of B were late or lost, 0.0% of A" in say_comparison(creates)
    assert "seen from different hosts" in creates.notes[0]


def test_a_side_without_samples(tmp_path):
    two_days(tmp_path)
    with pytest.raises(NothingMeasuredError, match="no samples for B"):
        compare(Store(tmp_path), Part("/work", run_id="first"), Part("/home"))
