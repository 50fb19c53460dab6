"""Runs in the store: appended by many processes, killed, finished, damaged; nothing good is lost."""

from __future__ import annotations

import json
import tomllib
from dataclasses import fields, replace
from pathlib import Path

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from iosonde.bench.runs import store as runs
from iosonde.bench.runs.rows import SCHEMA_VERSION, from_line, to_line
from iosonde.engine.contract import RUN_KEY, RUN_ORDER, RUN_TYPES
from iosonde.engine.reader import SampleFilter
from iosonde.model.errors import DamagedFileWarning, StoreError
from iosonde.model.names import slug
from iosonde.model.runs import RunRow, run_order
from iosonde.weather.seal import seal
from iosonde.weather.store import Store
from tests.kit.samples.makers import START, row, sealed

ROOT = Path(__file__).parents[2]


def made(run_id="r", **more):
    known = {"source": "iosonde", "host": "h", "target": "/work", "backend": "posix"}
    known |= {"pattern": "cycle", "phase": "benchmark", "ranks": 2, "ops": 10}
    return RunRow(**{"run_id": run_id, **known, **more})


WHOLE = [
    made(
        op="md_create",
        rank=rank,
        repetition=repetition,
        began_ns=START + repetition,
        duration_ns=1,
        rate_per_s=1.5,
        min_ns=0.1 + 0.2,
        outcomes={"ok": 9, "ENOSPC": 1},
        parameters={"data_sets": 2, "text": "ö'\n"},
        machine={"kernel": "6.1"},
    )
    for rank in (None, 0, 1)
    for repetition in (0, 1)
]


def test_the_columns_are_those_of_the_schema():
    schema = tomllib.loads((ROOT / "schema/tables/runs.toml").read_text())
    columns = schema["column"]
    assert {c["name"]: c["type"] for c in columns} == RUN_TYPES
    assert list(RUN_TYPES)[1:] == [field.name for field in fields(RunRow)]
    assert schema["schema_version"] == SCHEMA_VERSION
    assert tuple(schema["key"]) == RUN_KEY
    assert tuple(schema["sort"]) == RUN_ORDER
    nullable = {c["name"] for c in columns if c.get("nullable")}
    optional = {f.name for f in fields(RunRow) if "None" in str(f.type)}
    assert nullable == optional


def test_parts_of_all_processes_become_one_file(tmp_path):
    for place, one in enumerate(WHOLE):
        runs.append_part(tmp_path, "r", place % 3, [one])
    before = runs.read(tmp_path)
    assert before == [replace(one, complete=False) for one in sorted(WHOLE, key=run_order)]
    path = runs.finish(tmp_path, "r")
    assert path == tmp_path / "runs" / "date=2026-09-21" / "r.parquet"
    assert [file.name for file in (tmp_path / "runs").iterdir()] == [path.parent.name]
    assert runs.read(tmp_path) == sorted(WHOLE, key=run_order)
    types = duckdb.sql(f"DESCRIBE SELECT * FROM read_parquet('{path}', hive_partitioning = false)")
    assert {name: kind for name, kind, *_ in types.fetchall()} == RUN_TYPES


def test_a_line_that_a_kill_cut_is_left_out_and_the_next_stays_whole(tmp_path):
    path = runs.append_part(tmp_path, "r", 0, [WHOLE[0]])
    path.write_bytes(path.read_bytes() + to_line(WHOLE[1])[:40])
    assert runs.read(tmp_path) == [replace(WHOLE[0], complete=False)]
    runs.append_part(tmp_path, "r", 0, [WHOLE[2]])
    with pytest.warns(DamagedFileWarning, match=r"r\.0\.part\.jsonl, line 2: not JSON"):
        assert len(runs.read(tmp_path)) == 2
    with pytest.warns(DamagedFileWarning):
        runs.finish(tmp_path, "r")
    assert len(runs.read(tmp_path)) == 2
    assert [p.name for p in (tmp_path / "runs").glob("*.damaged")] == ["r.0.part.jsonl.damaged"]


def test_finished_twice_and_gone_on_with(tmp_path):
    """A kill between rename and removal, and a run that goes on later: every row once."""
    part = runs.append_part(tmp_path, "r", 0, WHOLE[:2])
    copy = part.read_bytes()
    runs.finish(tmp_path, "r")
    part.write_bytes(copy)
    assert runs.read(tmp_path) == sorted(WHOLE[:2], key=run_order)
    runs.append_part(tmp_path, "r", 0, [WHOLE[2]])
    (run,) = runs.read_runs(tmp_path)
    assert not run.finished
    assert [one.complete for one in run.rows].count(False) == 1
    runs.finish(tmp_path, "r")
    assert runs.read(tmp_path) == sorted(WHOLE[:3], key=run_order)
    assert runs.finish(tmp_path, "other") is None


def test_a_run_without_a_beginning_moves_when_it_gets_one(tmp_path):
    bare = [replace(one, began_ns=None) for one in WHOLE]
    first = runs.write(tmp_path, bare, 0)
    assert first.parent.name == "date=1970-01-01"
    second = runs.write(tmp_path, WHOLE, 0)
    assert not first.exists()
    assert second.exists()


MEASURED = [
    replace(one, waiting_factor=4.0, measurement=7 + one.repetition)
    for one in sorted(WHOLE, key=run_order)
]


def as_version_1(path):
    """Rewrite a file of runs as version 1 wrote it: two columns by their names of then."""
    renamed = "repetition AS iteration, measurement AS repeat, 1::UTINYINT AS schema_version"
    rows = f"read_parquet('{path}', hive_partitioning = false)"
    older = path.with_suffix(".older")
    columns = ", ".join(
        {"repetition": "iteration", "measurement": "repeat"}.get(name, name) for name in RUN_TYPES
    )
    duckdb.sql(
        f"COPY (SELECT {columns} FROM (SELECT * EXCLUDE (schema_version, repetition, measurement), "
        f"{renamed} FROM {rows})) TO '{older}' (FORMAT parquet, KV_METADATA {{schema_version: '1'}})"
    )
    older.replace(path)


@pytest.mark.parametrize("old", [("a", "b"), ("a",), ("b",)], ids=["all", "first", "last"])
@pytest.mark.filterwarnings("error")
def test_files_of_version_1_are_read_beside_those_of_this_one(tmp_path, old):
    """Version 1 called a repetition iteration, and a measurement repeat."""
    for run_id in ("a", "b"):
        path = runs.write(tmp_path, [replace(one, run_id=run_id) for one in MEASURED], 0)
        if run_id in old:
            as_version_1(path)
    expected = [replace(one, run_id=run_id) for run_id in ("a", "b") for one in MEASURED]
    assert runs.read(tmp_path) == expected
    runs.append_part(tmp_path, "a", 0, [made("a", phase="cleanup")])
    path = runs.finish(tmp_path, "a")
    assert len(runs.read(tmp_path, run_id="a")) == len(MEASURED) + 1
    names = duckdb.sql(f"SELECT * FROM read_parquet('{path}', hive_partitioning = false)").columns
    assert names == list(RUN_TYPES)


def unsigned(line):
    """A line as it was before lines had a checksum."""
    raw = json.loads(line)
    assert raw.pop("crc32")
    return json.dumps(raw).encode()


def test_a_line_that_was_changed_is_refused():
    line = to_line(MEASURED[0])
    assert from_line(line) == from_line(unsigned(line)) == MEASURED[0]
    place = line.index(b'"ops": ') + len(b'"ops": ')
    with pytest.raises(ValueError, match="does not match its checksum"):
        from_line(line[:place] + bytes([line[place] ^ 1]) + line[place + 1 :])


def test_lines_of_version_1_are_read_and_of_a_later_one_refused():
    (one,) = MEASURED[-1:]
    line = unsigned(to_line(one))  # version 1 knew no checksum
    older = line.replace(b'"repetition"', b'"iteration"').replace(b'"measurement"', b'"repeat"')
    versions = [
        b'"schema_version": %d' % version for version in (SCHEMA_VERSION, 1, SCHEMA_VERSION + 1)
    ]
    assert from_line(older.replace(versions[0], versions[1])) == one
    with pytest.raises(ValueError, match="measurement is missing"):
        from_line(older)
    with pytest.raises(ValueError, match="schema 4, this one reads 3"):
        from_line(line.replace(versions[0], versions[2]))


def test_what_is_asked_for(tmp_path):
    runs.write(tmp_path, [made("a", began_ns=START, target="/x")], 0)
    runs.write(tmp_path, [made("b", began_ns=START + 9, source="mdtest")], 0)
    assert [one.run_id for one in runs.read(tmp_path, target="/x")] == ["a"]
    assert [one.run_id for one in runs.read(tmp_path, source="mdtest")] == ["b"]
    assert [one.run_id for one in runs.read(tmp_path, since_ns=START + 1)] == ["b"]
    assert [one.run_id for one in runs.read(tmp_path, until_ns=START + 9)] == ["a"]
    assert [one.run_id for one in runs.read(tmp_path, run_id="b")] == ["b"]
    assert runs.run_ids(tmp_path) == ["a", "b"]
    assert runs.read(tmp_path / "nothing") == []


def test_damaged_files_are_named_and_the_others_read(tmp_path):
    path = runs.write(tmp_path, [made("good", began_ns=START)], 0)
    path.with_name("bad.parquet").write_bytes(b"PAR1 no")
    duckdb.sql(f"COPY (SELECT 'other' AS run_id) TO '{path.with_name('alien.parquet')}'")
    (tmp_path / "runs" / "x.0.part.jsonl").write_bytes(b"[]\n{}\n\xff\n" + b"[" * 100_000 + b"\n")
    with pytest.warns(DamagedFileWarning) as told:
        assert [one.run_id for one in runs.read(tmp_path)] == ["good"]
    text = "\n".join(str(one.message) for one in told)
    assert "bad.parquet" in text
    assert "alien.parquet" in text
    assert "x.0.part.jsonl, line 4" in text


def test_finish_sets_a_damaged_file_aside(tmp_path):
    path = runs.write(tmp_path, [made(began_ns=START)], 0)
    path.write_bytes(b"broken")
    runs.append_part(tmp_path, "r", 0, WHOLE)
    with pytest.warns(DamagedFileWarning):
        runs.finish(tmp_path, "r")
    assert len(runs.read(tmp_path)) == len(WHOLE)
    assert path.with_name("r.parquet.damaged").read_bytes() == b"broken"


def test_a_run_may_be_called_anything(tmp_path):
    name = "../../etc/pass wd.0.part\n"
    path = runs.append_part(tmp_path, name, "../p.q", [made(name, began_ns=START)])
    assert path.parent == tmp_path / "runs"
    assert path.name.startswith(slug(name) + ".")
    runs.finish(tmp_path, name)
    assert runs.run_ids(tmp_path) == [name]


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "runs").write_text("a file")
    with pytest.raises(StoreError, match=r"cannot write .*runs"):
        runs.append_part(tmp_path, "r", 0, WHOLE)
    with (
        pytest.warns(DamagedFileWarning, match="runs cannot be listed"),
        pytest.raises(StoreError, match="cannot"),
    ):
        runs.write(tmp_path, WHOLE, 0)


def test_samples_are_sealed_and_read_beside_runs(tmp_path):
    sealed(tmp_path, "r-1", [row(START, 1000)])
    runs.write(tmp_path, WHOLE, 0)
    runs.append_part(tmp_path, "flying", 0, [made("flying")])
    seal(tmp_path)
    assert [ref.target for ref in Store(tmp_path).targets()] == ["/work"]
    assert Store(tmp_path).count() == 1
    assert SampleFilter().where() == "true"


VALUES = st.one_of(
    *(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)


@given(st.dictionaries(st.sampled_from([*RUN_TYPES, "more"]), VALUES, max_size=5))
@settings(max_examples=150, deadline=None)
def test_a_hostile_line_is_a_row_or_a_value_error(changes):
    raw = json.loads(unsigned(to_line(WHOLE[0]))) | changes
    try:
        one = from_line(json.dumps(raw).encode())
    except ValueError:
        return
    assert from_line(to_line(one)) == one


@given(st.binary(max_size=30), st.integers(0, 400))
@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@pytest.mark.filterwarnings("ignore")
def test_noise_in_a_part_costs_no_good_line(tmp_path, noise, place):
    path = tmp_path / "runs" / "n.0.part.jsonl"
    path.unlink(missing_ok=True)
    runs.append_part(tmp_path, "n", 0, [made("n")])
    good = path.read_bytes()
    path.write_bytes(good + noise.replace(b"\n", b"") + b"\n" + to_line(made("m")))
    assert {one.run_id for one in runs.read(tmp_path)} >= {"n", "m"}
