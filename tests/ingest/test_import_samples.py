"""Tables of single operations: a way there and back that loses nothing, schedules, and what judges them."""

from __future__ import annotations

import csv
import json
import shutil

import duckdb
import numpy as np
import pytest

from iosonde.connectors.source import Settings
from iosonde.engine.contract import SAMPLE_TYPES
from iosonde.engine.layout.segments import parquet_segments
from iosonde.ingest.answers import Question, import_files
from tests.kit.commands import run
from tests.kit.samples.latencies import gathered
from tests.kit.samples.makers import SECOND, START, row, rows, sealed, simulated

NOW = START + 10 * 86_400 * SECOND


def put(root, *paths, **naming):
    return import_files(root, Question(paths, Settings(**naming)), NOW)


def table(path, samples, header="time_ns,op,latency_us"):
    path.write_text("\n".join([header, *(",".join(map(str, one)) for one in samples), ""]))
    return path


def exported(root, path, *more):
    assert run("export", "samples", "-o", str(path), *more, store=root) == 0
    return path


def differ(one, other):
    """Rows of one Parquet file that the other does not have, each as often as it is there."""
    columns = ", ".join(SAMPLE_TYPES)
    with duckdb.connect() as con:
        return con.execute(
            f"SELECT {columns} FROM '{one}' EXCEPT ALL SELECT {columns} FROM '{other}'"
        ).fetchall()


@pytest.fixture
def everything(tmp_path):
    """A store with every outcome, several hosts and targets, gaps, midnight, and rows that are equal."""
    root = tmp_path / "first"
    late = START + 12 * 3600 * SECOND
    samples = [
        *rows([1_000_000 + k for k in range(50)]),
        *rows([5_000_000] * 20, late, host="n,7", target='a "b"', op="data_read", period_ns=0),
        row(START, None, outcome="pending", op="md_create", seed=2**63 - 1),
        row(START, 30 * SECOND, outcome="timeout", op="md_read", cache="evicted"),
        row(START, None, outcome="skipped", op="md_delete", began_ns=None, control_runq_ns=None),
        row(START, 7, outcome="short", op="data_write", size_bytes=4096, offset_bytes=2**40),
        row(START + 1, None, outcome="ENOSPC", op="data_write", ended_ns=None, run_id="other"),
        *[row(START + 2, 9, outcome="errno 524", run_id="twice")] * 2,
    ]
    sealed(root, "r-0", samples)
    return root


@pytest.mark.parametrize("ending", ["parquet", "csv", "csv.gz"])
def test_export_and_import_lose_nothing(tmp_path, everything, ending):
    path = exported(everything, tmp_path / f"out.{ending.removesuffix('.gz')}")
    if ending == "csv.gz":
        import gzip

        packed = tmp_path / "out.csv.gz"
        packed.write_bytes(gzip.compress(path.read_bytes()))
        path = packed
    second = tmp_path / "second"
    done = put(second, path)
    assert (done.errors, done.samples[0].rows, done.samples[0].unread) == ([], 77, ())
    before = exported(everything, tmp_path / "before.parquet")
    after = exported(second, tmp_path / "after.parquet")
    assert differ(before, after) == differ(after, before) == []


def test_what_is_exported_and_comes_back_changes_nothing(tmp_path, everything):
    simulated(everything, 30)  # rows in the spool too
    path = exported(everything, tmp_path / "out.parquet")
    before = [segment.path for segment in parquet_segments(everything)]
    (done,) = put(everything, path).samples
    assert (done.written.rows, done.written.known_rows) == (0, done.rows)
    assert [segment.path for segment in parquet_segments(everything)] == before


def test_the_same_file_twice_and_a_longer_one(tmp_path):
    root, path = tmp_path / "store", tmp_path / "s.csv"
    few = [(START + k * SECOND, "read", 100 + k) for k in range(100)]
    assert put(root, table(path, few)).samples[0].written.rows == 100
    before = {s.path: s.path.read_bytes() for s in parquet_segments(root)}
    again = put(root, path, host="elsewhere", target="other", period_ns=SECOND).samples[0].written
    assert (again.rows, again.known_rows) == (0, 100)
    assert {s.path: s.path.read_bytes() for s in parquet_segments(root)} == before
    more = [*few, *((START + k * SECOND, "read", 100) for k in range(100, 200_000, 1000))]
    assert put(root, table(path, more)).samples[0].written.rows == 300
    out = exported(root, tmp_path / "out.parquet")
    with duckdb.connect() as con:
        assert con.execute(f"SELECT count(*), count(DISTINCT due_ns) FROM '{out}'").fetchone() == (
            300,
            300,
        )


SCHEDULES = {
    "regular": (np.arange(40) * 15.0, 15 * SECOND),
    "jittered, with gaps": (np.delete(np.arange(60) * 15.0, [7, 8, 30]) + 0.02, 15 * SECOND),
    "as a clock of ms writes it": (np.round(np.arange(40) * 0.3333, 3), 333_000_000),
    "random": (np.cumsum(np.random.default_rng(3).exponential(15, 60)), 0),
    "two rows": (np.arange(2) * 15.0, 0),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_the_period_is_the_regular_step_of_due_times(tmp_path, name):
    seconds, period_ns = SCHEDULES[name]
    dues = [START + round(s * 1e9) for s in seconds]
    path = table(
        tmp_path / "s.csv",
        [(due, due + 5_000_000, "stat", 700) for due in dues],
        "due_ns,time_ns,op,latency_us",
    )
    (done,) = put(tmp_path / "store", path).samples
    out = exported(tmp_path / "store", tmp_path / "out.parquet")
    with duckdb.connect() as con:
        found = con.execute(
            f"SELECT due_ns, began_ns, period_ns FROM '{out}' ORDER BY 2"
        ).fetchall()
    assert {p for _, _, p in found} == {period_ns}
    if period_ns:
        assert done.schedules == ({period_ns: 1}, 0)
        assert [due for due, _, _ in found] == dues
    else:
        assert done.schedules == ({}, 1)
        assert [due - began for due, began, _ in found] == [0] * len(dues), "none is late"


def test_a_period_that_is_given(tmp_path):
    path = table(tmp_path / "s.csv", [(START + k * 7, "stat", 1) for k in range(9)])
    put(tmp_path / "store", path, period_ns=SECOND)
    out = exported(tmp_path / "store", tmp_path / "out.parquet")
    with duckdb.connect() as con:
        assert con.execute(f"SELECT DISTINCT period_ns FROM '{out}'").fetchall() == [(SECOND,)]


def test_parquet_without_an_operation_is_told_what_it_lacks(tmp_path):
    path = tmp_path / "s.parquet"
    duckdb.sql(f"COPY (SELECT 1790000000 AS time, 5 AS latency_us) TO '{path}' (FORMAT parquet)")
    done = put(tmp_path / "store", path)
    assert done.nothing
    assert "no column op" in str(done.errors[0])


def test_rows_of_parquet_are_told_of_by_number(tmp_path):
    path = tmp_path / "s.parquet"
    duckdb.sql(
        "COPY (SELECT * FROM (VALUES (TIMESTAMPTZ '2026-09-21 14:13:20+00', 'read', 5.5), "
        "(TIMESTAMPTZ '2026-09-21 14:13:21+00', 'mkdir', 5.5)) t(time, op, latency_ms)) "
        f"TO '{path}' (FORMAT parquet)"
    )
    done = put(tmp_path / "store", path)
    assert done.samples[0].span_ns == (START, START)
    assert [f"{path}, row 2: there is no operation 'mkdir'" in str(e) for e in done.errors] == [
        True
    ]


def slow_hours(path):
    """Three days of a read every 30 s, by another tool; 4 times as slow for three hours of the third."""
    rng = np.random.default_rng(11)
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(("due", "time", "op", "latency_ms", "host", "target", "run"))
        for k in range(3 * 2880):
            due = START / SECOND + 30 * k
            hours = k / 120
            took = 8 * np.exp(0.25 * rng.normal()) * (4 if 60 <= hours < 63 else 1)
            run_id = "slow" if 60 <= hours < 63 else "usual"
            when = (f"{due:.3f}", f"{due + 0.001:.3f}")
            out.writerow((*when, "read", f"{took:.4f}", "n1", "/work", run_id))
    return path


def test_imported_samples_are_judged_as_those_of_a_probe(tmp_path, capsys):
    root, path = tmp_path / "store", slow_hours(tmp_path / "tool.csv")
    assert run("import", str(path), store=root) == 0
    said = capsys.readouterr().out
    assert "imported 8,640 samples of /work" in said
    assert "due every 30s in 1 series" in said
    span = ("--since", "2026-09-21T00:00", "--until", "2026-09-26T00:00")
    window = ("--window", "10m", "--format", "json")
    assert run("slowdown", "/work", *span, *window, store=root) == 0
    (slow,) = json.loads(capsys.readouterr().out)["spans"]
    begin, end = START + 60 * 3600 * SECOND, START + 63 * 3600 * SECOND
    assert abs(slow["start_ns"] - begin) <= 1200 * SECOND
    assert abs(slow["end_ns"] - end) <= 1200 * SECOND
    assert slow["slowdown_lower"] <= 4 <= slow["slowdown_upper"] + 1
    assert run("events", "/work", *span, store=root) in (0, 1)
    assert "reads" in capsys.readouterr().out
    assert run("compare", "usual", "slow", store=root) in (0, 1)
    assert "slower" in capsys.readouterr().out
    picture = tmp_path / "points.json"
    assert run("figure", "points", "/work", *span, "-o", str(picture), store=root) == 0
    assert picture.exists()


def test_samples_beside_other_files_and_in_a_folder(tmp_path, capsys):
    folder, root = tmp_path / "logs", tmp_path / "store"
    folder.mkdir()
    table(folder / "s.csv", [(START, "read", 5)])
    gathered(folder / "g.csv", [("create", 0, 0.5, 0.01)])
    (folder / "notes.txt").write_text("nothing\n")
    assert run("import", str(folder), "--target", "/work", store=root) == 0
    out = capsys.readouterr().out
    assert out.count("imported 1 sample of /work") == 2
    shutil.rmtree(root)
    done = put(root, folder / "s.csv", folder / "g.csv")
    assert ([one.written.rows for one in done.samples], done.errors) == ([1, 1], [])


def test_options_that_a_column_says_itself_are_named(tmp_path, capsys):
    path = table(tmp_path / "s.csv", [(START, "read", 5, "/a")], "time_ns,op,latency_us,target")
    assert run("import", str(path), "--target", "/b", store=tmp_path / "store") == 0
    out = capsys.readouterr().out
    assert "imported 1 sample of /a" in out
    assert "the column target counts before --target" in out


def test_clock_times_of_texts_are_read_in_the_zone_given(tmp_path, capsys):
    path = table(tmp_path / "s.csv", [("2026-09-21 16:13:20", "read", 5)], "time,op,latency_us")
    words = ("--zone", "Europe/Berlin", "--target", "/w")
    assert run("import", str(path), *words, store=tmp_path / "store") == 0
    assert "read in Europe/Berlin" in capsys.readouterr().out
    out = exported(tmp_path / "store", tmp_path / "out.parquet")
    assert duckdb.sql(f"SELECT due_ns FROM '{out}'").fetchall() == [(START,)]


@pytest.mark.parametrize("cell", ["", "NA", "NaN", "null"])
@pytest.mark.parametrize("columns", ["time,op,latency_us", "time,op,latency_us,outcome"])
def test_a_missing_latency_is_counted(tmp_path, capsys, cell, columns):
    path, end = tmp_path / "na.csv", "," * columns.count("outcome")
    rows = [f"{1_790_000_000 + n},read,{cell if n % 2 else 5}{end}" for n in range(8)]
    path.write_text("\n".join([columns, *rows, ""]))
    assert run("import", str(path), store=tmp_path / "store") == 0
    out, err = capsys.readouterr()
    assert "imported 4 samples" in out
    assert "4 rows without a latency left out (missing)" in out
    assert "line" not in err
