"""One small run: what it prints, what it keeps, what it leaves."""

import csv
import io
import json
from dataclasses import asdict

import duckdb
import pytest

from tests.kit.runs.driven import (
    OPS,
    SMALL,
    bench,
    by_op,
    counts,
    ended,
    left_in,
    lines_of_table,
    progress,
    rows_of,
    started,
    whole,
)


def test_every_operation_is_counted(place, store, capsys):
    n, d, p, i, rounds = 3, 2, 12, 4, 2
    words = ("-n", n, "-D", d, "-P", p, "-I", i, "-R", rounds)
    assert bench(place, *words, store=store) == 0
    rows = rows_of(store)
    assert by_op(rows, "precreate") == {"md_create": n * d * p}
    for repetition in range(rounds):
        assert by_op(rows, "benchmark", repetition) == dict.fromkeys(OPS, n * d * i)
    assert by_op(rows, "cleanup") == {"md_delete": n * d * p}
    each = counts(rows, ranks=True)
    for rank in range(n):
        assert each["precreate", 0, "md_create", rank] == d * p
        assert all(each["benchmark", 1, op, rank] == d * i for op in OPS)
    assert len(each) == n * (1 + 4 * rounds + 1)
    assert all(row.complete and row.failed == 0 for row in rows)
    assert {row.ranks for row in rows} == {n}
    assert left_in(place) == []
    out = capsys.readouterr().out
    (line,) = lines_of_table(out)
    assert "bench x2" in line
    assert all(word in out for word in ("precreate", "benchmark", "cleanup", "q75 of", "balance"))


def test_a_number_is_what_its_name_says(place, store):
    assert bench(place, *SMALL, "-n", 2, store=store) == 0
    rows = rows_of(store)
    (row,) = whole(rows)
    of_ranks = [r for r in rows if r.phase == "benchmark" and r.op is None and r.rank is not None]
    assert row.duration_ns == max(r.duration_ns for r in of_ranks)
    assert row.balance == pytest.approx(min(r.duration_ns for r in of_ranks) / row.duration_ns)
    assert row.rate_per_s == pytest.approx(row.ops * 1e9 / row.duration_ns)
    assert row.op_time_ns == sum(r.op_time_ns for r in of_ranks)
    assert row.corrected_per_s == pytest.approx(sum(r.ops * 1e9 / r.op_time_ns for r in of_ranks))
    assert row.bytes == 2 * 20 * 3901, "what is read and what is written"
    for each in rows:
        if each.op is not None:
            assert each.min_ns <= each.q25_ns <= each.q50_ns <= each.q75_ns <= each.max_ns
            assert each.min_ns <= each.mean_ns <= each.max_ns
            assert (each.q99_ns is None) == (each.ops < 100)
    assert {"cpu_share", "file_system", "kernel"} <= set(row.machine)


def test_json_is_what_the_store_keeps(place, store, capsys):
    assert bench(place, *SMALL, "--format", "json", store=store) == 0
    printed = json.loads(capsys.readouterr().out)["rows"]
    kept = [json.loads(json.dumps(asdict(row))) for row in rows_of(store)]
    assert sorted(map(json.dumps, printed)) == sorted(map(json.dumps, kept))


def test_csv_and_parquet_are_what_the_store_keeps(place, store, tmp_path, capsys):
    assert bench(place, *SMALL, "--format", "csv", store=store) == 0
    printed = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    kept = {(r.phase, r.op or "", r.rank): r for r in rows_of(store)}
    assert len(printed) == len(kept)
    for line in printed:
        row = kept[line["phase"], line["op"], int(line["rank"]) if line["rank"] else None]
        assert int(line["ops"]) == row.ops
        if row.q75_ns is not None:
            assert float(line["q75_ns"]) == pytest.approx(row.q75_ns)
    path = tmp_path / "rows.parquet"
    assert bench(place, *SMALL, "-o", path) == 0
    found = duckdb.sql(
        f"SELECT sum(ops), count(*) FROM '{path}' WHERE rank IS NULL AND op IS NOT NULL"
    )
    assert found.fetchall() == [(40 + 4 * 10 + 40, 6)]


def test_what_it_is_told_not_to_keep_it_does_not(place, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("IOSONDE_STORE", str(tmp_path / "default"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    assert bench(place, *SMALL, "--format", "json", "-o", tmp_path / "rows.json") == 0
    assert left_in(tmp_path) == ["home", "place", "rows.json"]
    assert left_in(tmp_path / "home") == []
    assert json.loads((tmp_path / "rows.json").read_text())
    assert capsys.readouterr().out == ""


def test_a_process_speaks_data_on_stdout_and_progress_on_stderr(place, store):
    words = (place, *SMALL, "-n", 2, "--fault", "stat:+40ms", "--format", "json", "--store", store)
    with started(*words) as process:
        code, out, err = ended(process)
    assert code == 0, err
    assert {row["phase"] for row in json.loads(out)["rows"]} == {
        "precreate",
        "benchmark",
        "cleanup",
    }
    lines = progress(err)
    assert {line["type"] for line in lines} == {"progress"}
    assert {line["target"] for line in lines} == {str(place)}
    assert all(0 <= line["ended"] <= line["planned"] and line["failed"] == 0 for line in lines)
    assert "benchmark" in {line["phase"] for line in lines}
    others = [line for line in err.splitlines() if not line.startswith("{")]
    assert all(line.startswith("note: ") for line in others), others
    assert left_in(place) == []


def test_runs_shows_it(place, store, capsys):
    from tests.kit.commands import run

    assert bench(place, *SMALL, store=store) == 0
    (run_id,) = {row.run_id for row in rows_of(store)}
    capsys.readouterr()
    assert run("runs", store=store) == 0
    assert str(place)[-8:] in capsys.readouterr().out
    assert run("runs", run_id, "--format", "json", store=store) == 0
    (shown,) = json.loads(capsys.readouterr().out)["runs"]
    assert shown["run_id"] == run_id
