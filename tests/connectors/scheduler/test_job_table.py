"""Tables of completed jobs in SQLite."""

import sqlite3
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from iosonde.connectors.scheduler import job_table
from iosonde.connectors.source import Settings, head_of
from tests.kit.records.connected import survives, take
from tests.kit.samples.latencies import real

SUMMARY = "CREATE TABLE summary(stepid primary key, hostname, start integer, completion integer, numnodes integer)"


def table(path: Path, create: str, *rows: tuple[object, ...]) -> Path:
    path.unlink(missing_ok=True)
    database = sqlite3.connect(path)
    database.execute(create)
    for row in rows:
        marks = ",".join("?" * len(row))
        name = create.split("TABLE ")[1].split("(", maxsplit=1)[0]
        database.execute(f"INSERT INTO {name} VALUES ({marks})", row)
    database.commit()
    database.close()
    return path


def test_a_row_is_a_job(tmp_path: Path) -> None:
    path = table(
        tmp_path / "a",
        SUMMARY,
        ("7.lab", "lab", 1_700_000_000, 1_700_000_060, 3),
        ("8.0", "lab", 1, 2, 1),
    )
    assert job_table.recognises(head_of(path))
    job, step = take(job_table, path).jobs
    assert (job.job_id, job.step, job.system, job.nodes) == ("7", "", "lab", 3)
    assert (job.start_ns, job.scalars["duration_s"].value) == (1_700_000_000_000_000_000, 60)
    assert job.scalars["duration_s"].flags == ()
    assert (step.job_id, step.step) == ("8", "0")


def test_other_names_and_units(tmp_path: Path) -> None:
    create = 'CREATE TABLE "my jobs"(id_job, user, time_start, time_end, nodelist, state)'
    path = tmp_path / "a"
    database = sqlite3.connect(path)
    database.execute(create)
    rows = [
        (5, "u", 1_700_000_000_000, 1_700_000_001_000, "n[1-2]", "FAILED by x"),
        (6, "u", "2026-01-02 03:00:00", None, "n1", None),
    ]
    database.executemany('INSERT INTO "my jobs" VALUES (?,?,?,?,?,?)', rows)
    database.commit()
    database.close()
    one, two = take(job_table, path, zone=ZoneInfo("UTC"), system="c").jobs
    assert (one.start_ns, one.state, one.node_names) == (
        1_700_000_000_000_000_000,
        "FAILED",
        ("n1", "n2"),
    )
    assert (two.end_ns, two.scalars["duration_s"].flags) == (None, ("naive-time", "missing"))


def test_a_mapping_names_columns(tmp_path: Path) -> None:
    path = table(tmp_path / "a", "CREATE TABLE t(nr, von, bis)", ("7", 100, 200))
    assert not job_table.recognises(head_of(path))
    assert "no table" in str(take(job_table, path).ended)
    names = {"JobIDRaw": ["nr"], "Start": ["von"], "End": ["bis"]}
    (job,) = job_table.read(path, Settings(), pytest.fail, columns=names)
    assert job.scalars["duration_s"].value == 100


@pytest.mark.parametrize(
    "row",
    [
        (None, "lab", 1, 2, 1), ("", "lab", 1, 2, 1), ("x", "lab", 5, 3, 1), ("x", "lab", "soon", 3, 1),
        ("x", "lab", float("inf"), 3, 1), ("x", "lab", b"\x00\xff", 3, 1), ("x", "lab", -5, 3, 1),
    ],
)  # fmt: skip
def test_rows_that_are_no_good(tmp_path: Path, row: tuple[object, ...]) -> None:
    create = SUMMARY.replace(" primary key", "")
    path = table(tmp_path / "a", create, row, ("8", "lab", 1, 2, 1))
    out = take(job_table, path)
    assert [job.job_id for job in out.jobs] == ["8"]
    assert "row 1" in out.told[0]


def test_the_same_row_twice(tmp_path: Path) -> None:
    row = ("8", "lab", 1, 2, 1)
    out = take(job_table, table(tmp_path / "a", SUMMARY.replace(" primary key", ""), row, row))
    assert len(out.jobs) == 1
    assert "twice" in out.told[0]


def test_views_are_not_read_and_nothing_is_written(tmp_path: Path) -> None:
    path = table(tmp_path / "a", "CREATE TABLE t(x)", (1,))
    database = sqlite3.connect(path)
    database.execute("CREATE VIEW summary AS SELECT 1 AS stepid, 2 AS start, 3 AS completion")
    database.commit()
    database.close()
    before = path.read_bytes()
    assert not job_table.recognises(head_of(path))
    assert take(job_table, path).ended is not None
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


def test_real() -> None:
    path = real("umami/slurm/edison_jobsdb_2017-03-20.sqlite3")
    assert job_table.recognises(head_of(path))
    out = take(job_table, path)
    assert not out.told
    assert len({job.job_id for job in out.jobs}) == 485
    assert min(job.start_ns or 0 for job in out.jobs) == 1489872299 * 10**9
    assert "4472230" in {job.job_id for job in out.jobs}


def test_the_real_database_of_a_monitor_is_not_one() -> None:
    assert not job_table.recognises(head_of(real("umami/lmt/snx11025_2018-01-28.sqlite3")))


def test_mutated(tmp_path: Path) -> None:
    rows = [(f"{n}.lab", "lab", 100 + n, 200 + n, n) for n in range(300)]
    data = table(tmp_path / "x", SUMMARY, *rows).read_bytes()
    survives(job_table, tmp_path / "a", data, 80)
