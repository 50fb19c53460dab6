"""What a mapping says is what a table becomes; what is wrong with it is told with file, table and key."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iosonde.connectors.tables.expression import parse
from iosonde.connectors.tables.jobs import jobs_of
from iosonde.connectors.tables.mapping_toml import load_mapping, read_mapping
from iosonde.connectors.tables.table import choose
from iosonde.connectors.tables.units import factor
from iosonde.jobs.table.derived import with_derived
from iosonde.model.errors import InputFileError, UsageError
from iosonde.model.frames import NULL_NS
from iosonde.model.units import to_ns
from tests.kit.jobs.tables import GIB, HEAD, MAPPING, MONTH, read, row, write


def test_a_table_becomes_jobs(tmp_path):
    path = write(tmp_path / "t.csv.gz", row(1), row(0, rw=0), row(2, fs="home"))
    (table, notes, mapping), told = read(path)
    assert told == []
    assert notes == ()
    assert mapping.name == "jobs"
    assert table.job_id.tolist() == ["100", "101", "102"], "in the order of begin"
    assert table.motif.tolist() == ["writer read", "writer write", "writer write"]
    assert table.file_system.tolist() == ["work", "work", "home"]
    assert table.start_ns[0] == 1_700_000_000 * 10**9
    assert table.duration_s().tolist() == [100, 100, 100]
    assert table.metrics["performance_bytes_per_s"].tolist() == [50 * 2**20, 51 * 2**20, 52 * 2**20]
    assert table.metrics["own_bytes"].tolist() == [4 * GIB] * 3
    assert table.source == "t.csv.gz"


def test_columns_that_nobody_names_are_metrics_under_their_own_names(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("id,temperature,remark\n1,20,warm\n2,21,warm\n")
    (table, _, _), _ = read(path, '[job]\njob_id = "id"')
    assert list(table.metrics) == ["temperature"]
    assert table.about("temperature").good is None
    (bare, _, mapping), _ = read(path, "")
    assert mapping.name == "columns by their own names"
    assert set(bare.metrics) == {"id", "temperature"}
    assert (bare.start_ns == NULL_NS).all()
    (none, _, _), _ = read(path, '[table]\nothers = false\n[job]\njob_id = "id"')
    assert none.metrics == {}


def test_a_table_with_our_own_names_needs_no_mapping(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(
        "job_id,file_system,motif,start_ns,end_ns,own_bytes\n"
        "7,work,a write,1700000000123456789,1700000001000000000,5\n"
    )
    (table, _, _), _ = read(path, "")
    assert (table.job_id[0], table.file_system[0], table.motif[0]) == ("7", "work", "a write")
    assert table.start_ns[0] == 1700000000123456789
    assert list(table.metrics) == ["own_bytes"]


@pytest.mark.parametrize(
    ("unit", "cell", "ns"),
    [
        ("s", "1700000000.25", 1_700_000_000_250_000_000),
        ("ms", "1700000000123", 1_700_000_000_123_000_000),
        ("us", "1700000000123456", 1_700_000_000_123_456_000),
        ("ns", "1700000000123456789", 1_700_000_000_123_456_789),
        ("text", "2023-11-14T22:13:20Z", 1_700_000_000_000_000_000),
        ("text", "2023-11-14 23:13:20+01:00", 1_700_000_000_000_000_000),
        ("text", "2023-11-14 23:13:20", 1_700_000_000_000_000_000),
    ],
)
def test_a_begin_is_read_exactly(tmp_path, unit, cell, ns):
    path = tmp_path / "t.csv"
    path.write_text(f"start,x\n{cell},1\n")
    text = (
        f'[table]\nzone = "Europe/Berlin"\n[job]\nbegin = {{ column = "start", unit = "{unit}" }}'
    )
    (table, notes, _), told = read(path, text)
    assert table.start_ns.tolist() == [ns]
    assert told == []
    assert notes == (), "the mapping names the zone"
    (_, notes, _), _ = read(path, text.partition("\n")[2].partition("\n")[2], zone=UTC)
    naive = unit == "text" and len(cell) == 19
    assert [note.flag for note in notes] == (["naive-time"] if naive else [])
    assert all("read in UTC" in note.what for note in notes)


def test_texts_are_renamed_literally_by_pattern_and_by_what_holds(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("app,r,w\n/sw/bin/IOR-3.1,5,0\nhacc,0,7\nvpic,,1\n")
    text = """
[[motif]]
column = ["program", "app"]
values = { hacc = "HACC-IO" }
replace = [["^.*/", ""], ["-[0-9.]+$", ""]]
[[motif]]
when = "w > r"
then = "write"
else = "read"
"""
    (table, _, _), _ = read(path, text)
    assert table.motif.tolist() == ["IOR read", "HACC-IO write", "vpic"]


def test_derived_metrics_use_columns_and_metrics_whatever_their_order(tmp_path):
    path = write(tmp_path / "t.csv", row(sr=GIB, sw=4 * GIB))
    text = (
        MAPPING
        + """
ratio_of_all = { expression = "cf * 100 / 2", label = "half", good = "low", role = "climate" }
cf = { expression = "own_bytes / (server_read_bytes + server_written_bytes)", optional = true }
nothing = { expression = "cf * absent", optional = true }
own_percent = { column = "rw", unit = "ratio" }
"""
    )
    (table, _, _), _ = read(path, text)
    assert table.metrics["cf"].tolist() == [0.8]
    assert table.metrics["ratio_of_all"].tolist() == [40.0]
    assert table.metrics["own_percent"].tolist() == [100.0]
    assert "nothing" not in table.metrics
    told = table.about("ratio_of_all")
    assert (told.label, told.good, told.role) == ("half", "low", "climate")


def test_metrics_that_need_each_other_are_not_there(tmp_path):
    path = write(tmp_path / "t.csv", row())
    circle = 'a = {{ expression = "b + 1"{0} }}\nb = {{ expression = "a * 2"{0} }}\n'
    (table, _, _), _ = read(path, MAPPING + circle.format(", optional = true"))
    assert {"a", "b"}.isdisjoint(table.metrics)
    with pytest.raises(UsageError, match=r"jobs\.toml: the column 'a' of .*t\.csv is not there"):
        read(path, MAPPING + circle.format(""))


@pytest.mark.parametrize(
    ("text", "left", "reason"),
    [
        ("complete = true", [100, 102], "1 left out: not complete"),
        ('complete = ["perf"]', [100, 102], "1 left out: not complete"),
        ('keep = "sr <= 5"', [100, 101], "1 left out: not sr <= 5"),
        ('keep = "perf > 0"\nwhy = "too slow"', [100, 102], "1 left out: too slow"),
        ('column = "id"\ndrop = [101, "102"]', [100], "2 left out: id is 101, 102"),
        ("began_by = 2023-11-14T22:13:20Z", [100], "2 left out: began after 2023-11-14"),
    ],
)
def test_filters_leave_rows_out_and_say_why(tmp_path, text, left, reason):
    path = write(tmp_path / "t.csv", row(0, sr=1), row(1, sr=2, perf=""), row(2, sr=9))
    (table, _, _), _ = read(path, MAPPING + "[[filters]]\n" + text)
    assert table.job_id.tolist() == [str(job) for job in left]
    assert str(table.reasons[0]).startswith(reason)


JOIN = """
[join.disks]
file = "disks.csv"
keys = { file_system = "fs" }
day = "date"
zone = "America/Chicago"
keep = ["`data?` == 1"]
[join.disks.metrics]
fullest_ost_percent = { of = "100 * (1 - free / size)", take = "max" }
mean_fullness_percent = { of = "100 * (1 - free / size)" }
"""


def test_a_second_table_is_joined_by_key_and_local_day(tmp_path):
    midnight = to_ns(datetime(2026, 3, 8, tzinfo=ZoneInfo("America/Chicago"))) // 10**9
    (tmp_path / "disks.csv").write_text(
        "file_system,date,data?,free,size\nwork,2026-03-07,1,50,100\nwork,2026-03-07,1,20,100\n"
        "work,2026-03-07,0,0,100\nwork,2026-03-08,1,10,100\nhome,2026-03-07,1,1,100\n"
    )
    rows = [row(0, start=midnight - 1), row(1, start=midnight), row(2, start=midnight, fs="other")]
    (table, _, _), _ = read(write(tmp_path / "t.csv", *rows), MAPPING + JOIN)
    assert table.metrics["fullest_ost_percent"][:2].tolist() == [80.0, 90.0]
    assert table.metrics["mean_fullness_percent"][:2].tolist() == [65.0, 90.0]
    assert np.isnan(table.metrics["fullest_ost_percent"][2])


def test_a_join_says_what_it_lacks(tmp_path):
    path = write(tmp_path / "t.csv", row())
    with pytest.raises(InputFileError, match=r"cannot read .*disks\.csv: No such file"):
        read(path, MAPPING + JOIN)
    (tmp_path / "disks.csv").write_text("file_system,data?,free,size\nwork,1,1,2\n")
    with pytest.raises(
        UsageError, match=r"jobs\.toml, \[join\.disks\]: .*disks\.csv has no column 'date'"
    ):
        read(path, MAPPING + JOIN)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[job", r"m\.toml: no TOML: Expected .\]. .*docs/correlate\.md"),
        ("[jobs]", r"m\.toml, the mapping jobs: there is no such key; .*try 'job'"),
        ("job = 3", r"m\.toml, the mapping job: 3 does not fit; expected dict"),
        ("[job]\njob_id = 3", r"\[job\] job_id: 3 does not fit"),
        ("[job]\njob_di = 'x'", r"\[job\] job_di: there is no such key; .*try 'job_id'"),
        (
            "[job]\nbegin = { column = 'x', unit = 'h' }",
            r"\[job\] begin unit: 'h' is unknown; expected one of s, ms",
        ),
        ("[job]\nbegin = { unit = 's' }", r"\[job\] begin column: it is missing"),
        ("[table]\nzone = 'Mars'", r"\[table\] zone: there is no zone 'Mars'"),
        ("[table]\nzone = '../../etc/passwd'", r"\[table\] zone: there is no zone"),
        (
            "[table]\ndelimiter = 'ab'",
            r"\[table\] delimiter: 'ab' does not fit; expected one character",
        ),
        (
            "[metrics]\nx = { column = 'a', unit = 'furlong' }",
            r"\[metrics\.x\] unit: there is no unit 'furlong'",
        ),
        (
            "[metrics]\nown_bytes = { column = 'a', unit = 's' }",
            r"\[metrics\.own_bytes\] unit: s is not bytes",
        ),
        (
            "[metrics]\nx = { expression = 'a +' }",
            r"\[metrics\.x\] expression: expected a name or number at char",
        ),
        (
            "[metrics]\nx = { expression = '__import__(1)' }",
            r"\[metrics\.x\] expression: '\(' is not expected",
        ),
        (
            "[metrics]\nx = { column = 'a', expression = 'b' }",
            r"\[metrics\.x\]: where does it come from",
        ),
        ("[metrics]\nx = { column = 'a', good = 'up' }", r"\[metrics\.x\] good: 'up' is unknown"),
        ("[metrics]\n'a b' = 'x'", r"\[metrics\.a b\]: no name of a metric"),
        (
            "[[motif]]\ncolumn = 'a'\nreplace = [['(', '']]",
            r"\[\[motif\]\] 1 replace: .* does not fit",
        ),
        (
            "[[motif]]\ncolumn = 'a'\nreplace = [['a', '\\9']]",
            r"\[\[motif\]\] 1 replace: .* does not fit",
        ),
        ("[[motif]]\nthen = 'a'", r"\[\[motif\]\] 1: where does the text come from"),
        ("[[filters]]\nwhy = 'x'", r"\[\[filters\]\] 1: what does it do"),
        ("[[filters]]\nkeep = 'x'\nflag = 'bad'", r"\[\[filters\]\] 1 flag: 'bad' is unknown"),
        (
            "[[filters]]\nbegan_by = 2026-01-01T00:00:00",
            r"\[\[filters\]\] 1 began_by: .* has no zone",
        ),
        ("[join.x]\nkeys = { a = 'b' }", r"\[join\.x\] file: it is missing"),
        ("[join.x]\nfile = 'f'\nday = 'd'", r"\[join\.x\] zone: days begin at different times"),
    ],
)
def test_what_is_wrong_with_a_mapping_is_told_with_its_place(text, message):
    with pytest.raises(UsageError, match=message):
        read_mapping(text, "m.toml", "m")


def test_a_mapping_that_does_not_fit_names_file_table_key_and_column(tmp_path):
    path = write(tmp_path / "t.csv", row())
    with pytest.raises(
        UsageError, match=r"jobs\.toml, \[metrics\] own_bytes: .*t\.csv has no column 'owm'"
    ):
        read(path, MAPPING.replace('"own"', '"owm"'))
    with pytest.raises(UsageError, match=r"cannot read the mapping .*none\.toml: No such file"):
        load_mapping(tmp_path / "none.toml")


def test_a_metric_from_a_column_of_words_is_an_error(tmp_path):
    path = write(tmp_path / "t.csv", row(own="four"), row(1, own="five"))
    with pytest.raises(
        UsageError, match=r"jobs\.toml: the column 'own' of .*t\.csv holds no numbers"
    ):
        read(path)


def test_the_mapping_that_fits_is_taken(tmp_path):
    path = write(tmp_path / "t.csv", row())
    wrong = read_mapping(MAPPING.replace('"own"', '"owm"'), "a.toml", "a")
    right = read_mapping(MAPPING, "b.toml", "b")
    assert choose(path, [wrong, right]) is right


@pytest.mark.parametrize(
    ("unit", "metric", "times"),
    [
        ("MiB/s", "performance_bytes_per_s", 2**20),
        ("MB/s", "performance_bytes_per_s", 1e6),
        ("KiB", "used_bytes", 1024),
        ("ms", "io_s", 1e-3),
        ("ratio", "full_percent", 100),
        ("%", "full_ratio", 0.01),
        ("KiB", "anything", 1),
    ],
)
def test_units_become_what_the_name_ends_with(unit, metric, times):
    assert factor(unit, metric) == times


def test_expressions_are_arithmetic_with_missing_values():
    columns = {"a": np.array([1.0, np.nan, 4.0]), "b c": np.array([2.0, 2.0, 0.0])}

    def value(text):
        return np.broadcast_to(parse(text).value_of(columns.__getitem__), 3)

    assert np.array_equal(value("-a + 2 * (`b c` - 1)"), [1, np.nan, -6], equal_nan=True)
    assert np.array_equal(value("a / `b c`"), [0.5, np.nan, np.nan], equal_nan=True)
    assert np.array_equal(value("a <= 1e0"), [1, np.nan, 0], equal_nan=True)
    assert np.array_equal(value("10 - 3 - 2"), [5, 5, 5])
    assert parse("x / (y + 1)").names == {"x", "y"}


@given(st.text(alphabet="ab1.+-*/()<>=`_ e", max_size=60))
def test_no_text_makes_an_expression_do_anything_but_arithmetic(text):
    try:
        found = parse(text)
    except ValueError:
        return
    assert np.asarray(found.value_of(lambda _: np.ones(2))).size in (1, 2)


@pytest.mark.parametrize("text", ["(" * 5000, "a+" * 400 + "a", "1" * 900, "-" * 999 + "1"])
def test_an_absurd_expression_is_refused(text):
    with pytest.raises(ValueError, match=r"more than|longer|not expected"):
        parse(text)


def test_the_mapping_of_a_folder_and_of_utc(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("start,x\n2026-03-08 12:00:00,1\n")
    (table, _, _), _ = read(path, '[job]\nbegin = { column = "start", unit = "text" }', zone=UTC)
    assert table.start_ns[0] == to_ns(datetime(2026, 3, 8, 12, tzinfo=UTC))


PAGE = (Path(__file__).parents[3] / "docs" / "correlate.md").read_text()
(SHOWN,) = re.findall(r"```toml\n(.*?)```", PAGE, flags=re.S)


def test_the_mapping_of_the_documentation_and_those_of_the_examples_are_mappings():
    shown = read_mapping(SHOWN, "docs/correlate.md", "shown")
    assert {metric.name for metric in shown.metrics} >= {"own_bytes", "temperature"}
    assert [one.kind for one in shown.filters] == ["complete", "holds", "excluded", "began_by"]
    assert [load_mapping(path).name for path in sorted(MONTH.glob("*.toml"))] == [
        "a month on GPFS (PDSW'17)",
        "a month on Lustre (PDSW'17)",
    ]


@given(place=st.integers(0, len(SHOWN) - 1), text=st.text(max_size=6), gone=st.integers(0, 30))
def test_a_mangled_mapping_is_an_error_in_words_or_a_mapping(place, text, gone):
    try:
        read_mapping(SHOWN[:place] + text + SHOWN[place + gone :], "m.toml", "m")
    except UsageError as error:
        assert str(error).startswith("m.toml")  # noqa: PT017 - either is right


GOOD = ("\n".join([HEAD, *(row(i, app='"a, b"') for i in range(5))]) + "\n").encode()


@given(place=st.integers(0, len(GOOD) - 1), junk=st.binary(max_size=6), gone=st.integers(0, 30))
def test_a_mangled_table_is_an_error_in_words_or_a_table(tmp_path_factory, place, junk, gone):
    path = tmp_path_factory.mktemp("mangled") / "t.csv"
    path.write_bytes(GOOD[:place] + junk + GOOD[place + gone :])
    try:
        (table, _, _), _ = read(path)
    except (UsageError, InputFileError) as error:
        assert str(path) in str(error)  # noqa: PT017 - either is right
        return
    table = with_derived(table).table
    assert all(len(column) == len(table) for column in table.metrics.values())
    assert not any(np.isinf(column).any() for column in table.metrics.values())


def test_rows_are_jobs_with_scalars(tmp_path):
    path = write(tmp_path / "t.csv", row(0, sr="-0.0", end=""), row(1, app="my app fpp", sw=""))
    (table, _, _), _ = read(path)
    first, second = jobs_of(table, system="cluster")
    assert [job.motif for job in (first, second)] == table.motif.tolist()
    assert (second.app, second.mode, second.direction) == ("my app", "fpp", "write")
    assert (first.job_id, first.system, first.file_system) == ("100", "cluster", "work")
    assert (first.start_ns, first.end_ns) == (1_700_000_000 * 10**9, None)
    assert first.scalars["own_bytes"] == (4 * GIB, "bytes", "t.csv", None, None, None, ())
    down = first.scalars["server_read_bytes"]
    assert (down.value, down.flags) == (None, ("negative-zero",))
    assert "server_written_bytes" not in second.scalars
    (only,) = {tuple(job.scalars) for job in jobs_of(table, metrics=["own_bytes"])}
    assert only == ("own_bytes",)


def test_pytokios_rows_of_a_gpfs(tmp_path):
    """Reads and writes of applications, directory reads, inode updates: what mmpmon counts beside bytes."""
    values = {
        "darshan_jobid": 7,
        "_file_system": "mira-fs1",
        "darshan_start_time": 1_500_000_000,
        "darshan_end_time": 1_500_000_100,
        "darshan_app": "/x/vpicio",
        "darshan_nprocs": 16,
        "darshan_biggest_read_api_files": 0,
        "darshan_biggest_write_api_files": 1,
        "darshan_tot_bytes_read_posix": 0,
        "darshan_tot_bytes_written_posix": 4 * GIB,
        "darshan_total_gibs_posix": 4,
        "darshan_agg_perf_by_slowest_posix": 100,
        "darshan_tot_reads_posix": 10,
        "darshan_tot_writes_posix": 90,
        "fs_tot_bytes_read": GIB,
        "fs_tot_bytes_written": 8 * GIB,
        "fs_tot_read_ops": 100,
        "fs_tot_write_ops": 150,
        "fs_tot_readdir_ops": 803,
        "fs_tot_inode_update_ops": 544,
    }
    path = tmp_path / "summaries.csv"
    path.write_text(",".join(values) + "\n" + ",".join(map(str, values.values())) + "\n")
    (table, _, mapping), told = read(path, "")
    assert (mapping.name, told) == ("pytokio summarize_job", [])
    found = {name: column[0] for name, column in with_derived(table).table.metrics.items()}
    assert (found["server_read_ops"], found["server_write_ops"]) == (100, 150)
    assert (found["server_readdirs"], found["server_inode_updates"]) == (803, 544)
    assert found["cf_ops_ratio"] == 0.4
