"""The diagram of a job as data: its history, its rows, its classes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.jobs.table.runs import run_names
from iosonde.jobs.umami.diagram import LARGEST, STANDARD, umami
from iosonde.jobs.umami.records import as_json, records
from iosonde.model.errors import UsageError
from iosonde.model.job_metrics import job_metrics
from tests.kit.jobs.jobs_made import DAY, START_S, simulated, table

JOBS = simulated()
CPU = "mds_cpu_mean_percent"


def test_the_history_are_earlier_runs_of_the_same_kind_on_the_same_file_system() -> None:
    kinds = ["a", "a", "b", "a", "a", "a"]
    places = ["x", "x", "x", "y", "x", "x"]
    jobs = table({CPU: [1.0, 2, 3, 4, 5, 6]}, motif=kinds, file_system=places)
    found = umami(jobs, "5")
    assert found.rows[0].values.tolist() == [1, 2, 5]
    assert found.place == 2
    assert found.times_s.tolist() == [START_S, START_S + DAY, START_S + 4 * DAY]
    every = umami(jobs, "2", history="all")
    assert every.rows[0].values.tolist() == [1, 2, 5, 6]
    assert every.place == 1
    assert umami(jobs, "5", last=1).rows[0].values.tolist() == [2, 5]


def test_runs_that_began_at_the_same_time_are_not_earlier() -> None:
    jobs = table({CPU: [1.0, 2, 3]}, start_s=[START_S, START_S + 5, START_S + 5])
    assert [umami(jobs, job).others for job in ("2", "3")] == [1, 1]


def test_what_is_not_known_is_said_and_not_guessed() -> None:
    undated = table({CPU: [1.0, 2, 3]}, start_s=[float("nan"), START_S, START_S + 1])
    assert "unknown" in umami(undated, "3").notes[0]
    alone = umami(undated, "1")
    assert alone.others == 0
    assert alone.rows[0].stood.standing == "too little history"
    nameless = table({CPU: [1.0] * 9}, motif="")
    assert umami(nameless, "9").others == 0
    assert "no runs to compare" in umami(nameless, "9").notes[0]


def test_rows_stand_in_the_usual_order_and_only_known_ones() -> None:
    names = [row.metric for row in umami(JOBS, "30").rows]
    order = [name for names in STANDARD for name in names]
    assert names == sorted(JOBS.metrics, key=order.index)
    assert all(name in job_metrics() for name in order)
    both = JOBS.with_metrics({"contention_bandwidth_ratio": np.full(30, np.nan)})
    assert "cf_bandwidth_ratio" in [row.metric for row in umami(both, "30").rows]
    asked = umami(both, "30", metrics=["contention_bandwidth_ratio", CPU, CPU])
    assert [row.metric for row in asked.rows] == ["contention_bandwidth_ratio", CPU]
    assert asked.rows[0].stood.standing == "missing"


@pytest.mark.parametrize(
    ("job", "step", "more", "words"),
    [
        ("31", None, {}, "no job '31' in made"),
        ("30", "x", {}, "no one run 'x'"),
        ("30", None, {"metrics": ["mds_cpu"]}, "mds_cpu_mean_percent"),
        ("30", None, {"metrics": ["own_bytes"]}, "is not in the table"),
        ("30", None, {"last": 0}, "1 or more"),
    ],
)
def test_what_is_not_there_is_refused(job: str, step: str | None, more: dict, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        umami(JOBS, job, step, **more)


def test_several_runs_of_a_job_are_told_apart() -> None:
    jobs = table({CPU: [1.0, 2, 3, 4]}, job_id=["7"] * 4, step=["0", "1", "", ""])
    with pytest.raises(UsageError, match=r"#1 \(0 app shared write fs1\)"):
        umami(jobs, "7")
    for step, value in (("0", 1), ("1", 2), ("#3", 3), ("#4", 4)):
        assert umami(jobs, "7", step).rows[0].stood.value == value
    assert run_names(jobs) == ["0", "1", "#3", "#4"]
    assert run_names(jobs, np.array([3, 1])) == ["#4", "1"]
    for step in ("#0", "#5", "app shared write", "#99999999999999999999", "#x"):
        with pytest.raises(UsageError, match="no one run"):
            umami(jobs, "7", step)


def test_flags_of_the_value_travel_with_it() -> None:
    jobs = table({CPU: [1.0] * 6 + [9.0]}, flags={(6, CPU): ("stale",), (2, CPU): ("missing",)})
    assert umami(jobs, "7").rows[0].flags == ("stale",)
    assert records(umami(jobs, "7"))[0]["flags"] == ["stale"]


VALUES = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True), st.sampled_from([0.0, -0.0, 1.0, 1e308])
)


@settings(max_examples=60, deadline=None)
@given(values=st.lists(VALUES, min_size=1, max_size=12), data=st.data())
def test_any_values_give_a_diagram_that_leaves_the_job_out(values: list[float], data) -> None:
    jobs = table({CPU: values})
    job = data.draw(st.integers(1, len(values)))
    found = umami(jobs, str(job), history="all", metrics=[CPU])
    stood = found.rows[0].stood
    known = [abs(v) < LARGEST for v in values]
    others = [v for i, v in enumerate(values, 1) if i != job and known[i - 1]]
    assert stood.n == len(others)
    changed = [*values]
    changed[job - 1] = 12345.0
    again = umami(table({CPU: changed}), str(job), history="all", metrics=[CPU]).rows[0].stood
    assert again.box[:6] == pytest.approx(stood.box[:6], nan_ok=True), "its own value is not in it"
    assert len(as_json(found)["rows"][0]["values"]) == len(values)
    if stood.n >= 5 and known[job - 1]:
        assert stood.standing in ("bad", "poor", "ok", "good")
    elif known[job - 1]:
        assert stood.standing == "too little history"
    else:
        assert stood.standing == "missing"
