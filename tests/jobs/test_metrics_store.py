"""Imported series, topology and jobs in the store: merged by key, damaged parts set aside, read as they were."""

from __future__ import annotations

import tomllib
from pathlib import Path

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.engine.parts import TOPOLOGY, StoreTable, cannot_write
from iosonde.jobs.store import jobs
from iosonde.jobs.store import series as metrics
from iosonde.jobs.store import table as job_table
from iosonde.jobs.store.jobs import JOBS, SCALARS
from iosonde.jobs.store.metric_descriptions import DESCRIBED
from iosonde.jobs.store.series import METRICS, SeriesName
from iosonde.model.errors import DamagedFileWarning, StoreError
from iosonde.model.job_metrics import job_metrics
from iosonde.model.jobs import Job, Scalar
from iosonde.model.metrics import Edge, MetricBlock
from iosonde.model.quality import Note

ROOT = Path(__file__).parents[2]
S = 1_000_000_000
START = 1_790_000_000 * S
NAME = SeriesName("lmt", "fs1", "ost", "read_bytes")


@pytest.mark.parametrize(
    "table", [METRICS, TOPOLOGY, JOBS, SCALARS, DESCRIBED], ids=lambda t: t.name
)
def test_the_columns_are_those_of_the_schema(table: StoreTable) -> None:
    schema = tomllib.loads((ROOT / f"schema/tables/{table.name}.toml").read_text())
    assert schema["name"] == table.name
    assert {c["name"]: c["type"] for c in schema["column"]} == table.types
    assert tuple(schema["key"]) == table.key
    assert tuple(schema["sort"]) == table.order


def test_metrics_of_jobs_are_those_of_the_schema() -> None:
    schema = tomllib.loads((ROOT / "src/iosonde/model/job_metrics.toml").read_text())["metric"]
    listed = {m["name"]: {k: v for k, v in m.items() if k != "name"} for m in schema}
    known = {
        name: {k: v for k, v in about._asdict().items() if v or k == "unit"}
        for name, about in job_metrics().items()
    }
    assert listed == known
    for name, about in job_metrics().items():
        last = about.unit.replace("/s", "_per_s").replace(" ", "_").lower()
        assert (
            about.unit in ("operations", "operations/s")
            or name.endswith(last)
            or (about.group in ("failover", "concurrency"))
            or about.unit == "files"
        ), name


def block(times, value, components=("OST0000", "OST0001"), notes=(), **other):
    named = {**NAME._asdict(), "unit": "bytes", "kind": "delta"} | other
    at = np.array(times, dtype=np.int64)
    return MetricBlock(
        **named,
        components=tuple(components),
        time_ns=at,
        step_ns=np.full(len(at), 5 * S, dtype=np.int64),
        value=np.array(value, dtype=np.float64).reshape(len(at), len(components)),
        notes=tuple(notes),
    )


def test_a_block_comes_back_as_it_was_over_midnight_and_twice_changes_nothing(tmp_path):
    midnight = START // metrics.DAY_NS * metrics.DAY_NS + metrics.DAY_NS
    made = block(
        [midnight - 5 * S, midnight], [[1, np.nan], [0, 3]], notes=[Note("naive-time", "UTC")]
    )
    assert metrics.write_block(tmp_path, made) == 4
    assert metrics.write_block(tmp_path, made) == 0
    assert len(list((tmp_path / "metrics").glob("date=*/*.parquet"))) == 2
    back = metrics.read_block(tmp_path, NAME, midnight - 60 * S, midnight + 60 * S)
    assert back is not None
    np.testing.assert_array_equal(back.value, made.value)
    np.testing.assert_array_equal(back.time_ns, made.time_ns)
    assert back.components == made.components
    assert (back.unit, back.kind, [n.flag for n in back.notes]) == (
        "bytes",
        "delta",
        ["naive-time"],
    )
    assert metrics.series_names(tmp_path) == [NAME]
    assert metrics.series_names(tmp_path, since_ns=midnight + 2 * metrics.DAY_NS) == []


def test_what_is_missing_is_null_and_says_so(tmp_path):
    metrics.write_block(tmp_path, block([START], [[0.0, np.nan]]))
    rows = duckdb.sql(
        f"SELECT value, missing, flags FROM '{tmp_path}/metrics/*/*.parquet'"
    ).fetchall()
    assert rows == [(0.0, 0.0, None), (None, 1.0, None)]


def test_a_step_counts_where_it_overlaps_what_is_asked(tmp_path):
    metrics.write_block(tmp_path, block([START, START + 5 * S], [[1, 2], [3, 4]]))
    part = metrics.read_block(tmp_path, NAME, START + 4 * S, START + 5 * S)
    assert part is not None
    assert part.value.tolist() == [[1, 2]]
    assert metrics.read_block(tmp_path, NAME, START + 10 * S, START + 99 * S) is None
    assert metrics.read_block(tmp_path, NAME._replace(metric="none"), START, START + 9 * S) is None


def test_a_longer_and_a_corrected_version_of_a_record(tmp_path):
    metrics.write_block(tmp_path, block([START, START + 5 * S], [[1, 2], [3, np.nan]]))
    new = metrics.write_block(
        tmp_path,
        block([START + 5 * S, START + 10 * S], [[3, 9], [5, 6]], components=("OST0000", "OST0002")),
    )
    assert new == 3
    back = metrics.read_block(tmp_path, NAME, START, START + 60 * S)
    assert back is not None
    assert back.components == ("OST0000", "OST0001", "OST0002")
    expected = [[1, 2, np.nan], [3, np.nan, 9], [5, np.nan, 6]]
    np.testing.assert_array_equal(back.value, expected)


def test_a_damaged_part_is_set_aside_and_told_of(tmp_path):
    metrics.write_block(tmp_path, block([START], [[1, 2]]))
    (path,) = (tmp_path / "metrics").glob("date=*/*.parquet")
    path.write_bytes(b"PAR1 no such thing")
    with pytest.warns(DamagedFileWarning, match="damaged"):
        assert metrics.read_block(tmp_path, NAME, START, START + S) is None
    with pytest.warns(DamagedFileWarning, match="damaged"):
        assert metrics.write_block(tmp_path, block([START], [[1, 2]])) == 2
    assert path.with_name(path.name + ".damaged").exists()
    assert metrics.read_block(tmp_path, NAME, START, START + S) is not None


def test_a_store_that_is_a_file_is_an_error_of_ours(tmp_path):
    (tmp_path / "metrics").write_text("")
    with pytest.raises(StoreError, match="cannot write"):
        metrics.write_block(tmp_path, block([START], [[1, 2]]))


def test_a_full_disk_is_called_one():
    error = duckdb.IOException('IO Error: write failed {"message":"No space left on device"}')
    told = str(cannot_write(Path("store"), error))
    assert told.startswith("cannot write store: No space left on device; expected room")


def test_edges_by_level_and_time(tmp_path):
    edges = [
        Edge("lctl dl", "fs1", START, "ost", "OST0000", "10.0.0.1@tcp"),
        Edge("lctl dl", "fs1", START + 900 * S, "ost", "OST0000", "10.0.0.2@tcp"),
        Edge("xtdb2proc", "", START, "node", "nid00001", "0,1,2"),
    ]
    assert metrics.write_edges(tmp_path, [*edges, edges[0]]) == 3
    assert metrics.write_edges(tmp_path, edges) == 0
    assert metrics.read_edges(tmp_path, "ost", START, START + 1) == edges[:1]
    assert metrics.read_edges(tmp_path, "ost", START, START + 1000 * S, "fs1") == edges[:2]
    assert metrics.read_edges(tmp_path, "node", START, START + 1000 * S) == edges[2:]


def job(job_id="7", start=START, **other):
    scalars = {
        "performance_bytes_per_s": Scalar(5e9, "bytes/s", "darshan"),
        "cf_bandwidth_ratio": Scalar(None, "ratio", "iosonde", 24, 0.5, None, ("monitor-down",)),
        "fullest_ost_percent": Scalar(82.5, "percent", "lfs df", 24, 0.0, 60 * S),
    }
    values = {"source": "darshan", "app": "vpic", "mode": "shared", "direction": "write"}
    values |= {
        "start_ns": start,
        "end_ns": None if start is None else start + 100 * S,
        "nodes": 2,
        "node_names": ("n1", "n2"),
    }
    return Job(**{"job_id": job_id, "file_system": "/work", "scalars": scalars, **values, **other})


def test_jobs_come_back_with_every_number(tmp_path):
    made = [
        job(),
        job("8", START + S),
        job("9", None),
        job("9", START, source="slurm", scalars={}),
    ]
    assert jobs.write_jobs(tmp_path, made) == 4
    assert jobs.write_jobs(tmp_path, made) == 0
    assert jobs.read_jobs(tmp_path, job_id="7") == made[:1]
    assert {one.key: one for one in jobs.read_jobs(tmp_path)} == {one.key: one for one in made}
    during = jobs.read_jobs(tmp_path, overlapping=(START + 100 * S, START + 200 * S))
    assert [one.job_id for one in during] == ["8"]
    assert [one.scalars for one in jobs.read_jobs(tmp_path, source="slurm")] == [{}]


def test_more_numbers_of_a_job_join_those_that_are_there(tmp_path):
    jobs.write_jobs(tmp_path, [job()])
    more = {"radius_max_hops": Scalar(8.0, "hops", "xtdb2proc")}
    assert jobs.write_jobs(tmp_path, [job(scalars=more)]) == 0
    (back,) = jobs.read_jobs(tmp_path)
    assert back.scalars == job().scalars | more


def test_the_table_has_jobs_whose_performance_is_known(tmp_path):
    jobs.write_jobs(tmp_path, [job("8", START + S), job(), job("9", source="slurm", scalars={})])
    table = job_table.read_table(tmp_path)
    assert table.job_id.tolist() == ["7", "8"]
    assert table.motif.tolist() == ["vpic shared write"] * 2
    assert table.metrics["fullest_ost_percent"].tolist() == [82.5, 82.5]
    assert "cf_bandwidth_ratio" not in table.metrics
    assert table.flags == {(r, "cf_bandwidth_ratio"): ("monitor-down",) for r in (0, 1)}
    assert table.duration_s().tolist() == [100.0, 100.0]
    assert job_table.read_table(tmp_path, since_ns=START + 1).job_id.tolist() == ["8"]
    assert len(job_table.read_table(tmp_path / "none")) == 0
    assert table.take(np.array([1])).flags == {(0, "cf_bandwidth_ratio"): ("monitor-down",)}


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 2), st.floats(allow_nan=True)), max_size=12
    ),
    st.integers(0, 12),
)
def test_whatever_the_order_of_imports_the_last_word_counts(tmp_path_factory, cells, cut):
    root = tmp_path_factory.mktemp("store")
    truth: dict[tuple[int, int], float] = {}
    for some in (cells[:cut], cells[cut:]):
        part = {(t, c): v for t, c, v in some}
        truth |= part
        for (t, c), v in part.items():
            metrics.write_block(root, block([START + t * 5 * S], [[v]], components=(f"OST{c}",)))
    back = metrics.read_block(root, NAME, START, START + 3600 * S)
    found = (
        {}
        if back is None
        else {
            (int((at - START) // (5 * S)), int(name[3:])): value
            for at, row in zip(back.time_ns, back.value, strict=True)
            for name, value in zip(back.components, row, strict=True)
        }
    )
    for key, value in truth.items():
        np.testing.assert_equal(found[key], value)
    assert all(np.isnan(v) for key, v in found.items() if key not in truth)
