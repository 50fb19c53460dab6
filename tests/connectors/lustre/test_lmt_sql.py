"""LMT's tables in SQLite: every trap of theirs has a file here that triggers it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from iosonde.connectors.lustre.lmt import spans as lmt_spans
from iosonde.connectors.lustre.lmt import sql as lmt_sql
from iosonde.connectors.source import head_of
from iosonde.model.errors import InputFileError
from tests.kit.records.lmt_files import Got, database

UTC = ZoneInfo("UTC")
START = 1517097600  # 2018-01-28 00:00:00 UTC
TIMES = [(10 + i, f"2018-01-28 00:00:{5 * i:02d}") for i in range(4)]


def rows(reads, ost=1, first=10):
    """Samples of one OST with these counters."""
    return [
        (ost, first + i, read, 2 * read if read else read, 40, 60) for i, read in enumerate(reads)
    ]


def deltas(path, zone=UTC):
    got = Got(lmt_sql, path, zone)
    return got, got.one("ost", "read_bytes").value.T.tolist()


def test_counters_become_steps_with_their_left_edges(tmp_path):
    path = database(tmp_path / "l", TIMES, rows([100, 110, 110, 150]) + rows([5, 5, 6, 7], ost=2))
    assert lmt_sql.recognises(head_of(path))
    got, read = deltas(path)
    assert read == [[10, 0, 40], [0, 1, 1]]
    block = got.one("ost", "read_bytes")
    assert block.time_ns.tolist() == [(START + s) * 10**9 for s in (0, 5, 10)]
    assert block.step_ns.tolist() == [5 * 10**9] * 3
    assert (block.system, block.components) == ("work", ("work-OST0000", "work-OST0001"))
    assert got.one("ost", "total_bytes").value.tolist() == [[100 * 1024.0] * 2] * 4
    assert got.one("ost", "used_bytes").step_ns.tolist() == [0] * 4
    assert not got.told


def test_a_counter_that_falls_back_is_missing_for_that_step(tmp_path):
    got, read = deltas(database(tmp_path / "l", TIMES, rows([100, 120, 3, 10])))
    assert read[0][0] == 20
    assert np.isnan(read[0][1])
    assert read[0][2] == 7
    assert {"counter-reset", "missing"} <= got.flags()


def test_a_tick_nobody_recorded_makes_a_longer_step_and_a_row_that_is_not_there_is_missing(
    tmp_path,
):
    gap = [TIMES[0], TIMES[1], TIMES[3]]
    path = database(tmp_path / "l", gap, [*rows([1, 2])[:2], (1, 13, 9, 9, 40, 60)])
    got = Got(lmt_sql, path, UTC)
    assert got.one("ost", "read_bytes").step_ns.tolist() == [5 * 10**9, 10 * 10**9]
    assert got.one("ost", "read_bytes").value[:, 0].tolist() == [1, 7]
    holes = database(tmp_path / "h", TIMES, [*rows([1, 2])[:1], *rows([3, 4], first=12)])
    value = Got(lmt_sql, holes, UTC).one("ost", "read_bytes").value[:, 0]
    assert np.isnan(value).tolist() == [True, True, False]


def test_rows_out_of_order_and_twice(tmp_path):
    shuffled = [TIMES[2], TIMES[0], TIMES[3], TIMES[1]]
    samples = rows([100, 110, 130, 160])
    path = database(
        tmp_path / "l",
        shuffled,
        [samples[3], samples[0], samples[2], samples[1], (1, 11, 999, 9, 9, 9)],
    )
    got, read = deltas(path)
    assert read[0] == [10, 20, 30]
    assert "duplicate" in got.flags()
    back = database(
        tmp_path / "b", [(10, TIMES[1][1]), (11, TIMES[0][1]), (12, TIMES[0][1])], rows([7, 5, 6])
    )
    got, read = deltas(back)
    assert read[0] == [2]
    assert {"out-of-order", "duplicate"} <= got.flags()


def test_clocks_that_are_set_back_cost_nothing(tmp_path):
    texts = ["01:59:55", "01:00:00", "01:00:05"]
    times = [(10 + i, f"2018-11-04 {text}") for i, text in enumerate(texts)]
    got, read = deltas(
        database(tmp_path / "l", times, rows([1, 3, 6])), ZoneInfo("America/Los_Angeles")
    )
    assert read[0] == [2, 3]
    assert got.one("ost", "read_bytes").step_ns.tolist() == [5 * 10**9] * 2
    assert {"naive-time", "ambiguous-time"} <= got.flags()


def test_what_is_no_number_is_missing_and_no_row_is_lost_for_it(tmp_path):
    bad = ["nan", float("inf"), -4, b"\x00junk", "12", "seven", None]
    times = [(10 + i, f"2018-01-28 00:00:{5 * i:02d}") for i in range(len(bad) + 1)]
    samples = [(1, 10 + i, 5, value, 40, 60) for i, value in enumerate([10, *bad])]
    got = Got(lmt_sql, database(tmp_path / "l", times, samples), UTC)
    assert got.one("ost", "read_bytes").value[:, 0].tolist() == [0] * len(bad)
    assert np.isnan(got.one("ost", "written_bytes").value).all()
    assert "not-a-number" in got.flags()


def test_rows_that_lead_nowhere_are_told_of(tmp_path):
    path = database(
        tmp_path / "l",
        [*TIMES, (60, "2018-01-28 00:01:00"), (99, "yesterday")],
        [*rows([1, 2, 3, 4]), (7, 10, 1, 1, 1, 1), (1, 55, 1, 1, 1, 1)],
    )
    got, read = deltas(path)
    assert read[0][:3] == [1, 1, 1]
    told = " ".join(str(error) for error in got.told)
    assert "TIMESTAMP_INFO: 1 rows have no time, first TS_ID 99" in told
    assert "2 rows name no known time or component" in told


def test_operations_by_name_and_cpu_by_server(tmp_path):
    ops = "INSERT INTO MDS_OPS_DATA VALUES (1,10,1,5),(1,11,1,9),(1,10,2,1),(1,11,2,2);"
    cpu = "INSERT INTO OSS_DATA VALUES (1,10,1.5,20),(1,11,2.5,21); INSERT INTO MDS_DATA VALUES (1,10,9);"
    got = Got(lmt_sql, database(tmp_path / "l", TIMES[:2], [], ops + cpu), UTC)
    assert got.one("mdt", "opens").value.tolist() == [[4]]
    assert not [b for b in got.blocks if "ping" in b.metric]
    assert got.one("oss", "cpu_percent").value[:, 0].tolist() == [1.5, 2.5]
    mds = got.one("mds", "cpu_percent")
    assert mds.components == ("m",)
    assert mds.value[0, 0] == 9
    assert np.isnan(mds.value[1, 0])


def test_spans_share_a_tick_so_that_no_step_is_lost(tmp_path, monkeypatch):
    counters = [i * i for i in range(12)]
    times = [(10 + i, f"2018-01-28 00:00:{5 * i:02d}") for i in range(12)]
    path = database(tmp_path / "l", times, rows(counters) + rows(counters, ost=2))
    whole = Got(lmt_sql, path, UTC).one("ost", "read_bytes")
    monkeypatch.setattr(lmt_spans, "_CELLS", 10)
    pieces = Got(lmt_sql, path, UTC)
    reads = pieces.all("ost", "read_bytes")
    assert len(reads) == 3
    assert np.array_equal(np.concatenate([b.value for b in reads]), whole.value)
    assert np.array_equal(np.concatenate([b.time_ns for b in reads]), whole.time_ns)
    used = np.concatenate([b.time_ns for b in pieces.all("ost", "used_bytes")])
    assert (len(used), len(set(used.tolist()))) == (12, 12)


def test_zeros_that_are_none_are_so_across_spans(tmp_path, monkeypatch):
    counters = [100, 110, 0, 0, 0, 0, 0, 0, 0, 150, 155, 0, 0, 7]
    begun = [0, 0, 0, 5, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    times = [(10 + i, f"2018-01-28 00:{i:02d}:00") for i in range(14)]
    path = database(tmp_path / "l", times, rows(counters) + rows(begun, ost=2))
    whole = Got(lmt_sql, path, UTC).one("ost", "read_bytes")
    nan = np.nan
    first = [10, *[nan] * 8, 5, nan, 0, 7]
    np.testing.assert_array_equal(whole.value[:, 0], first)
    np.testing.assert_array_equal(whole.value[:, 1], [0, 0, 5, 1, nan, *[0] * 8])
    for cells, few in ((4, 1), (6, 2), (8, 10), (10, 1)):
        monkeypatch.setattr(lmt_spans, "_CELLS", cells)
        monkeypatch.setattr(lmt_spans, "_FEW", few)
        reads = Got(lmt_sql, path, UTC).all("ost", "read_bytes")
        assert len(reads) > 3
        np.testing.assert_array_equal(np.concatenate([b.value for b in reads]), whole.value)
        said = [note.n for b in reads for note in b.notes if note.flag == "monitor-down"]
        assert sum(said) == 7


def test_other_databases_and_views_are_not_lmts(tmp_path):
    other = tmp_path / "o"
    with closing(sqlite3.connect(other)) as db:
        db.executescript("CREATE TABLE summary (a); CREATE VIEW OST_DATA AS SELECT 1 AS TS_ID;")
    assert not lmt_sql.recognises(head_of(other))
    with pytest.raises(InputFileError, match="no tables of LMT"):
        Got(lmt_sql, other)


def test_nothing_is_written_beside_the_file(tmp_path):
    path = database(tmp_path / "l", TIMES, rows([1, 2, 3, 4]))
    path.chmod(0o444)
    before = path.read_bytes()
    Got(lmt_sql, path, UTC)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["l"]


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(st.tuples(st.integers(0, 1 << 20), st.binary(min_size=1, max_size=8)), max_size=12),
    st.integers(0, 60000),
)
def test_damaged_files_end_in_a_message(tmp_path, spots, cut):
    good = (
        database(tmp_path / "l", TIMES, rows([1, 2, 3, 4]))
        if not (tmp_path / "l").exists()
        else tmp_path / "l"
    )
    data = bytearray(good.read_bytes())
    for place, junk in spots:
        at = 16 + place % (len(data) - 16)
        data[at : at + len(junk)] = junk
    bad = tmp_path / "bad"
    bad.write_bytes(bytes(data[: len(data) - cut % len(data)]))
    try:
        for block in Got(lmt_sql, bad, UTC).blocks:
            assert not (block.value < 0).any()
    except InputFileError as error:
        told = str(error)
    else:
        told = str(bad)
    assert str(bad) in told
