"""The table of a store is what its jobs say one by one; a list of jobs needs no more than a few of their numbers."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from iosonde.jobs.store.jobs import PERFORMANCES, read_jobs, write_jobs
from iosonde.jobs.store.table import read_table
from iosonde.jobs.table.listing import found_jobs, listed
from iosonde.jobs.table.source import LISTED, from_store
from iosonde.model.errors import NothingMeasuredError
from iosonde.model.jobs import Job, Scalar
from tests.jobs.test_metrics_store import START, S

DAY = 86_400 * S
NAMES = (
    *PERFORMANCES,
    *("fraction_of_peak_ratio", "own_bytes", "own_read_bytes", "own_written_bytes", "own_opens"),
    *("server_read_bytes", "server_written_bytes", "server_opens", "cf_bandwidth_ratio"),
)
VALUES = st.sampled_from([None, 0.0, 1.0, 3.5e9, 7.0])
FLAGS = st.sampled_from([(), (), ("missing",), ("stale", "monitor-down")])


@st.composite
def a_job(draw):
    scalars = {
        name: Scalar(draw(VALUES), "bytes", "made", flags=draw(FLAGS))
        for name in draw(st.sets(st.sampled_from(NAMES), max_size=8))
    }
    if draw(st.booleans()):
        scalars[PERFORMANCES[0]] = Scalar(draw(st.sampled_from([0.0, 2e9, 5e9])), "bytes/s", "made")
    start = draw(st.none() | st.integers(-60, 60).map(lambda day: START + day * DAY))
    return Job(
        source=draw(st.sampled_from(["darshan", "table"])),
        job_id=draw(st.sampled_from(["1", "2", "3", "4"])),
        step=draw(st.sampled_from(["", "0"])),
        app=draw(st.sampled_from(["", "a", "b"])),
        direction=draw(st.sampled_from(["", "read"])),
        file_system=draw(st.sampled_from(["/x", "/y"])),
        start_ns=start,
        end_ns=None if start is None else start + 60 * S,
        scalars=scalars,
    )


STORES = st.lists(st.lists(a_job(), max_size=10), min_size=1, max_size=3)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(STORES, st.none() | st.sets(st.sampled_from(NAMES)))
def test_the_table_is_what_jobs_say_one_by_one(tmp_path_factory, imports, metrics) -> None:
    root = tmp_path_factory.mktemp("s")
    for some in imports:
        write_jobs(root, some)
    jobs = [
        job
        for job in read_jobs(root)
        if job.start_ns is not None
        and any(
            name in job.scalars and job.scalars[name].value is not None for name in PERFORMANCES
        )
    ]
    wanted = set(NAMES) if metrics is None else metrics
    table = read_table(root, metrics=metrics)
    assert table.job_id.tolist() == [job.job_id for job in jobs]
    assert table.motif.tolist() == [job.motif for job in jobs]
    assert table.start_ns.tolist() == [job.start_ns for job in jobs]
    expected = {}
    for name in sorted(wanted):
        told = [job.scalars[name].value if name in job.scalars else None for job in jobs]
        if any(value is not None for value in told):
            expected[name] = [np.nan if value is None else value for value in told]
    assert list(table.metrics) == list(expected)
    for name, column in expected.items():
        np.testing.assert_array_equal(table.metrics[name], column)
    assert table.flags == {
        (row, name): scalar.flags
        for row, job in enumerate(jobs)
        for name, scalar in job.scalars.items()
        if scalar.flags and name in wanted
    }


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(STORES)
def test_a_list_of_jobs_says_the_same_from_a_few_numbers(tmp_path_factory, imports) -> None:
    root = tmp_path_factory.mktemp("s")
    for some in imports:
        write_jobs(root, some)
    if not len(read_table(root)):
        return
    whole, few = from_store(root), from_store(root, metrics=LISTED)
    rows = found_jobs(whole)
    assert rows.tolist() == found_jobs(few).tolist()
    assert listed(whole, rows) == listed(few, rows)


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(STORES)
def test_what_one_job_is_compared_with_is_as_in_the_whole(tmp_path_factory, imports) -> None:
    root = tmp_path_factory.mktemp("s")
    for some in imports:
        write_jobs(root, some)
    try:
        whole = from_store(root)
    except NothingMeasuredError:
        return
    for job_id in ("1", "2", "3", "4"):
        places = whole.file_system[whole.job_id == job_id].tolist()
        if not places:
            continue
        rows = np.isin(whole.file_system.astype(str), places)
        expected, found = whole.take(rows), from_store(root, job_id=job_id)
        for name in ("job_id", "step", "start_ns", "file_system", "motif"):
            assert getattr(found, name).tolist() == getattr(expected, name).tolist()
        assert found.metrics.keys() == expected.metrics.keys()
        for name, column in expected.metrics.items():
            assert np.array_equal(found.metrics[name], column, equal_nan=True), name
        assert found.flags == expected.flags
