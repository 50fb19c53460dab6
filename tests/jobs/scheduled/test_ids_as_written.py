"""Jobs by the ids that users write: tasks of arrays, components, steps, raw ids, in every door."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from fastapi.testclient import TestClient

import iosonde
from iosonde.engine.connections import connect
from iosonde.engine.parquet import parquet, write_parquet
from iosonde.jobs.attribution.allocations import allocations_of
from iosonde.jobs.attribution.grid import Grid, NodeOps
from iosonde.jobs.attribution.own_counters import with_own
from iosonde.jobs.store.jobs import write_jobs
from iosonde.jobs.store.meant import meant
from iosonde.model.errors import NothingMeasuredError
from iosonde.model.jobs import Job, Scalar
from iosonde.serve.app import create
from iosonde.serve.privacy.pseudonyms import Pseudonyms
from tests.kit.commands import run
from tests.kit.samples.latencies import real

S = 1_000_000_000
START = 1_790_000_000 * S
KEY = bytes(range(32))
HEAD = "JobID|JobIDRaw|User|JobName|State|Start|End|NNodes|NodeList"


def row(written: str, raw: str, minute: int | None, took: int = 5, state: str = "COMPLETED") -> str:
    begin = "Unknown" if minute is None else f"2026-09-22T10:{minute:02}:00"
    end = "Unknown" if minute is None else f"2026-09-22T10:{minute + took:02}:00"
    return f"{written}|{raw}|ann|relax|{state}|{begin}|{end}|1|n1"


ROWS = [
    row("4711_7", "4718", 0),
    row("4711_8", "4719", 5, 20, "FAILED"),
    row("4711_9", "4711", 10),
    row("4711_[10-12%2]", "4711", None, state="PENDING"),
    row("600+0", "600", 0),
    row("600+1", "601", 0),
    row("601+0", "602", 0),
    row("5000", "5000", 0),
]


def imported(folder: Path, rows: list[str], head: str = HEAD) -> Path:
    path = folder / "sacct.txt"
    path.write_text("\n".join([head, *rows, ""]))
    assert run("import", str(path), store=folder / "store") == 0
    return folder / "store"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return imported(tmp_path_factory.mktemp("ids"), ROWS)


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("slurm") / "store"
    assert run("import", str(real("clients/slurm/sacct.txt")), store=root) == 0
    return root


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """One line a task, whatever terminal the tests run in."""
    monkeypatch.setenv("COLUMNS", "160")


def asked(
    store: Path, capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0
) -> tuple[str, str]:
    capsys.readouterr()
    assert run("explain", "--job", *arguments, store=store) == code
    out, err = capsys.readouterr()
    return out, err


@pytest.mark.parametrize(
    ("written", "means", "remark"),
    [
        ("4711_7", [("4718", "4711_7")], ""),
        ("4718", [("4718", "4711_7")], "4718 is the raw id of job 4711_7"),
        ("4711_9", [("4711", "4711_9")], ""),
        ("4711_11", [("4711", "4711_[10-12%2]")], "4711_11 is one of the tasks 4711_[10-12%2]"),
        ("4711_8.batch", [("4719", "4711_8")], "4711_8.batch is step batch of job 4711_8"),
        ("4711.0", [("4711", "4711_9")], "4711.0 is step 0 of job 4711_9"),
        ("600", [("600", "600+0"), ("601", "600+1")], ""),
        ("600+1", [("601", "600+1")], ""),
        ("5000", [("5000", "5000")], ""),
        ("5000.extern", [("5000", "5000")], "5000.extern is step extern of job 5000"),
        ("601", [("602", "601+0")], "heterogeneous job 601 has one component here: 601+0"),
    ],
)
def test_an_id_means_these_jobs(
    store: Path, written: str, means: list[tuple[str, str]], remark: str
) -> None:
    found = meant(store, written)
    assert found is not None
    assert [(job.job_id, job.written) for job in found.jobs] == means
    assert found.remark.startswith(remark)
    assert bool(found.remark) is bool(remark)


@pytest.mark.parametrize(
    "nothing", ["4711_13", "4711_7.server", "47", "", "5000_1", "'; --", "600+2"]
)
def test_an_id_of_no_job_means_nothing(store: Path, nothing: str) -> None:
    assert meant(store, nothing) is None


def test_the_number_of_a_real_array_means_its_tasks_and_not_the_one_with_that_raw_id(
    slurm: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, _ = asked(slurm, capsys, "1")
    lines = out.splitlines()
    assert lines[0] == "array 1: 3 tasks, 3 COMPLETED; they took 9 s"
    assert [line.split()[2] for line in lines[1:4]] == ["1_1", "1_2", "1_3"]
    out, err = asked(slurm, capsys, "1_3")
    assert out.startswith("job 1_3 ran 9 s")
    assert "raw id 1\n" in out
    assert not err
    out, err = asked(slurm, capsys, "2.batch")
    assert out.startswith("job 2 ran 7 s")
    assert "2.batch is step batch of job 2" in err


def test_tasks_as_json(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(asked(store, capsys, "4711", "--format", "json")[0])
    assert found["whole"] == "array 4711"
    assert (found["left_out"], found["waiting"]) == (0, 3)
    tasks = found["tasks"]
    assert [one["job_id"] for one in tasks] == ["4711_7", "4711_8", "4711_9"]
    assert [one["raw_id"] for one in tasks] == ["4718", "4719", "4711"]
    assert [one["run_s"] for one in tasks] == [300, 1200, 300]
    assert [one["state"] for one in tasks] == ["COMPLETED", "FAILED", "COMPLETED"]
    assert found["sentence"].endswith(
        "3 tasks, 2 COMPLETED, 1 FAILED, 3 more wait; they took 5 min to 20 min (median 5 min)"
    )


def test_a_task_is_told_without_the_tasks_that_wait(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = json.loads(asked(store, capsys, "4711_9", "--format", "json")[0])
    assert (found["job_id"], found["raw_id"], found["runs"]) == ("4711_9", "4711", 1)
    out, err = asked(store, capsys, "4711_12")
    assert out.startswith("job 4711_[10-12%2] has not begun (PENDING)")
    assert "4711_12 is one of the tasks" in err


def test_options_about_one_run_need_one_job(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, err = asked(store, capsys, "4711", "--step", "#1", code=2)
    assert "--step is for one job; 4711 has 4 tasks" in err
    assert "--job 4711_7" in err


def test_tasks_that_an_earlier_import_saw_waiting_have_run(tmp_path: Path) -> None:
    root = imported(tmp_path, [row("8_[1-2]", "8", None, state="PENDING")])
    first = meant(root, "8")
    assert first is not None
    assert [(job.written, job.waits) for job in first.jobs] == [("8_[1-2]", 2)]
    imported(tmp_path, [row("8_1", "9", 0), row("8_2", "8", 0)])
    then = meant(root, "8")
    assert then is not None
    assert [(job.written, job.waits) for job in then.jobs] == [("8_1", 0), ("8_2", 0)]


def test_of_many_tasks_the_longest_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [row(f"70_{n}", str(100 + n), 0, 1 + n) for n in range(20)]
    found = json.loads(asked(imported(tmp_path, rows), capsys, "70", "--format", "json")[0])
    assert [one["job_id"] for one in found["tasks"]] == [f"70_{n}" for n in range(8, 20)]
    assert found["left_out"] == 8


def test_the_list_has_ids_as_written_and_is_searched_by_both(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def listed(*words: str) -> list[str]:
        capsys.readouterr()
        assert run("jobs", "--format", "json", "--search", *words, store=store) == 0
        return sorted(one["job"] for one in json.loads(capsys.readouterr().out)["jobs"])

    assert listed("4711") == ["4711_7", "4711_8", "4711_9"]
    assert listed("4718") == ["4711_7"]
    assert listed("4711_8.batch") == ["4711_8"]
    assert listed("600+1") == ["600+1"]


def test_a_log_that_knows_the_raw_id_is_the_task_s(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = imported(tmp_path, ROWS)
    begin = 1_790_071_260 * S  # a minute after 10:00
    write_jobs(
        root,
        [
            Job(
                source="darshan",
                job_id=job_id,
                app="relax",
                mode="fpp",
                direction="write",
                file_system="/work",
                start_ns=begin + day * 86_400 * S,
                end_ns=begin + day * 86_400 * S + 60 * S,
                scalars={"performance_bytes_per_s": Scalar(rate, "bytes/s", "darshan")},
            )
            for job_id, day, rate in [
                *((str(100 + n), -30 + n, 1e9 + 1e7 * n) for n in range(20)),
                ("4718", 0, 3e8),
                ("999", 0, 1.1e9),
            ]
        ],
    )
    out, _ = asked(root, capsys, "4711_7")
    assert out.startswith("job 4711_7 was ")
    assert "slower than usual" in out.splitlines()[0]
    assert asked(root, capsys, "4718")[0].splitlines() == out.splitlines()
    told = [line for line in asked(root, capsys, "4711")[0].splitlines() if "4711_7 " in line]
    assert "slower than usual" in told[0]
    jobs = iosonde.open(root).jobs()
    explained = jobs.explain("4711_7")
    assert jobs.explain(4718).sentence == explained.sentence == out.splitlines()[0]
    with pytest.raises(
        NothingMeasuredError, match="4711_8 comes from sacct, without I/O performance"
    ):
        jobs.umami("4711_8")
    frame = jobs.columns
    assert list(frame["job_id"][frame["raw_id"] == "4718"]) == ["4711_7"]


def test_python_has_tasks_as_rows(slurm: Path) -> None:
    jobs = iosonde.open(slurm).jobs(scheduled=True)
    found = jobs.explain(1)
    assert found.sentence == "array 1: 3 tasks, 3 COMPLETED; they took 9 s"
    assert list(found.columns["job_id"]) == ["1_1", "1_2", "1_3"]
    assert list(found.columns["raw_id"]) == ["5", "6", "1"]
    assert jobs.explain("1_2.batch").sentence.startswith("job 1_2 ran 9 s")


@pytest.mark.parametrize("key", [None, KEY], ids=["open", "hashed"])
def test_the_page_takes_ids_as_written(store: Path, key: bytes | None) -> None:
    names = Pseudonyms(None if key is None else lambda: key)
    app = create(store, clock=lambda: START + 10**6 * S, names=names)
    client = TestClient(app, base_url="http://127.0.0.1")
    listed = client.get("/api/jobs").json()["jobs"]
    assert len(listed) == 7
    for one in listed:
        told = client.get("/api/job", params={"job": one["job"]}).json()
        assert told["job"] == one["job"]
        assert told["begin_ns"] == one["start_ns"]
    written = {one["job"] for one in listed}
    assert {"4711_7", "4711_8", "4711_9", "600+0", "600+1"} < written
    for same in ("4711_7", "4718", "4711_7.batch"):
        told = client.get("/api/job", params={"job": same})
        assert told.json()["job"] == "4711_7"
        assert ("ann" in told.text) is (key is None)
    several = client.get("/api/job?job=600").json()
    assert several["sentence"] == "heterogeneous job 600 has 2 components: 600+0, 600+1"


def test_an_older_store_answers_as_before(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = imported(tmp_path, ROWS[:3])
    (path,) = (root / "jobs").glob("*/*.parquet")
    with closing(connect(threads=1)) as con:
        con.execute(f"CREATE TABLE old AS SELECT * EXCLUDE (shown_id) FROM {parquet([path])}")
        write_parquet(con, "SELECT * FROM old", path)
    for raw in ("4718", "4719", "4711"):
        out, err = asked(root, capsys, raw)
        assert out.startswith(f"job {raw} ran ")
        assert not err
    assert iosonde.open(root).jobs(scheduled=True).columns["job_id"].tolist() == [
        "4718",
        "4719",
        "4711",
    ]
    _, err = asked(root, capsys, "4711_7", code=2)
    assert "knows tasks of arrays by their raw ids only" in err
    assert "JobID,JobIDRaw" in err
    imported(tmp_path, ROWS[:2])  # a part that has both
    assert asked(root, capsys, "4711_7")[0].startswith("job 4711_7 ran ")
    assert asked(root, capsys, "4711_8")[0].startswith("job 4711_8 ran ")


def test_shares_of_load_are_of_jobs_as_users_write_them() -> None:
    task = Job(
        source="sacct",
        job_id="4718",
        shown_id="4711_7",
        user="ann",
        node_names=("n1",),
        start_ns=START,
        end_ns=START + 60 * S,
        state="COMPLETED",
    )
    placed = allocations_of([task], ["n1"], START + 100 * S)
    assert placed.job_id.tolist() == ["4711_7"]
    grid = Grid(START, 10 * S, 6)
    recorded = NodeOps(grid, ("n1", "4718@ost"), np.zeros((2, 6)), np.ones((2, 6)))
    counted = with_own(placed, recorded, {1: "4718"}, [task])
    assert counted.job_id.tolist() == ["4711_7", "4711_7"]
    assert counted.user.tolist() == ["ann", "ann"]
