"""Imports in any order: of each key the newest row, in order, whatever a part held before."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from iosonde.engine import merge as merging
from iosonde.engine.connections import connect
from iosonde.engine.contract import METRIC_ORDER, METRIC_TYPES
from iosonde.engine.parts import StoreTable
from iosonde.jobs.store import jobs
from iosonde.jobs.store.series import write_block
from iosonde.model.errors import DamagedFileWarning
from tests.jobs.test_metrics_store import START, S, block, job

TYPES = {"instant": "BIGINT", "who": "VARCHAR", "value": "DOUBLE", "flags": "VARCHAR"}
TABLE = StoreTable("tried", TYPES, ("who", "instant"), ("instant", "who"))
Row = tuple[int | None, str, float | None, str | None]


def said(cell):
    if isinstance(cell, float):
        return f"'{cell}'::DOUBLE"  # a literal has no negative zero
    return "NULL" if cell is None else repr(cell)


def values(rows):
    """SQL of rows."""
    told = ", ".join("(" + ", ".join(map(said, row)) + ")" for row in rows)
    return f"SELECT * FROM (VALUES {told}) AS t({', '.join(TYPES)})"


def kept(con, path):
    con.execute("SET preserve_insertion_order = true")
    return con.execute(f"SELECT * FROM read_parquet('{path}')").fetchall()


def exact(rows):
    """With the sign of a zero."""
    return [(*row, row[2] is not None and math.copysign(1.0, row[2]) < 0) for row in rows]


def in_order(rows):
    return sorted(rows, key=lambda row: (row[0] is None, row[0] or 0, row[1]))


CELLS = st.tuples(
    st.sampled_from([0.0, -0.0, 1.5, None]), st.sampled_from([None, "missing", "stale"])
)


@st.composite
def imports(draw):
    """Some imports of one part: rows by key; instants are all known, or none is."""
    known = draw(st.booleans())
    at = st.integers(0, 6) if known else st.none()
    keys = st.tuples(at, st.sampled_from("abc"))
    one = st.dictionaries(keys, CELLS, min_size=1, max_size=10)
    made = draw(st.lists(one, min_size=1, max_size=5))
    again = draw(st.lists(st.integers(0, len(made) - 1), max_size=3))
    return [*made, *(made[place] for place in again)]


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(imports(), st.booleans())
def test_a_part_is_what_the_newest_rows_make_it(tmp_path_factory, made, ordered) -> None:
    path = tmp_path_factory.mktemp("p") / "part.parquet"
    model: dict[tuple[int | None, str], Row] = {}
    con = connect(threads=2)
    for one in made:
        rows = [(*key, *cells) for key, cells in one.items()]
        more = {row[:2]: row for row in rows}
        new = len(more.keys() - model.keys())
        changed = {key: exact([row]) for key, row in more.items()} != {
            key: exact([model[key]]) for key in more if key in model
        }
        values_changed = sum(key in model and model[key][2] != row[2] for key, row in more.items())
        model |= more
        before = path.stat().st_ino if path.exists() else None
        given_rows = in_order(rows) if ordered else rows
        put = merging.merge(
            con, TABLE, path, values(given_rows), value=list(TYPES)[2], ordered=ordered
        )
        assert put == (new, values_changed)
        assert exact(kept(con, path)) == exact(in_order(model.values()))
        assert (path.stat().st_ino == before) == (not changed), "written only when it changes"
    con.close()


def test_a_long_part_keeps_its_order_and_its_rest(tmp_path) -> None:
    """Several row groups: corrected in the middle, longer, with more components between, and again."""
    n, width = 700, 200
    rng = np.random.default_rng(1)
    at = START // merging_day() * merging_day() + 5 * S * np.arange(n)
    names = tuple(f"OST{place:04d}" for place in rng.permutation(width))
    grid = rng.random((n, width))
    model = {}

    def put(rows, who, value):
        made = block(at[rows], value, who)
        for place, name in enumerate(who):
            for row, instant in enumerate(at[rows].tolist()):
                model[instant, name] = float(value[row, place])
        return write_block(tmp_path, made)

    assert put(slice(0, 500), names, grid[:500]) == 500 * width
    assert put(slice(0, n), names, grid) == 200 * width
    grid[350, 3] += 1
    assert put(slice(300, 400), names, grid[300:400]) == 0
    assert put(slice(50, 650), ("OST0100x",), grid[50:650, :1]) == 600
    (path,) = tmp_path.glob("metrics/*/*.parquet")
    before = path.stat().st_ino
    assert put(slice(0, n), names, grid) == 0
    assert path.stat().st_ino == before
    assert tuple(METRIC_ORDER) == ("time_ns", "component")
    assert list(METRIC_TYPES)[1] == "time_ns"
    found = [(row[1], row[6], row[9]) for row in kept(connect(), path)]
    assert found == sorted((*key, value) for key, value in model.items())


def merging_day() -> int:
    return 86_400 * S


def test_jobs_that_are_there_are_not_written_again(tmp_path) -> None:
    made = [job(f"{i}", START + i * S) for i in range(50)]
    assert jobs.write_jobs(tmp_path, made) == 50
    files = {path: path.stat().st_ino for path in tmp_path.rglob("*.parquet")}
    assert jobs.write_jobs(tmp_path, made[10:30]) == 0
    assert {path: path.stat().st_ino for path in tmp_path.rglob("*.parquet")} == files


def test_a_part_that_broke_is_set_aside_before_it_is_merged(tmp_path) -> None:
    path = tmp_path / "part.parquet"
    con = connect(threads=2)
    rows = [(i, "a", float(i), None) for i in range(5000)]
    merging.merge(con, TABLE, path, values(rows))
    broken = bytearray(path.read_bytes())
    broken[8:400] = bytes(392)
    path.write_bytes(bytes(broken))
    with pytest.warns(DamagedFileWarning, match=r"part\.parquet is damaged"):
        done = merging.merge(con, TABLE, path, values([(7, "a", 0.0, None)]))
    assert done == (1, 0)
    aside = path.with_name("part.parquet.damaged")
    assert aside.read_bytes() == bytes(broken), "nothing of it gets a new checksum"
    con.close()
