"""The one-liners of docs/store.md and docs/reading-the-data.md run as they stand there."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import duckdb
import pytest

from iosonde.bench.runs import store as runs
from iosonde.cli import main
from iosonde.engine import lines, opener, states
from iosonde.engine.remote import mirror, s3
from iosonde.model.ops import OPS
from iosonde.weather.seal import seal
from tests.kit.prose import prose, snippets
from tests.kit.runs.made_runs import benchmark
from tests.kit.samples.makers import START, simulated


@pytest.fixture
def folder(tmp_path, monkeypatch):
    simulated(tmp_path, 700)
    seal(tmp_path)
    path = tmp_path / "events" / "login2" / "2026-09.jsonl"
    path.parent.mkdir(parents=True)
    event = {"schema_version": 1, "id": "r-1", "kind": "hang", "host": "login2", "target": "/work"}
    event |= {
        "op": "md_stat",
        "began_ns": START,
        "ended_ns": None,
        "written_ns": START,
        "outcome": None,
    }
    closed = event | {"ended_ns": START + 5, "written_ns": START + 5, "outcome": "ok"}
    path.write_text(json.dumps(event) + "\n" + json.dumps(closed) + "\n{torn")
    runs.write(tmp_path, benchmark(), START)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("IOSONDE_STORE", str(tmp_path))


@pytest.mark.usefixtures("folder")
def test_the_commands_and_the_sql_run():
    for line in "".join(snippets("store.md", "sh")).splitlines():
        name, *arguments = shlex.split(line, comments=True)
        assert name == "iosonde"
        assert main.main(arguments) == 0
    windows, events, rolled, states = (
        duckdb.sql(sql).fetchall() for sql in snippets("store.md", "sql")
    )
    assert sorted(op for _, op, _, _ in windows) == sorted(OPS)
    for _, op, ms in rolled:
        exact = duckdb.sql(
            "SELECT quantile_disc(ended_ns - began_ns, 0.5) / 1e6 FROM 'samples/*/*/*.parquet' "
            f"WHERE op = '{op}' AND outcome = 'ok'"
        ).fetchall()
        assert ms == pytest.approx(exact[0][0], rel=0.01)
    assert sorted(op for _, op, _ in rolled) == sorted(OPS)
    assert [(row[1], row[-1]) for row in events] == [(5e-9, "ok")]
    assert [row[:4] for row in states] == [("login2", "/work", "stopped", False)]


@pytest.mark.usefixtures("folder")
def test_the_python_runs():
    pytest.importorskip("pandas")
    path = Path("events/login2/2026-09.jsonl")
    path.write_text(path.read_text().removesuffix("{torn"))
    (code,) = snippets("store.md", "python")
    exec(compile(code, "store.md", "exec"), {})


@pytest.mark.usefixtures("folder")
def test_a_window_takes_as_much_as_it_says():
    (file,) = Path("windows").rglob("*.windows")
    assert round(file.stat().st_size / 72, -1) == 70
    assert "A window takes about 70 bytes: 0.6 MB a day and target" in prose("store.md")


@pytest.fixture
def samples(tmp_path, monkeypatch):
    simulated(tmp_path, 120)
    seal(tmp_path)
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("samples")
def test_the_sql_of_reading_runs():
    (sql,) = snippets("reading-the-data.md", "sql")
    found = duckdb.sql(sql).fetchall()
    assert sorted(op for _, op, _, _ in found) == sorted(OPS)
    assert {n for _, _, _, n in found} == {120}


@pytest.mark.usefixtures("samples")
@pytest.mark.parametrize(("module", "reader"), [("polars", "polars"), ("pandas", "pyarrow")])
def test_the_python_of_reading_runs(module, reader):
    pytest.importorskip(module)
    pytest.importorskip(reader)
    codes = snippets("reading-the-data.md", "python")
    (code,) = [code for code in codes if f"import {module}" in code]
    exec(compile(code, module, "exec"), {})


def test_bounds_of_what_a_store_may_contain_are_those_in_the_code():
    frames = (Path(__file__).parents[2] / "rust/probe/src/record/frames.rs").read_text()
    (gib,) = re.findall(r"MAX_FILE: u64 = (\d+) << 30;", frames)
    mib = opener.MIB
    for words in (
        f"Parquet of more than {opener.TABLE_BYTES // (1024 * mib)} GiB",
        f"segments and windows of more than {gib} GiB",
        f"lines of more than {opener.LINES_BYTES // mib} MiB in all",
        f"judged days of more than {opener.JUDGED_BYTES // mib} MiB",
        f"states of more than {states.MAX_BYTES // mib} MiB",
        f"after {lines.MOST_BAD:,} of them",
        f"no file of {opener.WORD_BYTES // 1024} KiB",
        f"no whole answer within {s3.PATIENCE_S} s and a second more for each MiB",
        f"sealed file of more than {mirror.SEALED_BYTES // (1024 * mib)} GiB, state of more than "
        f"{states.MAX_BYTES // mib} MiB",
        f"of more than {mirror.NAMED} the others are counted",
        f"does not end within {s3.LISTING_S} s or has more than {s3.MOST_OBJECTS:,} objects",
        f"cost at most {mirror.LOST_S} s in all",
    ):
        assert words in prose("store.md"), words
    assert s3.seconds_for(5 * mib) == s3.PATIENCE_S + 5
    assert len(s3._PAUSES_S) + 1 == 3
