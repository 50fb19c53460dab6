from __future__ import annotations

import csv
import io
import re

import duckdb
import pytest

from iosonde.engine.contract import SAMPLE_TYPES, WINDOW_COLUMNS
from tests.kit.commands import run
from tests.kit.samples.makers import START, simulated

pytestmark = pytest.mark.usefixtures("utc")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    root = tmp_path_factory.mktemp("cli")
    simulated(root, 2400, {"op": "data_read", "after": "900s", "for": "900s", "multiply": 3.0})
    return root


def test_slowdown_prints_a_row_an_op_and_the_slow_stretches(store, capsys):
    assert run("slowdown", "/work", store=store) == 0
    text = capsys.readouterr().out
    assert text.startswith(
        "/work as seen from login2, every 1s; windows of 1m, typ / what is usual"
    )
    assert len([line for line in text.splitlines() if "2,400" in line]) == 6
    assert re.search(r"- reads on /work were 3\.[01]x slower than usual \(", text)
    assert "from 2026-09-21 14:28 to 14:43" in text


def test_slowdown_without_a_slow_stretch_says_so(store, capsys):
    assert run("slowdown", "--op", "stats", store=store) == 0
    assert "No slow stretch" in capsys.readouterr().out


def test_slowdown_as_data(store, capsys, tmp_path):
    assert run("slowdown", "--op", "reads", "--stat", "q75", "--format", "csv", store=store) == 0
    found = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert {"q75_ns", "q75_lower_ns", "baseline_ns", "slowdown", "slow"} <= set(found[0])
    assert found[0]["slowdown"] == ""
    assert "." not in found[-1]["q75_ns"]
    assert run("slowdown", "-o", str(tmp_path / "w.parquet"), store=store) == 0
    rows = duckdb.sql(f"SELECT count(*) FROM '{tmp_path}/w.parquet'").fetchall()
    assert rows == [(6 * 41,)]


def test_slowdown_draws(store, tmp_path, capsys):
    path = tmp_path / "p.png"
    assert run("slowdown", "--plot", str(path), "--dark", store=store) == 0
    assert path.read_bytes().startswith(b"\x89PNG")
    assert f"wrote {path}" in capsys.readouterr().err


def test_slowdown_of_nothing_says_what_to_try(store, tmp_path, capsys):
    assert run("slowdown", store=tmp_path) == 1
    assert "try 'iosonde probe DIR'" in capsys.readouterr().err
    assert run("slowdown", "--since", "2020-01-01", "--until", "2020-01-02", store=store) == 1
    assert "try a longer --since" in capsys.readouterr().err


def test_forty_minutes_do_not_show_that_nothing_recurs(store, capsys):
    assert run("events", "--recurring", "--until", "2026-09-22", store=store) == 0
    assert capsys.readouterr().out == "not enough history to find daily patterns\n"


@pytest.mark.parametrize(
    "question",
    [
        ["slowdown"],
        ["events"],
        ["events", "--recurring"],
        ["report", "-o", "r.html"],
        ["figure", "points", "-o", "f.json"],
        ["export", "windows", "--target"],
    ],
)
def test_a_target_is_known_by_name_by_path_and_with_a_slash(
    store, tmp_path, monkeypatch, capsys, question
):
    monkeypatch.chdir(tmp_path)
    place = ["--since", "2026-09-21", "--until", "2026-09-22"]
    texts = []
    for target in ("/work", "/work/", "/home/../work"):
        assert run(*question, target, *place, store=store) == 0
        figures = [path.read_text() for path in sorted(tmp_path.glob("*.json"))]
        texts.append((capsys.readouterr().out, figures))
    assert texts[1] == texts[0]
    assert texts[2] == texts[0]
    assert run(*question, "/nowhere", *place, store=store) == 2
    assert "no probe watches /nowhere; expected one of /work" in capsys.readouterr().err


@pytest.mark.parametrize("format_name", ["parquet", "csv", "json"])
def test_exports_are_whole(store, tmp_path, format_name):
    path = tmp_path / f"x.{format_name}"
    assert run("export", "samples", "-o", str(path), store=store) == 0
    got = duckdb.sql(f"SELECT count(*), count(DISTINCT op), min(due_ns) FROM '{path}'").fetchall()
    assert got == [(6 * 2400, 6, START)]
    assert tuple(duckdb.sql(f"SELECT * FROM '{path}' LIMIT 1").columns) == tuple(SAMPLE_TYPES)
    assert run("export", "windows", "-o", str(path), "--op", "stats", store=store) == 0
    windows = duckdb.sql(f"SELECT * FROM '{path}'")
    assert tuple(windows.columns) == WINDOW_COLUMNS
    assert len(windows.fetchall()) == 41
    assert list(tmp_path.iterdir()) == [path]


def test_an_export_that_cannot_be_written_leaves_nothing(store, tmp_path, capsys):
    assert run("export", "samples", "-o", str(tmp_path / "no" / "x.csv"), store=store) == 1
    assert "cannot write" in capsys.readouterr().err


def test_seal_names_the_new_files(tmp_path, capsys):
    simulated(tmp_path, 60)
    assert run("store", "seal", store=tmp_path) == 0
    captured = capsys.readouterr()
    assert captured.out.strip().endswith(".parquet")
    assert run("store", "seal", store=tmp_path) == 0
    assert "nothing to seal" in capsys.readouterr().err


def test_what_cannot_be_sealed_is_told_once(tmp_path, capsys):
    simulated(tmp_path, 60)
    (tmp_path / "samples").touch()
    assert run("store", "seal", store=tmp_path) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("cannot seal") == 1


@pytest.mark.parametrize("ending", ["json", "csv"])
@pytest.mark.parametrize(
    "question",
    [
        ["slowdown"],
        ["events"],
        [
            "compare",
            "/work@2026-09-21T14:14..2026-09-21T14:24",
            "/work@2026-09-21T14:40..2026-09-21T14:50",
        ],
        ["bursts", "/work"],
    ],
)
def test_a_file_that_was_written_is_named(store, tmp_path, capsys, question, ending):
    path = tmp_path / f"data.{ending}"
    assert run(*question, "-o", str(path), store=store) == 0
    assert f"wrote {path}" in capsys.readouterr().err
    assert path.stat().st_size > 0
