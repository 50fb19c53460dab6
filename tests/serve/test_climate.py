"""Climates over HTTP: what the terminal says, computed once, while the weather goes on."""

from __future__ import annotations

import csv
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path

import httpx2
import numpy as np
import pytest
from fastapi.testclient import TestClient

from iosonde.jobs.climate.answers import climate_runs
from iosonde.jobs.climate.climate import climate
from iosonde.jobs.climate.figure import climate_figure, to_json
from iosonde.jobs.store.jobs import write_jobs
from iosonde.jobs.table.source import from_store
from iosonde.model.jobs import Job, JobTable, Scalar
from iosonde.serve import climate as route
from iosonde.serve.app import create
from iosonde.serve.climate import ClimateRequest, ClimateRoute
from iosonde.serve.job_table import KEEP_S, JobTables
from iosonde.serve.privacy.pseudonyms import Pseudonyms
from iosonde.serve.shared import Shared
from tests.kit.commands import run
from tests.kit.jobs.climates_made import runs, together
from tests.kit.jobs.jobs_made import table
from tests.kit.samples import stores

MADE = together(days=200)
EVERYTHING = ClimateRequest(None, None, None, None)


def job(made: JobTable, row: int) -> Job:
    app, mode, direction = made.motif[row].split()
    rate = float(made.metrics["fraction_of_peak_ratio"][row] * 1e9)
    return Job(
        source="made",
        job_id=str(row // 2),  # two runs a job: they need a name
        step=str(row % 2),
        app=app,
        mode=mode,
        direction=direction,
        file_system=str(made.file_system[row]),
        start_ns=int(made.start_ns[row]),
        end_ns=int(made.end_ns[row]),
        scalars={"performance_bytes_per_s": Scalar(rate, "bytes/s", "made")},
    )


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("store")
    write_jobs(root, [job(MADE, row) for row in range(len(MADE))])
    return root


@pytest.fixture(scope="module")
def client(store: Path) -> Iterator[TestClient]:
    with TestClient(create(store, names=Pseudonyms(None)), base_url="http://127.0.0.1") as client:
        yield client


def terminal(store: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run("climate", *arguments, store=store) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    "asked", [{}, {"file_system": "one"}, {"motif": "ior shared read", "file_system": "two"}]
)
def test_it_says_what_the_terminal_says(
    client: TestClient, store: Path, asked: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    page = client.get("/api/climate", params=asked).json()
    options = [word for name, value in asked.items() for word in (f"--{name}", value)]
    options = [word.replace("file_system", "file-system") for word in options]
    said = json.loads(terminal(store, capsys, *options, "--format", "json"))
    assert {name: page[name] for name in said} == said
    people = " ".join(terminal(store, capsys, *options).split())  # wrapped to the terminal
    for event in page["events"]:
        assert f"- {event['sentence']} " in people
    assert page["file_systems"] == ["one", "three", "two"], "of all jobs, whatever is asked"
    assert page["motifs"] == ["hacc fpp write", "ior shared read"]
    assert page["n"] == len(MADE)
    found = climate(from_store(store), **asked)
    assert page["figure"] == to_json(climate_figure(found))


def test_a_range_is_that_of_the_terminal(
    client: TestClient, store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    since, until = (int(MADE.start_ns[row]) // 10**9 * 10**9 for row in (50, 300))
    page = client.get("/api/climate", params={"since_ns": since, "until_ns": until}).json()
    times = [
        np.datetime_as_string(np.datetime64(t, "ns"), unit="s", timezone="UTC")
        for t in (since, until)
    ]
    said = terminal(store, capsys, "--since", times[0], "--until", times[1], "--format", "json")
    assert page["series"] == json.loads(said)["series"]
    assert since <= page["since_ns"] <= page["until_ns"] < until
    assert [len(named) for named in page["runs"]] == [one["n"] for one in page["series"]]


def test_every_dot_leads_to_its_job(client: TestClient) -> None:
    page = client.get("/api/climate").json()
    panes = [pane for column in page["figure"]["columns"] for pane in column["panes"] if pane]
    assert sorted(pane["series"] for pane in panes) == list(range(len(page["runs"])))
    seen = set()
    for pane in panes:
        about, named = page["series"][pane["series"]], page["runs"][pane["series"]]
        assert pane["motif"] == about["motif"]
        assert len(named) == len(pane["times_s"]) == about["n"]
        for at in (0, about["n"] // 2, about["n"] - 1):
            name, which = named[at]
            seen.add((name, which))
            diagram = client.get("/api/umami", params={"job": name, "run": which}).json()
            assert (diagram["file_system"], diagram["motif"]) == (
                about["file_system"],
                about["motif"],
            )
            figure = diagram["figure"]
            assert figure["times_s"][figure["place"]] == pane["times_s"][at]
    assert {which for _, which in seen} == {"0", "1"}


def test_changes_of_a_pane_are_those_that_are_told(client: TestClient) -> None:
    page = client.get("/api/climate").json()
    for column in page["figure"]["columns"]:
        place = page["climates"][column["place"]]
        assert place["file_system"] == column["file_system"]
        assert len(place["regimes"]) == len(column["bands"])
        for pane in filter(None, column["panes"]):
            about = page["series"][pane["series"]]
            own = [
                change["at_ns"] / 1e9
                for change in page["changes"]
                if (change["file_system"], change["motif"])
                == (about["file_system"], about["motif"])
            ]
            assert [shift["at_s"] for shift in pane["shifts"]] == own
            assert len(pane["levels"]) == len(about["segments"]) == len(own) + 1


def test_files_to_keep(client: TestClient, store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = client.get("/api/climate", params={"format": "csv"})
    assert answer.text == terminal(store, capsys, "--format", "csv")
    rows = list(csv.DictReader(answer.text.splitlines()))
    assert [row["motif"] for row in rows] == ["ior shared read"] * 3
    berlin = {"format": "csv", "zone": "Europe/Berlin"}
    zoned = client.get("/api/climate", params=berlin).text
    for row, other in zip(rows, csv.DictReader(zoned.splitlines()), strict=True):
        for name in ("at", "earliest", "latest"):
            assert row[name].endswith("+00:00")
            assert other[name].endswith(("+01:00", "+02:00"))
            for one in (row, other):
                instant = datetime.fromisoformat(one[name]).timestamp()
                assert instant == pytest.approx(int(row[f"{name}_ns"]) / 1e9, abs=1e-3)
    assert answer.headers["content-disposition"] == 'attachment; filename="iosonde-climate.csv"'
    some = {"file_system": "one", "motif": "hacc fpp write"}
    for form, head in (("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")):
        answer = client.get("/api/climate", params={**some, "format": form, "width": "4"})
        assert answer.content.startswith(head)
        name = f'attachment; filename="iosonde-climate-one-hacc-fpp-write.{form}"'
        assert answer.headers["content-disposition"] == name
    steady = client.get("/api/climate", params={**some, "format": "csv"}).text
    assert steady.startswith("file_system,motif,at,earliest,latest,at_ns,"), (
        "a head, though nothing changed"
    )
    assert steady.count("\n") == 1


@pytest.mark.parametrize(
    ("asked", "status", "word"),
    [
        ("file_system=four", 404, "no job has the file system 'four' one, three, two"),
        ("motif=ior", 404, "no job has the motif 'ior'"),
        ("motif=" + "m" * 201, 400, "motif is too long"),
        ("since_ns=4000000000000000000", 404, "no run with a known begin"),
        ("since_ns=2&until_ns=2", 400, "not before until_ns"),
        ("until_ns=-1", 400, "until_ns is '-1'"),
        ("since_ns=yesterday", 400, "an integer number of nanoseconds"),
        ("format=xlsx", 400, "json, csv, png, svg, pdf"),
        ("format=png&width=400", 400, "a number from 3.0 to 24.0"),
        ("zone=Nowhere/Land", 400, "no time zone"),
        ("on=2027-03-10", 400, "no parameter 'on'"),
    ],
)
def test_wrong_questions_are_refused(
    client: TestClient, asked: str, status: int, word: str
) -> None:
    answer = client.get(f"/api/climate?{asked}")
    assert answer.status_code == status
    assert word in " ".join(answer.json()["error"].values())


def test_a_store_without_jobs_is_no_error_but_has_no_picture(tmp_path: Path) -> None:
    with TestClient(create(tmp_path), base_url="http://127.0.0.1") as client:
        assert client.get("/api/climate").json() == {"n": 0}
        answer = client.get("/api/climate?format=svg")
        assert answer.status_code == 404
        assert "no jobs" in answer.json()["error"]["what"]


def test_jobs_without_performance_and_too_few_of_them(tmp_path: Path) -> None:
    tables = {
        "no performance": table({"mds_cpu_mean_percent": [1.0, 2.0]}),
        "too few": table({"fraction_of_peak_ratio": [0.5, 1.0, 0.9]}),
    }
    asked = "no performance"
    app = create(tmp_path, jobs=lambda: tables[asked], names=Pseudonyms(None))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        answer = client.get("/api/climate")
        assert answer.status_code == 404
        assert "has no I/O performance" in answer.json()["error"]["what"]
    asked = "too few"
    app = create(tmp_path, jobs=lambda: tables[asked], names=Pseudonyms(None))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        page = client.get("/api/climate").json()
        assert (page["n"], page["series"], page["motifs"]) == (3, [], [])
        assert page["too_short"] == [["fs1", "app shared write"]]
        assert client.get("/api/climate?format=svg").status_code == 200


def test_names_that_nobody_should_give(tmp_path: Path) -> None:
    hostile = ('../x"\r\nset-cookie: a=b', "=cmd \u202e\u0000 <script>")
    made = runs(np.random.default_rng(2), {hostile: ((0.0, 0.0), (40.0, -1.0))}, days=80)
    app = create(tmp_path, jobs=lambda: made, names=Pseudonyms(None))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        page = client.get("/api/climate", params={"motif": hostile[1]}).json()
        assert page["series"][0]["motif"] == hostile[1]
        some = {"file_system": hostile[0], "motif": hostile[1], "format": "csv"}
        headers = client.get("/api/climate", params=some).headers
        name = "iosonde-climate-x-set-cookie-a-b-cmd-script.csv"
        assert headers["content-disposition"] == f'attachment; filename="{name}"'
        assert "set-cookie" not in headers


def test_a_climate_is_computed_once_a_version(monkeypatch: pytest.MonkeyPatch) -> None:
    now, made, computed = 0.0, MADE, 0

    def counted(*args: object, **options: object) -> object:
        nonlocal computed
        computed += 1
        return climate_runs(*args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(route, "climate_runs", counted)
    shared = Shared(lambda: now, threads=1)
    climates = ClimateRoute(JobTables(lambda: made, lambda: now), shared, shared)
    first = climates.found(EVERYTHING)
    now = 2 * KEEP_S
    assert climates.found(EVERYTHING) is first, "read again, and the same"
    assert climates.found(EVERYTHING._replace(file_system="one")) is not first
    assert computed == 2
    made, now = MADE.take(slice(0, 300)), 4 * KEEP_S
    assert climates.found(EVERYTHING).n == 300
    assert computed == 3
    shared.close()


def test_the_weather_does_not_wait_for_jobs_and_climates(tmp_path: Path) -> None:
    reading, go_on = threading.Event(), threading.Event()

    def slow() -> JobTable:
        reading.set()
        assert go_on.wait(30)
        return MADE

    with stores.running(tmp_path, jobs=slow) as (address, _):
        paths = ["climate", "jobs", "jobs?search=a", "jobs?search=b", "umami?job=1", "umami?job=2"]
        with ThreadPoolExecutor(len(paths)) as pool:
            try:
                asking = [
                    pool.submit(httpx2.get, f"{address}/api/{path}", timeout=30) for path in paths
                ]
                assert reading.wait(30)
                for path in ("/api/targets", "/api/about", "/api/targets?zone=UTC"):
                    assert httpx2.get(address + path, timeout=10).status_code == 200
                assert not any(answer.done() for answer in asking), "they are still worked on"
            finally:
                go_on.set()
            answers = [answer.result() for answer in asking]
    assert {answer.status_code for answer in answers} == {200}
    assert answers[0].json()["n"] == answers[1].json()["n"] == len(MADE)
