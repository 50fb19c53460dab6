"""Imported samples lie in the partition of their own day: a question since a day finds every row of it."""

from __future__ import annotations

import pytest

from iosonde.connectors.source import Settings
from iosonde.engine.connections import connect
from iosonde.engine.contract import INTERVAL_NS
from iosonde.engine.layout.dates import utc_date
from iosonde.engine.layout.segments import parquet_segments, rollup_segments
from iosonde.engine.reader import SampleFilter, with_samples
from iosonde.ingest.answers import Question, import_files
from iosonde.weather.rollups.rollups import rollups
from tests.kit.samples.latencies import gathered
from tests.kit.samples.makers import SECOND, START

DAY_S = 86_400
STEP_S = 97
ROWS = 14 * DAY_S // STEP_S


@pytest.fixture
def fortnight(tmp_path):
    """One rank that creates every 97 s for 14 days, as one file."""
    rows = [("create", 0, place * STEP_S, 0.001 + place * 1e-7) for place in range(ROWS)]
    return gathered(tmp_path / "long.csv", rows)


def put(root, path, **naming):
    naming = {"started_ns": START, **naming}
    return import_files(root, Question([path], Settings(**naming)), 0).samples[0].written


def dues(root, since_ns=None):
    def ask(con):
        return [due for (due,) in con.execute("SELECT due_ns FROM samples ORDER BY 1").fetchall()]

    return with_samples(root, SampleFilter(since_ns=since_ns), ask)


def as_one_file(root):
    """The store as it was when all days of a phase lay in the partition of the first."""
    files = [segment.path for segment in parquet_segments(root)]
    first = min(files, key=str)
    con = connect()
    names = ", ".join(f"'{path}'" for path in files)
    con.execute(
        f"COPY (SELECT * FROM read_parquet([{names}], hive_partitioning = false)) "
        f"TO '{first}.new' (FORMAT parquet)"
    )
    con.close()
    for path in files:
        path.unlink()
    first.with_name(f"{first.name}.new").rename(first)


def test_since_the_middle_finds_every_row(tmp_path, fortnight):
    root = tmp_path / "store"
    written = put(root, fortnight)
    assert (written.rows, written.known_rows, len(written.files)) == (ROWS, 0, 15)
    every = [START + place * STEP_S * SECOND for place in range(ROWS)]
    assert dues(root) == every
    middle = START + 7 * DAY_S * SECOND
    assert dues(root, middle) == [due for due in every if due >= middle]


def test_each_file_holds_its_own_day_and_whole_intervals(tmp_path, fortnight):
    root = tmp_path / "store"
    put(root, fortnight)
    found = rollups(root, SampleFilter())
    starts = found.columns["start_ns"].tolist()
    assert len(starts) == len(set(starts)), "an interval lies in two files"
    expected = {}
    for due in dues(root):
        begin = due // INTERVAL_NS * INTERVAL_NS
        expected[begin] = expected.get(begin, 0) + 1
    assert dict(zip(starts, found.columns["n_due"].tolist(), strict=True)) == expected
    for segment in rollup_segments(root):
        con = connect()
        days = con.execute(f"SELECT DISTINCT start_ns // 86400000000000 FROM '{segment.path}'")
        (day,) = days.fetchall()
        con.close()
        assert f"date={utc_date(day[0] * DAY_S * SECOND)}" in str(segment.path)


def test_a_second_import_does_nothing(tmp_path, fortnight):
    root = tmp_path / "store"
    files = put(root, fortnight).files
    before = {path: path.read_bytes() for path in files}
    again = put(root, fortnight, started_ns=START + 5, target="other")
    assert (again.rows, again.known_rows) == (0, ROWS)
    assert {s.path: s.path.read_bytes() for s in parquet_segments(root)} == before


def test_a_second_import_parts_what_lies_in_one_file(tmp_path, fortnight):
    root = tmp_path / "store"
    put(root, fortnight)
    every = dues(root)
    as_one_file(root)
    rollups(root, SampleFilter())  # keeps one of 14 days
    middle = START + 7 * DAY_S * SECOND
    assert dues(root, middle) == []
    again = put(root, fortnight, started_ns=0)
    assert (again.rows, again.known_rows) == (0, ROWS)
    assert dues(root) == every, "times are those of the first import"
    assert dues(root, middle) == [due for due in every if due >= middle]
    assert int(rollups(root, SampleFilter()).columns["n_due"].sum()) == ROWS


def test_a_longer_version_takes_the_place_with_its_rollups(tmp_path):
    root, path = tmp_path / "store", tmp_path / "grown.csv"
    rows = [("stat", 0, place * 1800, 0.001) for place in range(200)]
    put(root, gathered(path, rows[:60]))
    assert int(rollups(root, SampleFilter()).columns["n_due"].sum()) == 60
    assert put(root, gathered(path, rows)).rows == 200
    assert int(rollups(root, SampleFilter()).columns["n_due"].sum()) == 200
    put(root, gathered(path, rows), started_ns=0)
    assert int(rollups(root, SampleFilter()).columns["n_due"].sum()) == 200
