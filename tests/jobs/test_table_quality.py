"""Every trap of tables of jobs, each with a file that triggers it: recognised, told, and not used."""

from __future__ import annotations

import numpy as np
import pytest

from iosonde.connectors.tables.unparsable_cells import ISO
from iosonde.jobs.table.derived import with_derived
from iosonde.model.quality import QUALITY
from tests.kit.jobs.tables import GIB, HEAD, MAPPING, read, row, write

AGED = MAPPING + 'fullest_ost_percent = { column = "full", age = "age" }\n'
TEXT = MAPPING.replace('column = "start", unit = "s"', 'column = "start", unit = "text"')
DOUBT = MAPPING.replace("[[motif]]", 'doubtful_begin = "other"\n\n[[motif]]', 1)
BERLIN = '[table]\nzone = "Europe/Berlin"\n' + TEXT
DAY = 86_400


def two(**wrong):
    """A row that is right and one that is not."""
    return [row(0), row(1, **wrong)]


def more(names, good, bad):
    return [f"{HEAD},{names}", f"{row(0)},{good}", f"{row(1)},{bad}"]


TRAPS = {
    "monitor-down": (MAPPING, [HEAD, *two(sr=0, sw=0)], "server_read_bytes"),
    "over-covered": (MAPPING, [HEAD, *two(own=13)], "cf_bandwidth_ratio"),
    "negative-zero": (MAPPING, [HEAD, *two(sr="-0.0")], "server_read_bytes"),
    "not-a-number": (MAPPING, [HEAD, *two(sr="inf")], "server_read_bytes"),
    "stale": (AGED, more("full,age", "80,60", "81,9999999"), "fullest_ost_percent"),
}
"""Flag -> mapping, file, the metric whose second value is missing because of it."""


@pytest.mark.parametrize("flag", TRAPS)
def test_a_cell_that_cannot_be_true_is_missing_flagged_and_told(tmp_path, flag):
    mapping, lines, metric = TRAPS[flag]
    path = write(tmp_path / "t.csv", *lines[1:], head=lines[0])
    (table, notes, _), told = read(path, mapping)
    clean, more_notes = with_derived(table)
    assert told == []
    assert [np.isnan(value) for value in clean.metrics[metric]] == [False, True]
    assert flag in clean.flags[1, metric]
    assert (0, metric) not in clean.flags
    assert [(note.flag, note.n) for note in (*notes, *more_notes)] == [(flag, 1)]
    assert flag in QUALITY


ROWS = {
    "no-traffic": (MAPPING, two(own=0), "moved nothing"),
    "no-traffic by the performance": (MAPPING, two(perf=0), "moved nothing"),
    "incomplete": (MAPPING, two(fs="nan"), "no file system"),
    "missing": (MAPPING, two(start="soon"), "no begin"),
    "duplicate": (MAPPING, [row(0), row(0)], "the same job again"),
}


@pytest.mark.parametrize("name", ROWS)
def test_a_row_that_says_nothing_is_left_out_and_counted(tmp_path, name):
    mapping, rows, why = ROWS[name]
    (table, notes, _), told = read(write(tmp_path / "t.csv", *rows), mapping)
    clean, more_notes = with_derived(table)
    assert len(clean) == 1
    assert [*map(str, clean.reasons)] == [f"1 left out: {why}"]
    assert [(note.flag, note.n) for note in (*notes, *more_notes)] == [(name.split()[0], 1)]
    assert told == (
        [f"{tmp_path / 't.csv'}, line 3: 'soon' is no begin; expected {ISO}"]
        if name == "missing"
        else []
    )


@pytest.mark.parametrize(
    ("off_s", "flag", "says"),
    [
        (-7 * 3600, "naive-time", "is -7 h from the begin: a local time taken for UTC; not used"),
        (5.5 * 3600, "naive-time", "is +5.5 h from the begin"),
        (400, "clock-skew", "is up to +400 s from the begin; not used"),
    ],
)
def test_a_second_begin_that_disagrees_is_told_and_not_used(tmp_path, off_s, flag, says):
    rows = [f"{row(i)},{1_700_000_000 + DAY * i + off_s}" for i in range(3)]
    path = write(tmp_path / "t.csv", *rows, head=HEAD + ",other")
    (table, (note,), _), _ = read(path, DOUBT)
    assert (note.flag, note.n) == (flag, 3)
    assert says in note.what
    assert table.start_ns[0] == 1_700_000_000 * 10**9
    agreeing = write(tmp_path / "u.csv", f"{row()},1700000001", head=HEAD + ",other")
    assert read(agreeing, DOUBT)[0].notes == ()


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_an_epoch_in_another_unit_than_was_said_is_recognised(tmp_path, unit):
    times = {"ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    rows = [row(i, start=(1_700_000_000 + i) * times, end=0) for i in range(3)]
    (table, notes, _), _ = read(write(tmp_path / "t.csv", *rows))
    assert [(note.flag, note.n) for note in notes] == [("wrong-unit", 3)]
    assert f"{unit}, not s: read as {unit}" in notes[0].what
    assert table.start_ns[0] == 1_700_000_000 * 10**9


def test_a_single_time_in_another_unit_costs_its_row_only(tmp_path):
    rows = [*(row(i) for i in range(4)), row(4, start=1_700_000_000_000)]
    (table, _, _), told = read(write(tmp_path / "t.csv", *rows))
    assert len(table) == 4
    assert "line 6: '1700000000000' is no begin" in told[0]


def test_a_clock_time_that_occurs_twice_or_never_is_told(tmp_path):
    rows = [row(0, start="2026-10-25 02:30:00"), row(1, start="2026-03-29 02:30:00")]
    (_, notes, _), _ = read(write(tmp_path / "t.csv", *rows, row(2, start="2026-01-01")), BERLIN)
    assert [(note.flag, note.n) for note in notes] == [("ambiguous-time", 2)], (
        "the mapping names it"
    )


def test_a_fullness_from_after_the_job_is_not_from_before_it(tmp_path):
    lines = more("full,age", "80,-3595", "81,-45185")
    (table, notes, _), _ = read(write(tmp_path / "t.csv", *lines[1:], head=lines[0]), AGED)
    assert np.isnan(table.metrics["fullest_ost_percent"]).tolist() == [False, True]
    assert "up to 45185 s after the begin" in notes[0].what


def test_a_metadata_monitor_that_was_down_costs_metadata_only(tmp_path):
    head = HEAD + ",opens,so,cpu,oss"
    text = MAPPING + (
        'own_opens = "opens"\nserver_opens = "so"\nmds_cpu_max_percent = "cpu"\n'
        'oss_cpu_max_percent = "oss"\n'
    )
    path = write(tmp_path / "t.csv", f"{row(0)},5,50,3,40", f"{row(1)},5,0,0,0", head=head)
    clean, notes = with_derived(read(path, text)[0].table)
    assert [note.flag for note in notes] == ["monitor-down"]
    for metric in ("server_opens", "mds_cpu_max_percent", "cf_opens_ratio"):
        assert np.isnan(clean.metrics[metric]).tolist() == [False, True], metric
    assert clean.metrics["oss_cpu_max_percent"].tolist() == [40, 0]
    assert clean.metrics["cf_bandwidth_ratio"].tolist() == [0.8, 0.8]


def test_operations_beyond_the_servers_are_flagged_and_kept(tmp_path):
    path = write(tmp_path / "t.csv", f"{row(0)},90,60", head=HEAD + ",opens,so")
    text = MAPPING + 'own_opens = "opens"\nserver_opens = "so"\n'
    clean, (note,) = with_derived(read(path, text)[0].table)
    assert note.flag == "over-covered"
    assert "up to 1.5; kept" in note.what
    assert clean.metrics["cf_opens_ratio"].tolist() == [1.5]
    assert clean.flags[0, "cf_opens_ratio"] == ("over-covered",)


def test_cleaning_twice_changes_nothing(tmp_path):
    once = with_derived(read(write(tmp_path / "t.csv", *two(own=13), row(2, sr=0, sw=0)))[0].table)
    again = with_derived(once.table)
    assert again.notes == ()
    assert again.table.flags == once.table.flags
    for name, column in once.table.metrics.items():
        assert np.array_equal(again.table.metrics[name], column, equal_nan=True)


def test_contention_goes_with_its_coverage_factor_where_that_is_blanked(tmp_path):
    rows = [row(i, own=1 + i, sr=0, sw=4 * GIB) for i in range(6)]
    table = with_derived(read(write(tmp_path / "t.csv", *rows))[0].table).table
    covered, contended = (table.metrics[f"{n}_bandwidth_ratio"] for n in ("cf", "contention"))
    assert np.isnan(covered).tolist() == np.isnan(contended).tolist() == [False] * 4 + [True] * 2
    assert np.allclose(contended[:4], 1 - covered[:4])
