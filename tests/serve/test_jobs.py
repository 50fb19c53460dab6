"""Jobs and their diagrams over HTTP."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from fastapi.testclient import TestClient

from iosonde.engine.files import csv_text
from iosonde.jobs.answers import explain_job
from iosonde.jobs.explain.data import explanation_data
from iosonde.jobs.table.leakage import judged
from iosonde.jobs.umami.answers import DiagramAnswer
from iosonde.jobs.umami.diagram import standard_rows, umami
from iosonde.jobs.umami.figure import to_json, umami_figure
from iosonde.model.errors import NothingMeasuredError
from iosonde.model.jobs import JobTable
from iosonde.serve.app import create
from iosonde.serve.errors import page
from iosonde.serve.job_table import KEEP_S, JobTables
from iosonde.serve.jobs import JobsQuery, jobs_listed
from iosonde.serve.privacy.pseudonyms import Pseudonyms
from tests.kit.jobs.jobs_made import simulated, table

JOBS = simulated()


def asking(folder: Path, jobs: JobTable) -> TestClient:
    return TestClient(
        create(folder, jobs=lambda: jobs, names=Pseudonyms(None)), base_url="http://127.0.0.1"
    )


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory):
    with asking(tmp_path_factory.mktemp("store"), JOBS) as client:
        yield client


def test_jobs_come_newest_first_and_can_be_searched(client: TestClient) -> None:
    every = client.get("/api/jobs").json()
    assert (every["n"], every["total"]) == (30, 30)
    assert [job["job"] for job in every["jobs"]] == [str(i) for i in range(30, 0, -1)]
    assert every["jobs"][0] == {
        "job": "30",
        "run": "",
        "step": "",
        "motif": "ior shared write",
        "file_system": "work",
        "start_ns": int(JOBS.start_ns[29]),
        "end_ns": int(JOBS.end_ns[29]),
        "performance": None,
        "unit": "bytes/s",
        "fraction_of_peak": JOBS.metrics["fraction_of_peak_ratio"][29],
        "user": "",
        "account": "",
        "name": "",
        "nodes": None,
        "ranks": None,
        "run_s": 120.0,
        "state": "",
        "slowness": pytest.approx(
            np.median(JOBS.metrics["fraction_of_peak_ratio"])
            / JOBS.metrics["fraction_of_peak_ratio"][29]
        ),
        "slowness_by": "I/O rate",
        "raw_id": "",
        "system": "",
    }
    found = client.get("/api/jobs", params={"search": "WORK 2", "limit": 3}).json()
    assert found["total"] == 12, "2, 12, 20 to 29"
    assert [job["job"] for job in found["jobs"]] == ["29", "28", "27"]
    rest = client.get("/api/jobs", params={"search": "WORK 2", "limit": 20, "offset": 3}).json()
    assert [job["job"] for job in rest["jobs"]][-2:] == ["12", "2"]
    assert (rest["total"], len(rest["jobs"])) == (12, 9)
    assert client.get("/api/jobs", params={"search": "nothing"}).json()["jobs"] == []
    slow = client.get("/api/jobs", params={"slow": "true", "sort": "slowness"}).json()["jobs"]
    assert [job["job"] for job in slow] == ["30"]
    assert client.get("/api/jobs", params={"user": "ann"}).json()["total"] == 0
    began = int(JOBS.start_ns[27])
    assert client.get("/api/jobs", params={"since_ns": began}).json()["total"] == 3


def test_the_diagram_is_what_the_terminal_and_pictures_draw(client: TestClient) -> None:
    answer = client.get("/api/umami", params={"job": "12", "history": "all"})
    assert answer.status_code == 200, answer.text
    shown = answer.json()
    made = judged(JOBS)
    found, verdict, *_ = explain_job(made, "12", history="all")
    figure = shown.pop("figure")
    assert {name: shown[name] for name in verdict.data()} == verdict.data()
    assert shown == explanation_data(found, verdict, page), "as iosonde explain writes it"
    assert (shown["file_system"], shown["motif"]) == ("work", "ior shared write")
    rows = [found.measure, *(one.metric for one in verdict.told), *standard_rows(made)]
    rows = [name for name in dict.fromkeys(rows) if name in made.metrics]
    assert figure == to_json(umami_figure(umami(made, "12", metrics=rows, history="all")))
    short = client.get("/api/umami", params={"job": "30", "last": 7, "metric": "overloaded_oss"})
    assert [row["metric"] for row in short.json()["figure"]["rows"]] == ["overloaded_oss"]
    assert len(short.json()["figure"]["times_s"]) == 8


@pytest.mark.parametrize(
    ("path", "status", "word"),
    [
        ("/api/umami?job=31", 404, "there is no job"),
        ("/api/umami", 400, "missing"),
        ("/api/umami?job=30&history=some", 400, "one of earlier, all"),
        ("/api/umami?job=30&format=exe", 400, "json, csv, png, svg, pdf"),
        ("/api/umami?job=30&format=png&scale=9", 400, "a number from 1.0 to 3.0"),
        ("/api/umami?job=30&last=0", 400, "from 1"),
        ("/api/umami?job=30&last=9999999999999999999", 400, "from 1"),
        ("/api/umami?job=30&metric=oss", 404, "no such metric"),
        ("/api/umami?job=" + "9" * 300, 400, "too long"),
        ("/api/jobs?limit=1001", 400, "1000"),
        ("/api/jobs?sort=up", 400, "one of time, slowness"),
        ("/api/jobs?order=up", 400, "no parameter"),
    ],
)
def test_wrong_questions_are_refused(client: TestClient, path: str, status: int, word: str) -> None:
    answer = client.get(path)
    assert answer.status_code == status
    assert word in " ".join(answer.json()["error"].values())


def test_runs_of_one_job_are_listed_so_that_each_can_be_asked_for(tmp_path: Path) -> None:
    names = ["a", "a", "a", "a", "b"]
    motifs = ["x read", "x write", "x write", "x write", "x read"]
    steps = ["", "", "2", "", "2"]
    jobs = table(
        {"own_bytes": [float(i) for i in range(5)]}, job_id=names, motif=motifs, step=steps
    )
    with asking(tmp_path, jobs) as client:
        listed = client.get("/api/jobs").json()["jobs"][::-1]
        assert [job["run"] for job in listed] == ["x read", "#2", "2", "#4", ""]
        for row, job in enumerate(listed):
            asked = {"job": job["job"], "run": job["run"]}
            seen = client.get("/api/umami", params={**asked, "metric": "own_bytes"}).json()
            assert seen["figure"]["rows"][0]["value"] == row


def test_a_store_without_jobs_has_an_empty_list(tmp_path: Path) -> None:
    with TestClient(create(tmp_path), base_url="http://127.0.0.1") as client:
        assert client.get("/api/jobs").json() == {
            "schema_version": 3,
            "n": 0,
            "total": 0,
            "jobs": [],
        }
        assert client.get("/api/umami?job=1").status_code == 404


def test_files_to_keep(client: TestClient) -> None:
    asked = {"job": "12", "history": "all"}
    rows = client.get("/api/umami", params=asked).json()["figure"]["rows"]
    answer = client.get("/api/umami", params={**asked, "format": "csv"})
    kept = list(csv.DictReader(answer.text.splitlines()))
    assert [(row["metric"], row["class"], int(row["n_history"])) for row in kept] == [
        (row["metric"], row["role"], row["n"]) for row in rows
    ]
    name = 'attachment; filename="iosonde-umami-12.csv"'
    assert answer.headers["content-disposition"] == name
    looks = {"width": "4", "zone": "Europe/Berlin"}
    pictures = {}
    for form, head in (("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")):
        answer = client.get("/api/umami", params={**asked, **looks, "format": form})
        assert answer.content.startswith(head)
        assert answer.headers["content-disposition"] == name.replace("csv", form)
        pictures[form] = answer.content
    dark = client.get("/api/umami", params={**asked, **looks, "format": "svg", "theme": "dark"})
    assert dark.content != pictures["svg"]
    missing = client.get("/api/umami", params={"job": "31", "format": "svg"})
    assert missing.status_code == 404
    assert "there is no job" in missing.json()["error"]["what"]


def test_the_csv_is_that_of_the_terminal(tmp_path: Path) -> None:
    names = ["fraction_of_peak_ratio", "fullest_ost_percent"]
    found = umami(JOBS, "12", metrics=names)
    with asking(tmp_path, JOBS) as client:
        csv_of = client.get("/api/umami", params={"job": "12", "format": "csv", "metric": names})
    columns, rows = DiagramAnswer(found).table()
    assert csv_of.text == csv_text(rows, columns)


def test_missing_values_are_null_on_the_wire(tmp_path: Path) -> None:
    values = np.array([1.0, np.nan, 3.0, 4.0, 5.0, 6.0, np.nan])
    with asking(tmp_path, table({"mds_cpu_mean_percent": values})) as client:
        row = client.get("/api/umami?job=7").json()["figure"]["rows"][0]
    assert row["values"] == [1, None, 3, 4, 5, 6, None]
    assert (row["value"], row["role"], row["sign"]) == (None, "missing", "?")


def test_a_table_is_read_again_when_it_is_old() -> None:
    now, read = 0.0, 0

    def reading() -> JobTable:
        nonlocal read
        read += 1
        if read > 2:
            raise NothingMeasuredError("gone")
        return JOBS

    jobs, asked = JobTables(reading, lambda: now), JobsQuery(limit=1)
    for now in (0.0, KEEP_S - 1):  # noqa: B007
        jobs_listed(jobs, asked)
    assert read == 1
    now = KEEP_S
    assert jobs_listed(jobs, asked).n == 30
    assert read == 2
    now = 3 * KEEP_S
    assert jobs_listed(jobs, asked).n == 0


def test_a_table_has_a_new_version_only_when_it_says_something_else() -> None:
    now, tables = 0.0, [simulated(), simulated(), simulated(), simulated(), simulated()]
    tables[2].metrics["radius_max_hops"][4] = np.nan
    tables[3].metrics["radius_max_hops"][4] = np.nan
    tables[4].motif[0] = "another"
    seen = iter(tables)
    jobs = JobTables(lambda: next(seen), lambda: now)
    versions = []
    for now in (0.0, KEEP_S, 2 * KEEP_S, 3 * KEEP_S, 4 * KEEP_S):  # noqa: B007
        versions.append(jobs.newest())
    assert [version.number for version in versions] == [1, 1, 2, 2, 3]
    assert versions[1].judged is versions[0].judged
