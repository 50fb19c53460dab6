"""Jobs of several clusters with equal ids: none is lost, none is taken for another, in every door."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from fastapi.testclient import TestClient

import iosonde
from iosonde.connectors.scheduler.job_ids import cluster_of, told_apart
from iosonde.engine.connections import connect
from iosonde.engine.parquet import parquet, write_parquet
from iosonde.jobs.attribution.allocations import allocations_of
from iosonde.jobs.store.jobs import read_jobs, write_jobs
from iosonde.jobs.store.meant import meant
from iosonde.jobs.store.table import read_table
from iosonde.jobs.store.with_performance import measured_jobs
from iosonde.model.errors import UsageError
from iosonde.model.jobs import Job, Scalar
from iosonde.serve.app import create
from iosonde.serve.privacy.pseudonyms import Pseudonyms
from tests.kit.commands import run

S = 1_000_000_000
START = 1_790_000_000 * S
HEAD = "JobID|JobIDRaw|Cluster|User|JobName|State|Start|End|NNodes|NodeList"
NO_CLUSTER = "JobID|JobIDRaw|User|JobName|State|Start|End|NNodes|NodeList"


def row(job: str, cluster: str | None, user: str, took: int = 5) -> str:
    name = [] if cluster is None else [cluster]
    words = [job, job, *name, user, "relax", "COMPLETED"]
    return "|".join([*words, "2026-09-22T10:00:00", f"2026-09-22T10:{took:02}:00", "1", "n1"])


def put(folder: Path, rows: list[str], head: str = HEAD) -> Path:
    path = folder / f"sacct{len(list(folder.iterdir()))}.txt"
    path.write_text("\n".join([head, *rows, ""]))
    assert run("import", str(path), store=folder / "store") == 0
    return folder / "store"


BOTH = [row("1", "east", "ann"), row("1", "west", "zoe", 9), row("2", "east", "ann")]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return put(tmp_path, BOTH)


def performed(system: str, rate: float, user: str = "", job_id: str = "1") -> Job:
    rates = {"performance_bytes_per_s": Scalar(rate, "bytes/s", "darshan")}
    return Job(
        source="darshan",
        job_id=job_id,
        system=system,
        user=user,
        app="relax",
        file_system="/work",
        start_ns=START,
        end_ns=START + 60 * S,
        scalars=rates,
    )


def test_ids_are_told_apart_where_several_clusters_have_them() -> None:
    assert told_apart(["1", "1", "2", "1"], ["east", "west", "east", ""]) == [
        "1@east",
        "1@west",
        "2",
        "1",
    ]
    assert [cluster_of(one) for one in ("1@west", "1", "@west", "1@")] == [
        ("1", "west"),
        ("1", ""),
        ("@west", ""),
        ("1@", ""),
    ]


def test_every_job_is_there(store: Path) -> None:
    known = {(job.job_id, job.system, job.user) for job in read_jobs(store)}
    assert known == {("1", "east", "ann"), ("1", "west", "zoe"), ("2", "east", "ann")}
    found = meant(store, "1")
    assert found is not None
    assert [job.written for job in found.jobs] == ["1@east", "1@west"]
    assert found.whole == "id 1 in 2 clusters"
    assert meant(store, "1@north") is None
    one = meant(store, "2@east")
    assert one is not None
    assert [job.written for job in one.jobs] == ["2@east"]


def test_explain_says_which(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("explain", "--job", "1", store=store) == 0
    both = capsys.readouterr().out
    assert "id 1 in 2 clusters: 2 jobs, 2 COMPLETED" in both
    assert "job 1@east ran 5 min" in both
    assert "job 1@west ran 9 min" in both
    assert run("explain", "--job", "1@west", "--format", "json", store=store) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["job_id"], found["raw_id"], found["system"]) == ("1@west", "1", "west")
    assert (found["user"], found["runs"]) == ("zoe", 1)


def test_jobs_and_blame_name_the_cluster(
    store: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    assert run("jobs", store=store) == 0
    out = capsys.readouterr().out
    assert "1@east" in out
    assert "1@west" in out
    assert "cluster" in out
    assert run("jobs", "--search", "west", "--format", "json", store=store) == 0
    listed = json.loads(capsys.readouterr().out)["jobs"]
    assert [(one["job"], one["system"], one["raw_id"]) for one in listed] == [
        ("1@west", "west", "1")
    ]
    placed = allocations_of(read_jobs(store), ["n1"], START)
    assert sorted(placed.job_id) == ["1@east", "1@west", "2"]


@pytest.mark.parametrize("key", [None, bytes(range(32))], ids=["open", "hashed"])
def test_the_page_takes_each(store: Path, key: bytes | None) -> None:
    names = Pseudonyms(None if key is None else lambda: key)
    client = TestClient(create(store, names=names), base_url="http://127.0.0.1")
    listed = client.get("/api/jobs").json()["jobs"]
    users = {names.of("job", "1@east"): "ann", names.of("job", "1@west"): "zoe"}
    assert users.keys() < {one["job"] for one in listed}
    for job, user in users.items():
        told = client.get("/api/job", params={"job": job})
        assert told.json()["job"] == job
        assert (f"of {user}" in told.text) is (key is None)
    if key is None:
        both = client.get("/api/job", params={"job": "1"}).json()
        assert both["sentence"] == "id 1 in 2 clusters has 2 jobs: 1@east, 1@west"


def test_numbers_of_two_clusters_stay_apart(tmp_path: Path) -> None:
    write_jobs(tmp_path, [performed("east", 1e6), performed("west", 2e6)])
    rates = {
        job.system: scalar.value
        for job in read_jobs(tmp_path)
        if (scalar := job.scalars["performance_bytes_per_s"])
    }
    assert rates == {"east": 1e6, "west": 2e6}
    table = read_table(tmp_path)
    column = table.metrics["performance_bytes_per_s"]
    assert dict(zip(table.job_id, column, strict=True)) == {"1@east": 1e6, "1@west": 2e6}
    jobs = iosonde.open(tmp_path).jobs()
    assert jobs.explain("1").sentence.startswith("id 1 in 2 clusters: 2 jobs")
    assert jobs.explain("1@west").sentence.startswith("job 1@west ")
    with pytest.raises(UsageError, match="id of 2 jobs"):
        jobs.umami("1")


@pytest.mark.parametrize("first", [None, "west"])
def test_a_record_without_a_cluster_is_of_the_job_that_names_one(
    tmp_path: Path, first: str | None
) -> None:
    rows = [row("1", first, "zoe"), row("1", None if first else "west", "zoe", 9)]
    heads = [NO_CLUSTER, HEAD] if first is None else [HEAD, NO_CLUSTER]
    for one, head in zip(rows, heads, strict=True):
        put(tmp_path, [one], head)
    (job,) = read_jobs(tmp_path / "store")
    assert (job.system, job.end_ns and (job.end_ns - (job.start_ns or 0)) // S) == ("west", 540)


def test_a_job_without_a_cluster_beside_two_is_nobodys(tmp_path: Path) -> None:
    write_jobs(tmp_path, [performed("east", 1e6), performed("west", 2e6), performed("", 3e6)])
    assert sorted(job.system for job in read_jobs(tmp_path)) == ["", "east", "west"]
    scheduled = [
        Job(source="slurm", job_id="7", system=name, user=user, nodes=1, start_ns=START)
        for name, user in (("east", "ann"), ("west", "zoe"))
    ]
    write_jobs(tmp_path, [*scheduled, performed("", 4e6, job_id="7")])
    table = read_table(tmp_path)
    assert list(table.label("user")[table.job_id == "7"]) == [""]


def test_numbers_of_earlier_versions_stay_with_their_job(tmp_path: Path) -> None:
    write_jobs(tmp_path, [performed("east", 1e6)])
    (part,) = (tmp_path / "scalars").glob("*/*.parquet")
    with closing(connect()) as con:
        write_parquet(con, f"SELECT * EXCLUDE (system) FROM {parquet([part])}", part)
    assert [job.scalars["performance_bytes_per_s"].value for job in read_jobs(tmp_path)] == [1e6]
    assert len(measured_jobs(tmp_path)) == 1
    assert list(read_table(tmp_path).metrics["performance_bytes_per_s"]) == [1e6]
    write_jobs(tmp_path, [performed("west", 2e6), performed("north", float("nan"))])
    table = read_table(tmp_path)
    rates = dict(zip(table.job_id, table.metrics["performance_bytes_per_s"], strict=True))
    assert (rates["1@east"], rates["1@west"]) == (1e6, 2e6)
    assert np.isnan(rates.get("1@north", np.nan))
    numbers = {job.system: dict(job.scalars) for job in read_jobs(tmp_path)}
    assert numbers["east"]["performance_bytes_per_s"].value == 1e6


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/New_York"])
def test_the_same_records_in_another_zone_are_the_same_jobs(
    tmp_path: Path, zone: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "sacct.txt"
    winter = row("3", "east", "ann").replace("2026-09", "2026-12")
    path.write_text("\n".join([HEAD, *BOTH, winter, ""]))
    store = tmp_path / "store"
    assert run("import", "--zone", "UTC", str(path), store=store) == 0
    before = {(job.job_id, job.system): job.start_ns for job in read_jobs(store)}
    capsys.readouterr()
    assert run("import", "--zone", zone, str(path), store=store) == 0
    assert "4 jobs were there with times" in capsys.readouterr().out
    after = {(job.job_id, job.system): job.start_ns for job in read_jobs(store)}
    assert after.keys() == before.keys()
    assert len(read_jobs(store)) == 4
    assert all(after[key] != before[key] for key in before)
    assert run("import", "--zone", zone, str(path), store=store) == 0
    assert "were there" not in capsys.readouterr().out


def test_a_requeued_job_is_not_taken_for_another_zone(tmp_path: Path) -> None:
    put(tmp_path, [row("1", "east", "ann")])
    later = row("1", "east", "ann").replace("T10:", "T12:")
    put(tmp_path, [row("1", "east", "ann"), later])
    assert len(read_jobs(tmp_path / "store")) == 2


def test_a_later_record_without_the_written_id_keeps_it(tmp_path: Path) -> None:
    raw = "JobIDRaw|User|JobName|State|Start|End|NNodes|NodeList"
    words = "ann|relax|{}|2026-09-22T10:00:00|{}|1|n1"
    first = "4711_7|4720|" + words.format("RUNNING", "Unknown")
    put(tmp_path, [first], "JobID|" + raw)
    store = put(tmp_path, ["4720|" + words.format("COMPLETED", "2026-09-22T10:05:00")], raw)
    known = [(job.job_id, job.shown_id, job.state) for job in read_jobs(store)]
    assert known == [("4720", "4711_7", "COMPLETED")]
