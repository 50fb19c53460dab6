from __future__ import annotations

import numpy as np
import pytest

from iosonde.model.errors import UsageError
from iosonde.model.frames import SlowdownQuery
from iosonde.model.ops import OPS
from iosonde.weather.samples_to_draw import MANY, scatter
from iosonde.weather.slowdown.load_effect import effects
from iosonde.weather.slowdown.runs import bridged_runs
from iosonde.weather.slowdown.slowdown import analyse, statistic_columns
from iosonde.weather.slowdown.summary import pooled
from iosonde.weather.store import Store
from tests.kit.samples.makers import SECOND, START, row, rows, sealed, simulated

MINUTE = 60 * SECOND
WHOLE = START // MINUTE * MINUTE + MINUTE


def analysed(root, **query):
    return analyse(Store(root), SlowdownQuery(**query))


@pytest.fixture(scope="module")
def storm(tmp_path_factory):
    """Reads take 3 times as long from 1800 s to 3000 s; creates hang for 150 s from 3900 s on."""
    root = tmp_path_factory.mktemp("storm")
    simulated(
        root,
        5000,
        {"op": "data_read", "after": "1800s", "for": "1200s", "multiply": 3.0},
        {"op": "md_create", "after": "3900s", "for": "150s", "hang": True},
    )
    return root


def test_a_tripling_is_found_measured_and_dated(storm):
    result = analysed(storm)
    (span,) = result.spans
    assert span.key.op == "data_read"
    assert span.slowdown == pytest.approx(3.0, rel=0.05)
    assert span.lower < 3.0 < span.upper
    assert span.n == pytest.approx(1200, abs=45)
    assert span.refined
    assert abs(span.start_ns - (START + 1800 * SECOND)) <= 3 * SECOND
    assert abs(span.end_ns - (START + 3000 * SECOND)) <= MINUTE
    assert not span.host_busy
    assert not span.ongoing


def test_series_come_in_the_order_of_ops_and_say_what_is_usual(storm):
    usual = {u.key.op: u for u in analysed(storm).usual}
    assert tuple(usual) == OPS
    assert usual["md_create"].baseline_ns == pytest.approx(1e6, rel=0.1)
    assert usual["data_read"].peak == pytest.approx(3.0, rel=0.2)
    assert usual["data_read"].slow_windows == pytest.approx(20, abs=1)
    assert usual["data_write"].last[0] == pytest.approx(1.0, abs=0.3)
    # Of the 150 ticks of the hang, the stuck operation and three trials ended well, if late.
    assert usual["md_create"].n_due - usual["md_create"].n == pytest.approx(146, abs=2)


def test_baselines_look_back_before_the_range(storm):
    since = START + 2400 * SECOND
    result = analysed(storm, since_ns=since, ops=("data_read",))
    assert (result.windows["start_ns"] + MINUTE > since).all()
    assert not np.isnan(result.windows["baseline_ns"]).any()
    (span,) = result.spans
    assert abs(span.start_ns - (START + 1800 * SECOND)) <= 3 * SECOND
    short = analysed(storm, since_ns=since, ops=("data_read",), trailing_ns=10 * MINUTE)
    assert short.windows["slowdown"][0] < 1.5


@pytest.mark.parametrize(("statistic", "expected"), [("q75", 1.22), ("mean", 1.05), ("max", 2.5)])
def test_other_statistics_are_shown_but_do_not_judge(storm, statistic, expected):
    result = analysed(storm, ops=("md_stat",), statistic=statistic)
    assert np.nanmedian(result.windows["slowdown"]) == pytest.approx(expected, rel=0.2)
    assert np.isnan(result.windows["slowdown_lower"]).all() == (statistic in ("mean", "max"))
    assert not result.windows["slow"].any()


def test_a_tail_needs_more_samples_than_a_minute_has(storm):
    result = analysed(storm, ops=("md_stat",), statistic="q95")
    assert np.isnan(result.windows["slowdown"]).all()
    longer = analysed(storm, ops=("md_stat",), statistic="q95", window_ns=5 * MINUTE)
    assert np.nanmedian(longer.windows["slowdown"]) == pytest.approx(1.64, rel=0.15)


@pytest.mark.parametrize("query", [{"statistic": "mode"}, {"window_ns": 0}, {"trailing_ns": 0}])
def test_impossible_questions(storm, query):
    with pytest.raises(UsageError):
        analysed(storm, **query)


def test_every_statistic_has_columns():
    assert statistic_columns("median") == ("q50_ns", "q50_lower_ns", "q50_upper_ns")
    assert statistic_columns("max") == ("max_ns", None, None)


@pytest.mark.parametrize(
    ("picture", "spans"),
    [
        ("......", []),
        ("..##..", [(2, 3)]),
        ("##.##.", [(0, 4)]),
        ("##..##", [(0, 1), (4, 5)]),
        ("##oooo##", [(0, 7)]),
        ("##oo.oo##", [(0, 8)]),
        ("##o..o##", [(0, 1), (6, 7)]),
        ("#.#.#.#", [(0, 6)]),
        ("#/#", [(0, 2)]),
        ("#./#", [(0, 0), (3, 3)]),
    ],
)
def test_one_window_is_bridged_and_any_number_of_silent_ones(picture, spans):
    """``#`` slow, ``.`` not, ``o`` none of its operations ended, ``/`` not there at all."""
    there = [(i, kind) for i, kind in enumerate(picture) if kind != "/"]
    slow = np.array([kind == "#" for _, kind in there])
    silent = np.array([kind == "o" for _, kind in there])
    number = np.array([i for i, _ in there])
    found = [(there[a][0], there[b][0]) for a, b in bridged_runs(slow, silent, number)]
    assert found == spans


def calm_then(factor, **changes):
    """Ten minutes of 1 ms, then ten minutes ``factor`` times slower."""
    services = [10**6 + (i % 7) * 10**4 for i in range(1200)]
    return [
        row(WHOLE + i * SECOND, s * (factor if i >= 600 else 1), **(changes if i >= 600 else {}))
        for i, s in enumerate(services)
    ]


def test_a_slow_stretch_that_lasts_is_ongoing(tmp_path):
    sealed(tmp_path, "r-0", calm_then(4))
    (span,) = analysed(tmp_path).spans
    assert span.ongoing
    assert span.start_ns == WHOLE + 600 * SECOND
    assert span.slowdown == pytest.approx(4, rel=0.03)


def test_a_busy_host_is_no_slow_storage(tmp_path):
    sealed(tmp_path, "r-0", calm_then(4, control_runq_ns=3 * 10**6))
    result = analysed(tmp_path)
    assert result.spans[0].host_busy
    assert result.windows["host_busy"].sum() == result.windows["slow"].sum() == 10


def test_a_late_timer_is_a_busy_host(tmp_path):
    samples = calm_then(4)
    for sample in samples[600:]:
        sample["began_ns"] += 11 * 10**6
        sample["ended_ns"] += 11 * 10**6
    sealed(tmp_path, "r-0", samples)
    assert analysed(tmp_path).spans[0].host_busy


def test_less_than_twice_is_not_slow(tmp_path):
    sealed(tmp_path, "r-0", calm_then(1.9))
    assert analysed(tmp_path).spans == []


def test_an_onset_that_reaches_into_the_last_stretch_continues_it(tmp_path):
    """Slow throughout, but in two windows 27 of 60 samples are as usual.

    Their medians are slow without being sure of it; to the sample it never ended.
    """
    samples = calm_then(4)
    for i in range(780, 900):
        if i % 20 in range(0, 18, 2):
            samples[i]["ended_ns"] = samples[i]["began_ns"] + 10**6
    sealed(tmp_path, "r-0", samples)
    result = analysed(tmp_path)
    assert result.windows["slow"].astype(int).tolist() == [0] * 10 + [1, 1, 1, 0, 0, 1, 1, 1, 1, 1]
    (span,) = result.spans
    assert (span.start_ns, span.windows) == (WHOLE + 600 * SECOND, 10)
    assert span.ongoing


def test_no_samples_no_answer(tmp_path):
    result = analysed(tmp_path)
    assert (len(result.windows), result.spans, result.usual) == (0, [], [])
    assert scatter(Store(tmp_path), result) == {}


def test_few_samples_are_drawn_and_many_are_counted(storm):
    store = Store(storm)
    few = scatter(store, analysed(storm))
    assert {len(frame) for frame in few.values()} == {5000}
    assert all((np.diff(frame["due_ns"]) > 0).all() for frame in few.values())
    whole = START // (24 * 3600 * SECOND) * 24 * 3600 * SECOND
    sealed(storm, "many-0", rows([1000] * (MANY + 1), whole, target="/many", period_ns=1))
    many = scatter(store, analysed(storm))
    assert sum(int(frame["n"].sum()) for frame in many.values()) == 6 * 5000 + MANY + 1


def test_an_effect_is_measured_against_the_time_before(storm):
    store = Store(storm)
    began, ended = START + 1800 * SECOND, START + 3000 * SECOND
    found = {e.key.op: e for e in effects(store, began, ended, MINUTE, target="/work")}
    read, write = found["data_read"], found["data_write"]
    assert read.cause == "storage"
    assert read.slowdown == pytest.approx(3.0, rel=0.05)
    assert abs(read.late_ns) <= 3 * SECOND
    assert (write.cause, write.late_ns) == ("none", None)
    assert write.slowdown == pytest.approx(1.0, rel=0.1)
    assert write.n == pytest.approx(1140, abs=60)


def test_an_effect_without_a_baseline_is_unknown(storm):
    early = effects(Store(storm), START + 60 * SECOND, START + 200 * SECOND, MINUTE)
    assert {e.cause for e in early if e.key.target == "/work"} == {"unknown"}


def test_a_run_is_summed_up_in_one_row_an_op(storm):
    found = pooled(Store(storm), MINUTE, START, host="login2", targets=("/work",))
    assert [row.key.op for row in found] == list(OPS)
    stat = found[OPS.index("md_stat")]
    assert (stat.n_due, stat.n) == (5000, 5000)
    assert stat.lower_ns < stat.median_ns < stat.upper_ns < stat.q95_ns < stat.max_ns
    assert pooled(Store(storm), MINUTE, START + 10**15) == []
