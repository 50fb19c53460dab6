"""What a job did itself: counters of its nodes, those of shared ones left out, and its own counters before them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from iosonde.jobs.scheduled.own_io import own_io
from iosonde.jobs.store.jobs import read_jobs, write_jobs
from iosonde.jobs.store.series import write_block
from iosonde.model.jobs import Job, Scalar
from iosonde.model.metrics import MetricBlock

S = 1_000_000_000
T = 1_790_000_000 * S // (30 * S) * (30 * S)
STEP = 30 * S
END = T + 100 * STEP
JOB = Job(
    source="sacct",
    job_id="7",
    nodes=2,
    node_names=("n1", "n2"),
    start_ns=T + 10 * STEP,
    end_ns=T + 60 * STEP,
    state="COMPLETED",
)


def block(metric: str, unit: str, level: str, **amounts: float) -> MetricBlock:
    """100 steps of 30 s; each component does so much in each."""
    value = np.tile(np.array(list(amounts.values())), (100, 1))
    return MetricBlock(
        "collectl" if level == "client" else "jobstats",
        "",
        level,
        metric,
        unit=unit,
        kind="delta",
        components=tuple(amounts),
        time_ns=T + np.arange(100, dtype=np.int64) * STEP,
        step_ns=np.full(100, STEP, dtype=np.int64),
        value=value,
    )


@pytest.fixture
def store(tmp_path):
    write_jobs(tmp_path, [JOB])
    write_block(tmp_path, block("read_ops", "operations", "client", n1=100, n2=10, n3=5000))
    write_block(tmp_path, block("read_bytes", "bytes", "client", n1=1e6, n2=2e6, n3=9e9))
    return tmp_path


def asked(store, job: Job = JOB):
    assert job.start_ns is not None
    assert job.end_ns is not None
    return own_io(store, job, job.start_ns, job.end_ns, read_jobs(store, job_id=job.job_id))


def test_amounts_of_the_jobs_nodes_in_its_time_count(store) -> None:
    found = asked(store)
    assert (found.origin, found.sources, found.alone) == ("nodes", ("collectl",), True)
    assert found.operations == pytest.approx(50 * 110)
    assert found.read_bytes == pytest.approx(50 * 3e6)
    assert found.written_bytes is None
    assert (found.nodes, found.shared, found.missing, found.covered) == (2, 0, 0, 1.0)


def test_a_shared_node_is_left_out_and_if_all_are_it_is_said(store) -> None:
    write_jobs(store, [replace(JOB, job_id="8", node_names=("n2.site.org",), nodes=1)])
    found = asked(store)
    assert found.operations == pytest.approx(50 * 100)
    assert (found.nodes, found.shared, found.alone) == (1, 1, True)
    write_jobs(store, [replace(JOB, job_id="9", node_names=("n1",), end_ns=None)])
    found = asked(store)
    assert found.operations == pytest.approx(50 * 110)
    assert (found.nodes, found.shared, found.alone) == (2, 2, False)


def test_time_and_nodes_without_records_are_said(store) -> None:
    late = replace(JOB, start_ns=T + 90 * STEP, end_ns=T + 110 * STEP, node_names=("n1", "n9"))
    found = asked(store, late)
    assert found.covered == pytest.approx(0.5, abs=0.02)
    assert found.operations == pytest.approx(10 * 100, rel=0.01)
    assert found.missing == 1
    assert asked(store, replace(JOB, node_names=("n8", "n9"))) is None
    assert asked(store, replace(JOB, start_ns=END + S, end_ns=END + 90 * S)) is None


def test_a_jobs_own_counters_come_before_those_of_its_nodes(store) -> None:
    write_block(store, block("write_ops", "operations", "job", **{"7": 3.0, "8": 1000.0}))
    write_block(store, block("written_bytes", "bytes", "job", **{"7": 4e6, "8": 9e9}))
    found = asked(store)
    assert (found.origin, found.sources, found.alone) == ("job", ("jobstats",), True)
    assert found.operations == pytest.approx(150)
    assert found.written_bytes == pytest.approx(50 * 4e6)
    assert found.read_bytes is None
    assert found.bytes_per_s == pytest.approx(4e6 / 30)
    assert (found.active_s, found.step_s) == (50 * 30.0, 30.0)


def test_the_rate_is_over_the_steps_in_which_bytes_moved(store) -> None:
    burst = block("read_bytes", "bytes", "job", **{"7": 0.0})
    burst.value[20:30] = 9e6  # ten steps of the job's fifty
    burst.value[70:] = 1e12  # behind its end
    write_block(store, burst)
    found = asked(store)
    assert found.active_s == 300.0
    assert found.bytes_per_s == pytest.approx(10 * 9e6 / 300)
    assert found.read_bytes == pytest.approx(9e7)


def test_one_snapshot_gives_totals_and_no_rate(tmp_path) -> None:
    counted = Job(
        source="jobstats",
        job_id="7",
        start_ns=T + 11 * STEP,
        scalars={
            "own_read_bytes": Scalar(5e9, "bytes", "jobstats"),
            "own_reads": Scalar(70.0, "operations", "jobstats"),
        },
    )
    years_ago = replace(counted, start_ns=T - 10**6 * S)
    write_jobs(tmp_path, [JOB, counted, years_ago])
    found = asked(tmp_path)
    assert (found.read_bytes, found.operations, found.written_bytes) == (5e9, 70.0, None)
    assert (found.origin, found.sources, found.bytes_per_s) == ("job", ("jobstats",), None)
