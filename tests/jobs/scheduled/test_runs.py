"""Runs of a job id: requeues, ends that nobody knows, steps, several sources, several clusters."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from iosonde.connectors.scheduler import sacct
from iosonde.connectors.source import Settings
from iosonde.jobs.scheduled.runs import chosen_run, scheduled_runs
from iosonde.model.errors import UsageError
from iosonde.model.jobs import Job, Scalar
from tests.kit.samples.latencies import real

S = 1_000_000_000
T = 1_790_000_000 * S
NOW = T + 100_000 * S
JOB = Job(
    source="sacct",
    job_id="7",
    user="ann",
    name="relax",
    nodes=2,
    node_names=("n1", "n2"),
    start_ns=T,
    end_ns=T + 100 * S,
    state="COMPLETED",
)
STEP = replace(JOB, step="0", name="a.out", ranks=64)
BATCH = replace(JOB, step="batch", nodes=1, node_names=("n1",), ranks=1)


def test_steps_lend_ranks_and_are_no_runs() -> None:
    (run,) = scheduled_runs([JOB, BATCH, STEP], NOW)
    assert (run.job.ranks, run.job.nodes, run.job.name) == (64, 2, "relax")
    assert run.span_ns == (T, T + 100 * S)


def test_a_requeued_job_has_two_runs_and_the_last_one_is_meant() -> None:
    again = replace(JOB, start_ns=T + 500 * S, end_ns=T + 600 * S)
    runs = scheduled_runs([again, replace(JOB, state="REQUEUED", end_ns=None)], NOW)
    assert [run.span_ns for run in runs] == [(T, T + 500 * S), (T + 500 * S, T + 600 * S)]
    assert not any(run.going_on for run in runs)
    assert chosen_run(runs, None).number == 2
    assert chosen_run(runs, "#1").number == 1
    with pytest.raises(UsageError, match="has no run '#3'"):
        chosen_run(runs, "#3")


def test_a_running_job_goes_on_until_now() -> None:
    (run,) = scheduled_runs([replace(JOB, end_ns=None, state="RUNNING")], NOW)
    assert run.going_on
    assert run.span_ns == (T, NOW)


def test_an_end_that_nobody_wrote_is_that_of_the_last_step_or_unknown() -> None:
    lost = replace(JOB, end_ns=None, state="NODE_FAIL")
    (run,) = scheduled_runs([lost], NOW)
    assert run.span_ns is None
    (run,) = scheduled_runs([lost, STEP], NOW)
    assert run.span_ns == (T, T + 100 * S)


def test_a_job_that_waits_has_no_time_though_squeue_expects_one() -> None:
    (run,) = scheduled_runs([replace(JOB, state="PENDING", end_ns=None)], NOW)
    assert run.begin_ns is None
    assert run.span_ns is None


def test_two_sources_of_one_run_are_one_and_two_clusters_are_two() -> None:
    other = replace(JOB, source="job table", node_names=(), state="", nodes=2)
    (run,) = scheduled_runs([other, JOB], NOW)
    assert run.job.node_names == ("n1", "n2")
    assert set(run.sources) == {"sacct", "job table"}
    here, there = replace(JOB, system="a"), replace(JOB, system="b")
    assert len(scheduled_runs([here, there], NOW)) == 2


def test_steps_alone_make_a_run() -> None:
    late = replace(STEP, step="1", start_ns=T + 50 * S, end_ns=T + 300 * S)
    (run,) = scheduled_runs([STEP, late], NOW)
    assert run.span_ns == (T, T + 300 * S)


def test_records_of_programs_are_no_runs_of_a_scheduler() -> None:
    darshan = Job(source="darshan", job_id="7", app="ior", start_ns=T, end_ns=T + S)
    counted = Job(
        source="jobstats",
        job_id="7",
        start_ns=T,
        end_ns=T + S,
        scalars={"own_read_bytes": Scalar(1.0, "bytes", "jobstats")},
    )
    assert scheduled_runs([darshan, counted], NOW) == []


def jobs_of(path: Path) -> dict[str, list[Job]]:
    found: dict[str, list[Job]] = {}
    for item in sacct.read(path, Settings(system="", zone=None), print):
        assert isinstance(item, Job)
        found.setdefault(item.job_id, []).append(item)
    return found


def test_real_requeues_and_jobs_that_never_began() -> None:
    jobs = jobs_of(real("nfs/sacct_P_X_D_requeue.txt"))
    runs = scheduled_runs(jobs["13"], NOW * 2)
    assert [run.job.state for run in runs] == ["REQUEUED", "COMPLETED"]
    assert [run.span_ns[1] - run.span_ns[0] for run in runs if run.span_ns] == [2 * S, 8 * S]
    (never,) = scheduled_runs(jobs["9"], NOW * 2)
    assert never.span_ns is None


def test_real_jobs_with_bars_in_names_arrays_and_unknown_ends() -> None:
    jobs = jobs_of(real("nfs/sacct_P_X.txt"))
    now = 1_795_260_100 * S
    found = {one: scheduled_runs(some, now)[-1] for one, some in jobs.items()}
    assert found["2"].job.name == "pos tproc|x"
    assert (found["6"].job.name, found["6"].job.user) == ("arr", "games")
    assert found["8"].going_on
    assert found["9"].begin_ns is None
    assert found["4"].job.node_names == ("u002", "u003", "u004")
