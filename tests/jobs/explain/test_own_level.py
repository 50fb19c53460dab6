"""Runs of other amounts of the same program: what history lets expect of them, and where it says nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.truth.jobs import causes, planted_kinds
from benchmarks.truth.jobs.why_slow import said
from iosonde.jobs.explain.explain import explain
from iosonde.jobs.explain.own_level import own_level
from iosonde.jobs.explain.streak import streak
from iosonde.jobs.explain.words import judge
from iosonde.model.units import DAY_NS
from tests.kit.jobs.jobs_made import table


def runs(opens: np.ndarray, rate: np.ndarray):
    made = table({"performance_bytes_per_s": rate, "own_opens": opens})
    return made, np.arange(len(made) - 1), rate


def test_the_expected_rate_is_that_of_runs_with_such_an_amount():
    """Exact: rates fall with the square root of the opens."""
    opens = np.geomspace(100, 10_000, 41)
    made, others, rate = runs(opens, 1e9 / np.sqrt(opens))
    found = own_level(made, 40, others, rate)
    assert found is not None
    assert found.change.what == "opens"
    assert found.change.ratio == pytest.approx(10_000 / np.exp(np.median(np.log(opens[:-1]))))
    assert found.y == pytest.approx(np.full(41, rate[-1]), rel=1e-6)


def test_usual_amounts_and_amounts_without_effect_change_nothing():
    random = np.random.default_rng(1)
    opens = 100 * np.exp(0.5 * random.normal(size=41))
    for last, rate in ((100.0, 1e9 / opens), (400.0, 1e9 * np.exp(0.1 * random.normal(size=41)))):
        opens[-1] = last
        made, others, y = runs(opens, rate)
        assert own_level(made, 40, others, y) is None


def test_gaps_are_no_history():
    opens = np.geomspace(100, 10_000, 41)
    made, others, rate = runs(np.where(np.arange(41) < 38, np.nan, opens), 1e9 / opens)
    assert own_level(made, 40, others, rate) is None
    made, others, rate = runs(np.where(np.arange(41) % 3 == 2, np.nan, opens), 1e9 / opens)
    found = own_level(made, 40, others, rate)
    assert found is not None
    assert np.isnan(found.y[2])
    assert found.y[3] == pytest.approx(rate[-1], rel=1e-6)


@pytest.mark.parametrize("kind", [planted_kinds.growing_slower, planted_kinds.growing_faster, planted_kinds.inputs])  # fmt: skip  # noqa: E501
def test_ordinary_runs_of_another_size_are_as_usual(kind):
    random = np.random.default_rng(2)
    for _ in range(10):
        verdict = said(kind(random, 90).table, "90")
        assert verdict.verdict == "as usual", verdict.sentence
        assert " itself had " in verdict.sentence
        assert "; it was as fast as such runs" in verdict.sentence
        assert any("usual is what its history lets expect" in line for line in verdict.evidence)


def test_a_slow_run_of_another_size_is_slow_beside_such_runs():
    opens = np.geomspace(100, 10_000, 41)
    rate = 1e9 / np.sqrt(opens)
    rate[-1] /= 2
    verdict = judge(explain(runs(opens, rate)[0], "41"))
    assert verdict.verdict == "slow"
    assert "; it was 50% slower than such runs: " in verdict.sentence


def test_a_row_of_slow_runs_needs_a_slow_run_and_a_fast_history():
    days = np.arange(20, dtype=np.int64) * DAY_NS
    y = np.where(np.arange(20) >= 18, 0.5, 1.0)
    today = 20 * DAY_NS
    found = streak(days, y, (today, 0.5), 1.0)
    assert found is not None
    assert found.at_ns == (18 * DAY_NS, 19 * DAY_NS, today)
    assert found.days == 3
    assert streak(days, y, (today, 0.95), 1.0) is None
    assert streak(days, y, (today + 9 * DAY_NS, 0.5), 1.0) is None
    assert streak(days, np.where(np.arange(20) % 2, 0.5, 1.0), (today, 0.5), 1.0) is None
    assert streak(days, np.where(y < 1, np.nan, y), (today, 0.5), 1.0) is None


def test_a_strong_declared_cause_is_never_taken_for_a_count():
    random = np.random.default_rng(3)
    for _ in range(30):
        case = planted_kinds.one_cause(random, 90)
        found = explain(case.table, "90", history="all")
        assert not [c.metric for c in found.candidates if c.metric in case.causes and c.leak]


def test_what_falls_because_nothing_was_done_is_no_cause():
    random = np.random.default_rng(4)
    for _ in range(10):
        case = planted_kinds.symptoms(random, 90)
        verdict = said(case.table, "90")
        assert not causes.symptom(case, verdict), verdict.sentence
        assert verdict.told[0].metric in case.causes


def test_what_moves_with_a_count_is_not_named_alone():
    """Nobody says that waits are a cause, and they add up like a count; the innocent CPU moves with them."""
    random = np.random.default_rng(5)
    slow = np.exp(0.3 * np.clip(random.normal(size=90), -3, 3))
    slow[-1] = 2.5
    waits = 50 * slow * np.exp(0.02 * random.normal(size=90))
    cpu = 20 + 10 * slow + 0.3 * random.normal(size=90)
    made = planted_kinds.drawn(random, 89).table()
    seconds = 1000 * slow
    columns = {"performance_bytes_per_s": 1e12 / seconds, "own_bytes": np.full(90, 1e12)}
    columns |= {"waits": waits, "mds_cpu_max_percent": cpu}
    about = made.about("lock_waits")._replace(role="", label="waits")
    end = made.start_ns + (seconds * 1e9).astype(np.int64)
    verdict = judge(
        explain(replace(made, metrics=columns, abouts={"waits": about}, end_ns=end), "89")
    )
    assert verdict.twins == ("waits",)
    assert "max MDS CPU" in verdict.sentence
    assert " or waits" in verdict.sentence
    assert "could explain" not in verdict.sentence
