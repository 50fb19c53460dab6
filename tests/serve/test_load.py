"""Loads over HTTP."""

from __future__ import annotations

import csv
from datetime import datetime
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pytest
from fastapi.testclient import TestClient

from iosonde.jobs.load.history import LoadHistory
from iosonde.model.errors import NothingMeasuredError
from iosonde.serve.app import create
from iosonde.serve.load.histories import KEEP_S, Histories
from iosonde.serve.privacy.pseudonyms import Pseudonyms
from tests.kit.jobs import load_made
from tests.kit.jobs.load_made import HOG, HOG_JOB, HOG_NS, HOG_PER_S
from tests.kit.page.browser import wait_until
from tests.serve.test_openapi import fits

MADE = load_made.history(days=0.5, jobs=300)
BAND = {"low_per_s": HOG_PER_S, "high_per_s": 1e6}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory):
    app = create(tmp_path_factory.mktemp("store"), loads=lambda: MADE, names=Pseudonyms(None))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        yield client


@pytest.mark.parametrize("by", ["user", "account", "name", "job", "nodes"])
def test_names_and_cells_fit_together(client: TestClient, by: str) -> None:
    asked = {"by": by, "cells": 300, "top": 7, **BAND}
    answer = client.get("/api/load", params=asked)
    fits(client.get("/openapi.json").json(), "/api/load", "200", answer.json())
    load = answer.json()
    cells = client.get("/api/load/cells", params=asked)
    assert cells.headers["content-type"] == "application/octet-stream"
    values = np.frombuffer(cells.content, "<f4").reshape(-1, load["cells"])
    assert len(values) == 2 * (len(load["columns"]) + 1) + 2
    assert load["cells"] <= 300
    assert len(load["columns"]) <= 7
    assert values[1].max() == pytest.approx(load["most_per_s"])
    for row, column in enumerate(load["columns"], 1):
        assert values[2 * row + 1].max() == pytest.approx(column["most_per_s"])
        assert (values[2 * row] <= values[2 * row + 1] * (1 + 1e-5)).all()
    step_s = load["step_ns"] / 1e9
    assert values[0].sum() * step_s == pytest.approx(load["ops"], rel=1e-2)
    assert values[-1].sum() * step_s == pytest.approx(3600, rel=1e-3)
    assert (values[-2] == 1).all()


def test_the_band_and_the_jobs_behind_it(client: TestClient) -> None:
    load = client.get("/api/load", params=BAND).json()
    assert load["band"]["ranked"][0]["name"] == HOG
    assert f"user {HOG} made" in load["sentence"]
    asked = {"by": "user", "name": HOG, "since_ns": HOG_NS[0], "until_ns": HOG_NS[1]}
    jobs = client.get("/api/load/jobs", params=asked)
    fits(client.get("/openapi.json").json(), "/api/load/jobs", "200", jobs.json())
    assert jobs.json()["jobs"][0]["job_id"] == HOG_JOB
    table = client.get("/api/load", params={"format": "csv"})
    assert table.headers["content-disposition"].endswith('"iosonde-load-user.csv"')
    assert f",{HOG},40000,40000" in table.text
    zoned = client.get("/api/load", params={"format": "csv", "zone": "Asia/Kolkata"}).text
    row = next(csv.DictReader(zoned.splitlines()))
    for name in ("begin", "end"):
        assert row[name].endswith("+05:30")
        instant = datetime.fromisoformat(row[name]).timestamp()
        assert instant == pytest.approx(int(row[f"{name}_ns"]) / 1e9, abs=1e-3)


@pytest.mark.parametrize(
    ("path", "word"),
    [
        ("/api/load?by=moon", "one of user, account, name, job, nodes"),
        ("/api/load?cells=0", "from 1"),
        ("/api/load?cells=100000", "to 4096"),
        ("/api/load?top=1000", "to 200"),
        ("/api/load?since_ns=9&until_ns=3", "not before"),
        ("/api/load?low_per_s=9&high_per_s=3", "not below"),
        ("/api/load?low_per_s=nan", "a number"),
        ("/api/load?margin=9", "to 2"),
        ("/api/load/cells?format=csv", "no parameter"),
        ("/api/load/jobs?by=user", "missing"),
        (f"/api/load/jobs?since_ns=1&until_ns=2&name={'x' * 300}", "too long"),
    ],
)
def test_wrong_questions_are_refused(client: TestClient, path: str, word: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 400, answer.text
    assert word in " ".join(answer.json()["error"].values())


def test_a_range_without_records_is_empty(client: TestClient) -> None:
    asked = urlencode({"since_ns": 0, "until_ns": 10**9, **BAND})
    load = client.get(f"/api/load?{asked}").json()
    assert (load["cells"], load["columns"]) == (0, [])
    assert client.get(f"/api/load/cells?{asked}").content == b""


def test_a_store_without_loads_says_so(tmp_path: Path) -> None:
    with TestClient(create(tmp_path), base_url="http://127.0.0.1") as client:
        answer = client.get("/api/load")
        assert answer.json() == {
            "n": 0,
            "sentence": "There are no operations of nodes beside jobs yet.",
        }
        fits(client.get("/openapi.json").json(), "/api/load", "200", answer.json())
        assert client.get("/api/load/cells").content == b""
        jobs = client.get("/api/load/jobs?since_ns=1&until_ns=2").json()
        assert jobs == {"total": 0, "jobs": []}


def test_an_old_history_is_made_anew_while_readers_keep_it() -> None:
    now, seen = 0.0, 0

    def reading() -> LoadHistory:
        nonlocal seen
        seen += 1
        if seen == 3:
            raise NothingMeasuredError("gone")
        return MADE

    histories = Histories(reading, Pseudonyms(None), lambda: now)
    assert histories.newest().number == 1
    assert histories.newest().number == 1
    now = KEEP_S
    assert histories.newest().number == 1, "nobody waits"
    wait_until("a new version", lambda: histories.newest().number == 2)
    now = 2 * KEEP_S
    histories.newest()
    wait_until("the third reading", lambda: seen == 3)
    assert histories.newest().number == 2, "the old one stays"
