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
    starts = ("2026-10-25 02:30:00", "2026-03-29 02:30:00", "2026-01-01")
    rows = [row(n, start=start, end=1_900_000_000) for n, start in enumerate(starts)]
    (_, notes, _), _ = read(write(tmp_path / "t.csv", *rows), BERLIN)
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


OPENS = MAPPING + 'own_opens = "opens"\nserver_opens = "so"\n'


def opens(tmp_path, *seen):
    """Runs of 90 opens each, of which the servers saw some."""
    rows = [f"{row(n)},90,{servers}" for n, servers in enumerate(seen)]
    path = write(tmp_path / "t.csv", *rows, head=HEAD + ",opens,so")
    return with_derived(read(path, OPENS)[0].table)


def test_operations_that_are_usually_beyond_the_servers_are_flagged_and_kept(tmp_path):
    """Clients answer them; but what others did beside them is not known."""
    clean, (note,) = opens(tmp_path, 60, 60, 60, 60, 60)
    assert (note.flag, note.n) == ("over-covered", 5)
    assert "up to 1.5; 5 kept" in note.what
    assert clean.metrics["cf_opens_ratio"].tolist() == [1.5] * 5
    assert clean.flags[0, "cf_opens_ratio"] == ("over-covered",)
    assert np.isnan(clean.metrics["contention_opens_ratio"]).all()


def test_a_monitor_that_lost_most_operations_is_no_number(tmp_path):
    """Usually 0.3 of the opens are the job's own, for once 18 times as many as there were."""
    clean, (note,) = opens(tmp_path, 300, 290, 310, 305, 5)
    assert (note.flag, note.n) == ("over-covered", 1)
    for name in ("cf_opens_ratio", "contention_opens_ratio", "server_opens"):
        assert np.isnan(clean.metrics[name]).tolist() == [False] * 4 + [True], name
        assert clean.flags[4, name] == ("over-covered",), name


def test_negative_amounts_are_unknown(tmp_path):
    lines = more("mds,load", "3,-2", "-1,-2")
    text = MAPPING + 'mds_cpu_max_percent = "mds"\nload_c = { column = "load", label = "frost" }\n'
    path = write(tmp_path / "t.csv", *lines[1:], head=lines[0])
    clean, (note,) = with_derived(read(path, text)[0].table)
    assert (note.flag, note.n) == ("not-a-number", 1)
    assert np.isnan(clean.metrics["mds_cpu_max_percent"]).tolist() == [False, True]
    assert clean.metrics["load_c"].tolist() == [-2, -2]  # a site's own may be below 0
    clean, notes = with_derived(read(write(tmp_path / "u.csv", *two(perf=-1)))[0].table)
    assert len(clean) == 2  # not "moved nothing"
    assert np.isnan(clean.metrics["performance_bytes_per_s"]).tolist() == [False, True]
    assert [note.flag for note in notes] == ["not-a-number"]


def dead_of(tmp_path, name, values):
    """Which of the runs of a metric are marked as those of a dead monitor."""
    rows = [f"{row(n)},{value}" for n, value in enumerate(values)]
    path = write(tmp_path / "t.csv", *rows, head=HEAD + ",x")
    clean, _ = with_derived(read(path, MAPPING + f'{name} = "x"\n')[0].table)
    return [n for n in range(len(clean)) if "monitor-down" in clean.flags.get((n, name), ())]


def test_traffic_of_others_that_was_never_zero_is_not_zero(tmp_path):
    busy = [9e8, 1e9, 1.1e9, 8e8, 9.5e8, 1e9]
    assert dead_of(tmp_path, "others_bytes_per_s", [*busy, 0]) == [6]
    # Where nobody else runs most of the time, nothing is known to be wrong.
    assert dead_of(tmp_path, "others_bytes_per_s", [*busy, 0, 0, 0, 0]) == []
    assert dead_of(tmp_path, "others_bytes_per_s", [*busy, 1e5, 2e5, 0]) == []


def test_a_monitor_dead_in_most_of_the_history_is_dead(tmp_path):
    """Every job opens files, and no server is at 0 % while it does."""
    values = [3279, 3000, 2500, 3100, 4000] + [0] * 12
    assert dead_of(tmp_path, "server_opens_per_s", values) == [*range(5, 17)]
    assert dead_of(tmp_path, "oss_cpu_max_percent", [v / 100 for v in values]) == [*range(5, 17)]
    # Rounded to whole percents it may be.
    assert dead_of(tmp_path, "oss_cpu_max_percent", [1, 2, 1, 3, 2, 0, 0]) == []


def test_operations_that_spread_widely_are_never_exactly_zero(tmp_path):
    spread = [80_000, 3_000, 150_000, 500, 90_000, 30_000, 12_000]
    assert dead_of(tmp_path, "server_opens", [*spread, 0]) == [7]
    assert dead_of(tmp_path, "server_opens", [*spread, 4, 0]) == []


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
