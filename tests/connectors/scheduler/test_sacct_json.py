"""sacct --json of several versions, and the cache of steps that pytokio wrote."""

import json
import math
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from iosonde.connectors.scheduler import sacct, sacct_json, xtdb2proc
from iosonde.connectors.source import head_of
from iosonde.model.units import parse_time
from tests.kit.records.connected import survives, take
from tests.kit.samples.latencies import real

OLD: dict[str, Any] = {
    "job_id": 7, "cluster": "lab", "user": "u", "account": "a", "name": "n", "nodes": "u[001-002]",
    "allocation_nodes": 2, "state": {"current": "COMPLETED", "reason": "None"},
    "exit_code": {"status": "SUCCESS", "return_code": 0},
    "time": {"start": 1_700_000_000, "end": 1_700_000_060, "elapsed": 60}, "steps": [],
}  # fmt: skip


def number(value: int) -> dict[str, Any]:
    return {"set": True, "infinite": False, "number": value}


NEW: dict[str, Any] = {
    **OLD,
    "job_id": 8,
    "state": {"current": ["CANCELLED"], "reason": "None"},
    "exit_code": {"status": ["SIGNALED"], "return_code": number(3), "signal": {"id": number(9), "name": "KILL"}},
    "steps": [
        {
            "step": {"id": "8.batch", "name": "batch"},
            "time": {"start": number(1_700_000_000), "end": number(1_700_000_060)},
            "nodes": {"count": 1, "range": "u001", "list": ["u001"]},
            "state": ["COMPLETED"],
            "tasks": {"count": 4},
        },
        {"step": {"id": {"job_id": 8, "step_id": "0"}}, "time": {"start": {"set": False, "number": 0}}},
    ],
}  # fmt: skip


def written(path: Path, *jobs: Any, **more: Any) -> Path:
    path.write_text(
        json.dumps({"meta": {"plugin": {}, "Slurm": {}}, "errors": [], "jobs": jobs, **more})
    )
    return path


def test_versions(tmp_path: Path) -> None:
    path = written(tmp_path / "a", OLD, NEW)
    assert sacct_json.recognises(head_of(path))
    out = take(sacct_json, path)
    assert not out.told
    old, new, batch, zero = out.jobs
    assert (old.job_id, old.system, old.node_names, old.state) == (
        "7",
        "lab",
        ("u001", "u002"),
        "COMPLETED",
    )
    assert (old.start_ns, old.scalars["duration_s"].value) == (1_700_000_000_000_000_000, 60)
    assert old.scalars["duration_s"].flags == ()
    assert (new.state, new.scalars["exit_code"].value, new.scalars["exit_signal"].value) == (
        "CANCELLED",
        3,
        9,
    )
    assert (batch.step, batch.ranks, batch.node_names, batch.user) == ("batch", 4, ("u001",), "u")
    assert (zero.step, zero.start_ns) == ("0", None)


@pytest.mark.parametrize(
    "change",
    [
        {"time": {"start": -5, "end": True}},
        {"time": None},
        {"nodes": 5, "state": 3, "steps": {"a": 1}, "exit_code": "x"},
        {"allocation_nodes": math.nan},
        {"allocation_nodes": 10**30},
        {"steps": ["x", None, {"step": 3}]},
    ],
)
def test_odd_values_are_missing(tmp_path: Path, change: dict[str, Any]) -> None:
    out = take(sacct_json, written(tmp_path / "a", {**OLD, **change}, NEW))
    assert {job.job_id for job in out.jobs} == {"7", "8"}


def test_jobs_that_are_no_good_are_told(tmp_path: Path) -> None:
    bad = [5, {}, {**OLD, "nodes": "n[1-999999999]"}, {**OLD, "time": {"start": 9, "end": 3}}]
    out = take(sacct_json, written(tmp_path / "a", *bad, OLD))
    assert [job.job_id for job in out.jobs] == ["7"]
    assert [f"job {place}:" in line for place, line in enumerate(out.told, 1)] == [True] * 4


def test_json_that_ends_or_breaks(tmp_path: Path) -> None:
    text = written(tmp_path / "a", OLD, NEW).read_text()
    path = tmp_path / "b"
    path.write_text(text[: text.index('"CANCELLED"')])
    out = take(sacct_json, path)
    assert [job.job_id for job in out.jobs] == ["7"]
    assert "near byte" in str(out.ended)
    path.write_text('{"jobs": [' + "[" * 100_000)
    assert "deep" in str(take(sacct_json, path).ended)


def test_many_jobs_are_read_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "a", *({**OLD, "job_id": n} for n in range(1, 200)))
    monkeypatch.setattr(sacct_json, "_PIECE", 97)
    assert [int(job.job_id) for job in take(sacct_json, path).jobs] == list(range(1, 200))


def test_the_cache_of_steps(tmp_path: Path) -> None:
    entry = {
        "jobidraw": "7.0",
        "start": "2017-03-20T02:00:10",
        "end": "Unknown",
        "nodelist": ["b", "a"],
    }
    path = tmp_path / "a"
    path.write_text(
        json.dumps({"7.0": entry, "8": {**entry, "jobidraw": "8", "end": "2017-03-20T03:00:10"}})
    )
    assert sacct_json.recognises(head_of(path))
    step, job = take(sacct_json, path, zone=ZoneInfo("UTC")).jobs
    assert (step.job_id, step.step, step.end_ns, step.node_names) == ("7", "0", None, ("a", "b"))
    assert job.scalars["duration_s"].value == 3600
    assert job.scalars["duration_s"].flags == ("naive-time",)


def test_it_is_not_the_text(tmp_path: Path) -> None:
    path = written(tmp_path / "a", OLD)
    assert not sacct.recognises(head_of(path))
    path.write_text('{"jobs": 5}')
    assert not sacct_json.recognises(head_of(path))


def test_real_json_and_text_agree() -> None:
    path = real("nfs/sacct_json_v0.0.38.json")
    assert sacct_json.recognises(head_of(path))
    said = take(sacct_json, path)
    assert not said.told
    text = {j.job_id: j for j in take(sacct, real("nfs/sacct_P_X.txt"), zone=ZoneInfo("UTC")).jobs}
    assert len([job for job in said.jobs if not job.step]) == 3
    for job in said.jobs:
        if not job.step:
            other = text[job.job_id]
            assert (job.start_ns, job.end_ns, job.node_names, job.user, job.state) == (
                other.start_ns, other.end_ns, other.node_names, other.user, other.state,
            )  # fmt: skip


def test_the_real_cache_and_topology_give_the_published_radius() -> None:
    path = real("umami/slurm/edison_4478544_sacct.json")
    assert sacct_json.recognises(head_of(path))
    out = take(sacct_json, path, zone=ZoneInfo("America/Los_Angeles"))
    assert not out.told
    assert {job.job_id for job in out.jobs} == {"4478544"}
    job = next(job for job in out.jobs if job.step == "extern")
    assert job.start_ns == parse_time("2017-03-20T08:59:02Z", 0)
    assert len(job.node_names) == 128
    edges = take(xtdb2proc, real("umami/topology/edison_4478544_xtdb2proc.gz")).edges
    places = {e.child: [int(n) for n in e.parent.split(",")] for e in edges}
    points = [places[name.removeprefix("nid").lstrip("0")] for name in job.node_names]
    middle = [sum(axis) / len(points) for axis in zip(*points, strict=True)]
    radii = [math.dist(point, middle) for point in points]
    assert [min(radii), sum(radii) / 128, max(radii)] == pytest.approx(
        [2.2519, 4.9132, 8.0424], abs=1e-4
    )


def test_mutated(tmp_path: Path) -> None:
    data = written(tmp_path / "x", OLD, NEW, OLD).read_bytes()
    survives(sacct_json, tmp_path / "a", data, 120)


def test_the_signal_of_a_job_without_a_return_code(tmp_path: Path) -> None:
    path = tmp_path / "j"
    unset, nine = ({"set": n > 0, "infinite": False, "number": n} for n in (0, 9))
    entry = {
        "job_id": 7,
        "state": {"current": ["CANCELLED"]},
        "time": {"start": 1790000000, "end": 1790000100},
        "exit_code": {"return_code": unset, "signal": {"id": nine, "name": "KILL"}},
    }
    path.write_text(json.dumps({"jobs": [entry]}))
    (job,) = take(sacct_json, path).jobs
    assert job.scalars["exit_signal"].value == 9
    assert "exit_code" not in job.scalars
