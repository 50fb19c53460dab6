"""Benchmark runs over HTTP: the list, one in words and pictures, two with the verdict of the terminal."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from fastapi.testclient import TestClient

from benchmarks.truth.locate.simulate import healthy, with_ost
from benchmarks.truth.locate.systems import system
from iosonde.serve.app import create
from tests.kit.commands import run
from tests.kit.runs.stored_run import put_run
from tests.serve.test_openapi import fits

SMALL = ("-n", "2", "-D", "2", "-P", "40", "-I", "40", "-R", "2")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two bandwidth runs, one with a slow OST; two metadata runs with samples, one without."""
    folder, machine = tmp_path_factory.mktemp("runs"), system(18)
    put_run(folder, machine, with_ost(healthy(machine), np.array([3]), 0.5), run_id="slow-ost")
    put_run(folder, machine, healthy(machine), run_id="healthy")
    place = tmp_path_factory.mktemp("place")
    for more in (("--samples",), ("--samples",), ()):
        assert run("bench", "metadata", str(place), *SMALL, *more, store=folder) == 0
    return folder


@pytest.fixture(scope="module")
def client(root: Path):
    with TestClient(create(root), base_url="http://127.0.0.1") as client:
        yield client


def metadata(client: TestClient) -> list[str]:
    """The newest first: without samples, with, with."""
    found = client.get("/api/runs", params={"kind": "metadata"}).json()["runs"]
    return [one["run"] for one in found]


def test_runs_are_listed_and_filtered(client: TestClient) -> None:
    every = client.get("/api/runs").json()
    fits(client.get("/openapi.json").json(), "/api/runs", "200", every)
    assert (every["n"], every["total"], every["kinds"]) == (5, 5, ["bandwidth", "metadata"])
    assert all(" ops/s" in one["headline"] for one in every["runs"] if one["kind"] == "metadata")
    one = client.get("/api/runs", params={"kind": "bandwidth", "limit": 1}).json()
    assert (one["n"], one["total"], len(one["runs"])) == (5, 2, 1)
    pages = [client.get(f"/api/runs?limit=2&offset={n}").json() for n in (0, 2, 4, 6)]
    assert [one for page in pages for one in page["runs"]] == every["runs"]
    assert {page["total"] for page in pages} == {5}
    began = every["runs"][-1]["began_ns"]
    later = client.get("/api/runs", params={"since_ns": began + 1}).json()
    assert later["n"] < 5
    assert client.get("/api/runs", params={"target": "/nowhere"}).json()["runs"] == []


def test_a_run_is_what_its_report_says(client: TestClient) -> None:
    found = client.get("/api/runs/run", params={"run": "slow-ost"}).json()
    fits(client.get("/openapi.json").json(), "/api/runs/run", "200", found)
    assert found["slow"]
    assert "OST0003 is slow" in " ".join(found["components"]["say"])
    assert [one["name"] for one in found["pictures"]] == ["components"]
    picture = {"run": "slow-ost", "picture": "components", "format": "svg", "theme": "dark"}
    answer = client.get("/api/runs/run", params=picture)
    assert answer.content.startswith(b"<?xml")
    assert "iosonde-run-slow-ost-components.svg" in answer.headers["content-disposition"]


def test_a_metadata_run_has_its_density_and_timeline(client: TestClient) -> None:
    without, last, _ = metadata(client)
    found = client.get("/api/runs/run", params={"run": last}).json()
    assert [one["name"] for one in found["pictures"]] == ["density", "timeline"]
    assert found["components"] is None
    assert found["rates"]["rows"][0][0] == "precreate"
    for name in ("density", "timeline"):
        answer = client.get("/api/runs/run", params={"run": last, "picture": name, "format": "png"})
        assert answer.content.startswith(b"\x89PNG")
    assert client.get("/api/runs/run", params={"run": without}).json()["pictures"] == []
    missing = client.get("/api/runs/run", params={"run": without, "format": "png"})
    assert missing.status_code == 404
    assert "no picture" in missing.json()["error"]["what"]


def test_the_static_page_of_a_metadata_run_has_the_same_pictures(
    client: TestClient, root: Path, tmp_path: Path
) -> None:
    page = tmp_path / "run.html"
    assert run("report", metadata(client)[1], "-o", str(page), store=root) == 0
    assert page.read_text().count('<figure class="picture">') == 2


def test_two_runs_have_the_verdict_of_the_terminal(
    client: TestClient, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = client.get("/api/runs/compare", params={"a": "healthy", "b": "slow-ost"}).json()
    fits(client.get("/openapi.json").json(), "/api/runs/compare", "200", found)
    capsys.readouterr()
    assert run("compare", "healthy", "slow-ost", store=root) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert found["say"]
    assert all(sentence in said for sentence in found["say"])
    assert found["table"]["rows"][0][0] in ("write", "read")
    _, b, a = metadata(client)
    found = client.get("/api/runs/compare", params={"a": a, "b": b}).json()
    assert run("compare", a, b, store=root) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert len(found["say"]) == 5
    assert all(sentence in said for sentence in found["say"])


def test_what_cannot_be_compared_is_refused(client: TestClient) -> None:
    _, last, _ = metadata(client)
    for pair, word in (
        (("healthy", "healthy"), "named twice"),
        (("healthy", last), "different things"),
        (("healthy", "nobody"), "there is no run"),
    ):
        answer = client.get("/api/runs/compare", params=dict(zip("ab", pair, strict=True)))
        assert answer.status_code == 404, pair
        assert word in " ".join(answer.json()["error"].values())
    assert client.get("/api/runs/run", params={"run": "nobody"}).status_code == 404
    assert client.get("/api/runs?limit=0").status_code == 400
    assert client.get("/api/runs/run?run=healthy&picture=cat").status_code == 400


def test_a_store_without_runs_has_an_empty_list(tmp_path: Path) -> None:
    with TestClient(create(tmp_path), base_url="http://127.0.0.1") as client:
        assert client.get("/api/runs").json()["runs"] == []
