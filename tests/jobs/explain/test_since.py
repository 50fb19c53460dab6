"""A run that is as fast as all since a lasting change is said to be so: a climate, not the weather of its day."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from iosonde.jobs.answers import job_diagram
from iosonde.jobs.explain.explain import explain
from iosonde.jobs.explain.shortened import LONGEST
from iosonde.jobs.explain.words import judge
from iosonde.jobs.umami.figure import umami_figure
from iosonde.jobs.umami.since import since
from iosonde.model.jobs import JobTable
from tests.kit.commands import run
from tests.kit.jobs.jobs_made import START_S, table


def changed(seed: int, last: float = 1.0) -> JobTable:
    """Forty runs at 10 GB/s, twenty at 2 GB/s; opens rose with it; the last at ``last`` times what is usual then."""
    random = np.random.default_rng(seed)
    rate = 1e10 * np.exp(0.05 * random.normal(size=60))
    opens = 100 * np.exp(0.2 * random.normal(size=60))
    rate[40:] /= 5
    opens[40:] *= 4
    rate[59], opens[59] = 2e9 * last, 600.0
    return table({"performance_bytes_per_s": rate, "server_opens_per_s": opens})


@pytest.mark.parametrize("seed", range(5))
def test_a_run_like_all_since_a_change_is_not_blamed_on_its_day(seed):
    found = explain(changed(seed), "60")
    assert found.since is not None
    assert found.since.n == 19
    assert found.since.at_ns == (START_S + 40 * 86_400) * 10**9
    assert found.others == 19
    verdict = judge(found)
    assert verdict.verdict == "as usual"
    assert " was as fast as usual since 2026-11-20: " in verdict.sentence
    assert re.search(r"; before then 9\.\d+ GiB/s$", verdict.sentence)
    usual = "usual is that of the 19 other runs since 2026-11-20, when its kind fell from 9."
    assert any(line.startswith(usual) for line in verdict.evidence)
    assert verdict.told == ()
    assert len(verdict.sentence) <= LONGEST


def test_what_is_slower_than_its_time_is_explained_by_runs_of_its_time():
    found = explain(changed(1, last=0.5), "60")
    verdict = judge(found)
    assert verdict.verdict == "slow"
    assert "slower than usual since 2026-11-20: " in verdict.sentence
    assert 1.7e9 < found.usual < 2.3e9
    assert found.candidates[0].stood.n == 19


def test_runs_before_the_change_know_nothing_of_it():
    assert explain(changed(2), "40").since is None
    after = explain(changed(2), "40", history="all").since
    assert after is None
    inside = explain(changed(2), "50", history="all").since
    assert inside is not None
    assert inside.n == 19


def test_where_nothing_changed_nothing_is_said():
    told = 0
    for seed in range(60):
        made = np.random.default_rng(seed).normal(size=60)
        for day in range(1, 60):
            made[day] = 0.5 * made[day - 1] + np.sqrt(0.75) * made[day]
        told += explain(table({"performance_bytes_per_s": 1e9 * np.exp(0.3 * made)}), "60").since is not None  # fmt: skip  # noqa: E501
    assert told <= 4


def test_odd_input_has_no_change():
    days = np.arange(30, dtype=np.int64) * 86_400 * 10**9
    nothing = np.full(30, np.nan)
    assert since(days, nothing, 29) is None
    assert since(days, np.where(np.arange(30) == 29, np.nan, 1.0), 29) is None
    assert since(days[:1], np.ones(1), 0) is None
    fell = np.where(np.arange(30) < 15, 5.0, -1.0)
    assert since(days, fell, 29) is None
    many = np.arange(20_000, dtype=np.int64) * 3600 * 10**9
    level = np.where(np.arange(20_000) < 19_000, 5.0, 2.0) + np.tile([0.0, 0.1], 10_000)
    found = since(many, level, 19_999)
    assert found is not None
    assert found.n == 999


def test_it_is_in_the_data(tmp_path, capsys):
    made = changed(3)
    rows = zip(
        made.job_id, made.start_ns // 10**9, made.metrics["performance_bytes_per_s"], strict=True
    )
    path, mapping = tmp_path / "jobs.csv", tmp_path / "jobs.toml"
    path.write_text("id,begin,rate,app\n" + "".join(f"{i},{b},{r},sim\n" for i, b, r in rows))
    mapping.write_text(
        '[job]\njob_id = "id"\nbegin = "begin"\n\n[[motif]]\ncolumn = "app"\n\n'
        '[metrics]\nperformance_bytes_per_s = "rate"\n'
    )
    asked = ["explain", str(path), "--mapping", str(mapping), "--format", "json", "--job"]
    assert run(*asked, "60") == 0
    data = json.loads(capsys.readouterr().out)["since"]
    assert data["n"] == 19
    assert data["before"] > 9e9 > data["median"]
    assert run(*asked, "30") == 0
    assert json.loads(capsys.readouterr().out)["since"] is None


def test_the_diagram_has_the_boxes_of_the_same_runs():
    diagram = job_diagram(
        changed(1), "60", metrics=["performance_bytes_per_s", "server_opens_per_s"]
    )
    rate, opens = diagram.umami.rows
    assert (rate.stood.n, opens.stood.n) == (19, 19)
    assert str(rate.stood.standing) in ("ok", "poor", "good")
    assert 1.7e9 < rate.stood.box.q50 < 2.3e9
    assert len(diagram.umami.times_s) == 60, "all runs are drawn"
    assert diagram.data()["since_ns"] == (START_S + 40 * 86_400) * 10**9
    figure = umami_figure(diagram.umami)
    assert figure.subtitle.endswith("30 of 60 runs drawn, box: those since 2026-11-20")
    assert job_diagram(changed(2), "40").umami.since_ns is None
