"""Ids of jobs as users write them, parsed and kept beside the scheduler's raw ids."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from iosonde.connectors.scheduler import jobcomp, sacct, sacct_json, squeue
from iosonde.connectors.scheduler.job_ids import part_of, shown_id, step_of, waiting, waits
from tests.kit.records.connected import take
from tests.kit.samples.latencies import real

TIMES = "2026-01-02T03:00:00|2026-01-02T03:01:00"


@pytest.mark.parametrize(
    ("written", "part"),
    [
        ("4711_7", ("4711", "_", "7")),
        ("4711_[8-20%5]", ("4711", "_", "[8-20%5]")),
        ("600+1", ("600", "+", "1")),
        ("4711", None),
        ("4711_", None),
        ("a_7", None),
        ("4711_7.batch", None),
        ("\u0664_\u0667", None),
    ],
)
def test_a_part_of_a_job_is_known_by_its_id(written: str, part: tuple[str, ...] | None) -> None:
    assert part_of(written) == part


@pytest.mark.parametrize(
    ("written", "step"),
    [
        ("4711.batch", ("4711", "batch")),
        ("4711.0", ("4711", "0")),
        ("4711_7.extern", ("4711_7", "extern")),
        ("600+1.0", ("600+1", "0")),
        ("4711.server", None),
        ("a.0", None),
        ("4711", None),
        (".0", None),
    ],
)
def test_a_step_names_its_job(written: str, step: tuple[str, str] | None) -> None:
    assert step_of(written) == step


def test_only_an_id_that_tells_more_than_the_raw_one_is_kept() -> None:
    assert shown_id("1_3", "1") == "1_3"
    assert shown_id("1_3.batch", "1") == "1_3"
    assert shown_id("1", "1") == shown_id("", "1") == shown_id("4711_[1-100+", "4711") == ""


def test_tasks_that_wait_are_counted() -> None:
    assert waiting("[8-20:2%5,30]") == 7
    assert waits("[8-20:2%5]", 10)
    assert not waits("[8-20:2%5]", 9)
    assert waiting("[1-3,...]") == 3


@pytest.mark.parametrize(
    ("name", "reader"), [("sacct.txt", sacct), ("sacct_all.txt", sacct), ("sacct.json", sacct_json)]
)
def test_a_real_array_keeps_both_ids(name: str, reader) -> None:
    jobs = [job for job in take(reader, real(f"clients/slurm/{name}")).jobs if not job.step]
    ids = {job.job_id: job.shown_id for job in jobs}
    assert ids == {"2": "", "3": "", "4": "", "5": "1_1", "6": "1_2", "1": "1_3"}
    assert {job.written_id for job in jobs} == {"2", "3", "4", "1_1", "1_2", "1_3"}


def test_steps_of_a_task_have_its_id(tmp_path: Path) -> None:
    path = tmp_path / "sacct.txt"
    head = "JobID|JobIDRaw|State|Start|End"
    path.write_text(f"{head}\n600+1|601|COMPLETED|{TIMES}\n600+1.0|601.0|COMPLETED|{TIMES}\n")
    job, step = take(sacct, path).jobs
    assert (job.job_id, job.shown_id, job.step) == ("601", "600+1", "")
    assert (step.job_id, step.shown_id, step.step) == ("601", "600+1", "0")


def test_newer_json_has_its_numbers_in_boxes(tmp_path: Path) -> None:
    def entry(job_id: int, **more: object) -> dict[str, object]:
        times = {"start": 1_767_322_800, "end": 1_767_322_900}
        return {"job_id": job_id, "time": times, "state": {"current": ["COMPLETED"]}} | more

    def number(value: int | None) -> dict[str, object]:
        return {"set": value is not None, "infinite": False, "number": value or 0}

    jobs = [
        entry(9, array={"job_id": 7, "task_id": number(0), "task": ""}),
        entry(7, array={"job_id": 7, "task_id": number(None), "task": "1-5%2"}),
        entry(601, array={"job_id": 0}, het={"job_id": 600, "job_offset": number(1)}),
        entry(8, array={"job_id": 0, "task_id": number(None)}, het={"job_id": 0}),
    ]
    path = tmp_path / "sacct.json"
    path.write_text(json.dumps({"meta": {"Slurm": {}}, "jobs": jobs}))
    found = [job.shown_id for job in take(sacct_json, path).jobs]
    assert found == ["7_0", "7_[1-5%2]", "600+1", ""]


def test_scontrol_names_the_array_and_the_heterogeneous_job(tmp_path: Path) -> None:
    path = tmp_path / "scontrol.txt"
    times = "StartTime=2026-01-02T03:00:00 EndTime=2026-01-02T03:01:00"
    path.write_text(
        f"JobId=9 ArrayJobId=7 ArrayTaskId=3 JobName=a JobState=COMPLETED {times}\n"
        f"JobId=601 HetJobId=600 HetJobOffset=1 JobName=a JobState=COMPLETED {times}\n"
        f"JobId=8 JobName=a JobState=COMPLETED {times}\n"
    )
    found = [(job.job_id, job.shown_id) for job in take(jobcomp, path).jobs]
    assert found == [("9", "7_3"), ("601", "600+1"), ("8", "")]


def test_squeue_with_both_ids(tmp_path: Path) -> None:
    path = tmp_path / "squeue.txt"
    path.write_text(
        "JOBID|JOBID|STATE|START_TIME\n9|7_3|RUNNING|2026-01-02T03:00:00\n8|8|RUNNING|2026-01-02T03:00:00\n"
    )
    found = [(job.job_id, job.shown_id) for job in take(squeue, path).jobs]
    assert found == [("9", "7_3"), ("8", "")]
