"""A job whose records lie scattered over the files of six tools: put together it is the row the site published."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable

import pytest

from iosonde.jobs.store import jobs
from iosonde.jobs.store import series as metrics
from iosonde.model.jobs import Job, Scalar
from iosonde.model.metrics import Edge, MetricBlock
from tests.jobs.test_metrics_store import START, S, block
from tests.kit.commands import run
from tests.kit.jobs.jobs_made import environment
from tests.kit.samples.latencies import DATA

UMAMI = DATA / "umami"
JOB = "4478544"


def published(name: str, wanted: Callable[[dict[str, str]], bool]) -> dict[str, str]:
    """The row of a published table; its first column has no name."""
    path = UMAMI / "tables" / name
    with gzip.open(path, "rt") if name.endswith(".gz") else path.open() as file:
        header, *rows = csv.reader(file)
    named = [dict(zip(["", *header], row, strict=True)) for row in rows if len(row) > len(header)]
    (row,) = filter(wanted, named)
    return row


@pytest.mark.skipif(not UMAMI.is_dir(), reason=f"real records are not in {UMAMI} (IOSONDE_DATA)")
def test_a_published_row_from_its_raw_files(tmp_path, capsys):
    files = [
        UMAMI / "darshan" / f"edison_{JOB}_vpic_write.darshan",
        UMAMI / "slurm" / f"edison_{JOB}_sacct.json",
        UMAMI / "slurm" / "edison_jobsdb_2017-03-20.sqlite3",
        UMAMI / "topology" / f"edison_{JOB}_xtdb2proc.gz",
        UMAMI / "lustre_health" / "sample_ost-fullness.txt.gz",
        UMAMI / "lustre_health" / "sample_ost-map.txt.gz",
    ]
    args = ["import", *map(str, files), "--zone", "America/Los_Angeles", "--store", str(tmp_path)]
    assert run(*args) == 0, capsys.readouterr().err
    (job,) = [j for j in jobs.read_jobs(tmp_path, job_id=JOB) if j.source == "darshan"]
    row = published(
        "year_edison.csv.gz", lambda r: r["_jobid"] == JOB and "vpic" in r["darshan_app"]
    )
    assert job.start_ns == int(row["darshan_start_time"]) * S
    assert job.end_ns == int(row["darshan_end_time"]) * S
    columns = {
        "fullest_ost_percent": "fshealth_ost_most_full_pct",
        "emptiest_ost_percent": "fshealth_ost_least_full_pct",
        "mean_fullness_percent": "fshealth_ost_avg_full_pct",
        "overloaded_oss": "fshealth_ost_overloaded_oss_count",
        "overloaded_osts": "fshealth_ost_overloaded_ost_count",
        "overloaded_osts_percent": "fshealth_ost_overloaded_pct",
        "overload_factor_ratio": "fshealth_ost_avg_overloaded_overload_factor",
        "radius_min_hops": "topology_job_min_radius",
        "radius_mean_hops": "topology_job_avg_radius",
        "radius_max_hops": "topology_job_max_radius",
        "own_written_bytes": "darshan_tot_bytes_written_posix",
        "own_writes": "darshan_tot_writes_posix",
        "own_opens": "darshan_tot_opens_posix",
    }
    for metric, column in columns.items():
        value = job.scalars[metric].value
        assert value == pytest.approx(float(row[column]), rel=1e-9), metric
    rate = job.scalars["performance_bytes_per_s"].value
    assert rate == pytest.approx(float(row["darshan_agg_perf_by_slowest_posix"]) * 2**20, rel=1e-9)
    full = job.scalars["fullest_ost_percent"]
    assert (full.n, full.missing, full.source) == (24, 0.0, "lfs df")
    assert full.age_ns == pytest.approx(float(row["fshealth_ost_fullness_lead_secs"]) * S, abs=S)
    assert job.scalars["radius_max_hops"].n == 128
    month = published(
        "pdsw17_edison.csv", lambda r: (r["darshan_jobid"], r["darshan_app"]) == (JOB, "VPIC-IO")
    )
    assert job.scalars["concurrent_jobs"].value == float(month["job_concurrent_jobs"])
    before = jobs.read_jobs(tmp_path)
    assert run(*args) == 0
    assert jobs.read_jobs(tmp_path) == before, "imported twice"


def job(**more) -> Job:
    known = {"source": "darshan", "job_id": "7", "file_system": "/work"}
    return Job(**known | {"start_ns": START + 10 * S, "end_ns": START + 30 * S} | more)


def traffic(metric: str, value: list[list[float]], **more) -> MetricBlock:
    times = [START + 5 * S * i for i in range(len(value))]
    return block(times, value, metric=metric, **more)


def test_servers_are_those_of_the_file_system_that_is_mounted_there(tmp_path):
    edge = Edge("lfs df", "fs1", START, "filesystem", "fs1", "/work")
    metrics.write_edges(tmp_path, [edge])
    metrics.write_block(tmp_path, traffic("read_bytes", [[1, 1]] * 9))
    metrics.write_block(tmp_path, traffic("read_bytes", [[100, 100]] * 9, system="fs2"))
    found = environment(tmp_path, job())
    # Steps that begin within [10 s, 30 s + 5 s]: six of them.
    assert found["server_read_bytes"] == Scalar(12.0, "bytes", "lmt", 12, 0.0)
    assert environment(tmp_path, job(file_system="/other")) == {}
    assert environment(tmp_path, job(end_ns=None)) == {}


def test_missing_samples_are_counted_and_not_zero(tmp_path):
    nan = float("nan")
    rows = [[1.0, nan], [nan, nan], [3.0, nan]] * 3
    metrics.write_block(tmp_path, traffic("opens", rows, unit="operations", level="mds"))
    found = environment(tmp_path, job(file_system="fs1"))
    opens, rate = found["server_opens"], found["server_opens_per_s"]
    assert opens.value == 8.0
    assert (opens.n, opens.missing) == (12, pytest.approx(8 / 12))
    assert rate.value == pytest.approx(8.0 / 20), "over the seconds that are known"
    metrics.write_block(
        tmp_path, traffic("opens", [[nan, nan]] * 9, unit="operations", level="mds")
    )
    gone = environment(tmp_path, job(file_system="fs1"))["server_opens"]
    assert (gone.value, gone.missing, gone.flags) == (None, 1.0, ("missing",))


def test_an_old_state_is_flagged_and_an_older_one_not_used(tmp_path):
    for metric, value in (("total_bytes", 100.0), ("used_bytes", 60.0)):
        made = block([START], [[value, value]], metric=metric, kind="gauge")
        metrics.write_block(tmp_path, made)
    hour = 3600 * S
    for after, flags in ((hour - S, ()), (2 * hour, ("stale",))):
        late = job(file_system="fs1", start_ns=START + after, end_ns=START + after + S)
        full = environment(tmp_path, late)["fullest_ost_percent"]
        assert (full.value, full.age_ns, full.flags) == (60.0, after, flags)
    late = job(file_system="fs1", start_ns=START + 48 * hour, end_ns=START + 49 * hour)
    assert environment(tmp_path, late) == {}


def test_two_monitors_of_one_number_the_more_complete_counts(tmp_path):
    nan = float("nan")
    metrics.write_block(tmp_path, traffic("read_bytes", [[1, nan]] * 9))
    metrics.write_block(tmp_path, traffic("read_bytes", [[2, 2]] * 9, source="tokio"))
    found = environment(tmp_path, job(file_system="fs1"))["server_read_bytes"]
    assert (found.source, found.value) == ("tokio", 24.0)
