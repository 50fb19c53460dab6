"""Tables with a row an operation: columns, units, clock times, words, and rows that are none."""

from __future__ import annotations

import gzip
import re
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from iosonde.connectors.samples.cells import EARLIEST_NS, LATEST_NS, OPS, op_of, outcome_of, scaled
from iosonde.connectors.samples.header import _SPANS, _TIMES, _WORDS, columns_of
from iosonde.connectors.samples.table import _KNOWN_BY_ROWS, SampleTable, TableDefaults
from iosonde.connectors.wall_times import WallTimes
from iosonde.ingest.recognise import source_of
from iosonde.model import ops
from iosonde.model.errors import InputFileError
from iosonde.model.frames import NULL_NS, Frame
from iosonde.weather.samples import foreign
from tests.kit.samples.makers import SECOND, START


def read(path, text=None, told=None, zone=UTC, started_ns=None):
    if text is not None:
        path = path / "made.csv"
        path.write_text(text)
    defaults = TableDefaults("n0", "/given", "made", 3901)
    table = SampleTable(path, defaults, WallTimes(zone), started_ns)
    errors = [] if told is None else told
    frames = list(table.chunks(errors.append))
    assert told is not None or errors == []
    if not frames:
        return None
    return Frame({name: np.concatenate([f[name] for f in frames]) for name in frames[0].columns})


@pytest.mark.parametrize(
    ("name", "cell"),
    [
        ("time", "2026-09-21T14:13:20Z"),
        ("time", "2026-09-21 16:13:20+02:00"),
        ("Timestamp", "1790000000"),
        ("start", "1790000000000"),
        ("ts", "1790000000000000"),
        ("began", "1790000000000000000"),
        ("time_s", "1790000000.0"),
        ("Time [s]", "1.79e9"),
        ("began_ms", "1790000000000"),
        ("start_us", "1790000000000000"),
        ("began_ns", "1790000000000000000"),
    ],
)
def test_every_spelling_of_one_instant(tmp_path, name, cell):
    frame = read(tmp_path, f"{name},op,latency_us\n{cell},read,1500\n")
    assert frame["began_ns"].tolist() == [START]
    assert frame["due_ns"].tolist() == [START]
    assert frame["ended_ns"].tolist() == [START + 1_500_000]
    assert frame["due_given"].tolist() == [False]


@pytest.mark.parametrize(
    ("unit", "cell"), [("s", "0.0015"), ("ms", "1.5"), ("us", "1500"), ("ns", "1.5e6")]
)
def test_units_of_latencies(tmp_path, unit, cell):
    frame = read(tmp_path, f"time,op,latency_{unit}\n1790000000,read,{cell}\n")
    assert (frame["ended_ns"] - frame["began_ns"]).tolist() == [1_500_000]


def test_no_digit_is_lost(tmp_path):
    frame = read(
        tmp_path,
        "time_s,op,latency_s\n1790000000.123456789,read,0.000000001\n1790000000.5,stat,1e-7\n",
    )
    assert frame["began_ns"].tolist() == [START + 123_456_789, START + SECOND // 2]
    assert (frame["ended_ns"] - frame["began_ns"]).tolist() == [1, 100]
    frame = read(tmp_path, "time,op,latency_us\n2026-09-21T14:13:20.123456789Z,read,1\n")
    assert frame["began_ns"].tolist() == [START + 123_456_789]
    assert scaled("18446744073709551615", 1, "seed") == 2**64 - 1


def test_clock_times_without_a_zone_are_in_the_one_given(tmp_path):
    text = "time,op,latency_us\n2026-09-21T16:13:20,read,1\n"
    clock = WallTimes(ZoneInfo("Europe/Berlin"))
    path = tmp_path / "made.csv"
    path.write_text(text)
    table = SampleTable(path, TableDefaults("h", "t", "r", 0), clock)
    (frame,) = table.chunks(pytest.fail)
    assert frame["began_ns"].tolist() == [START]
    assert [note.flag for note in clock.notes()] == ["naive-time"]


def test_times_that_count_from_a_begin(tmp_path):
    text = "time_s,op,latency_us\n0.25,read,1\n"
    assert read(tmp_path, text, started_ns=START)["began_ns"].tolist() == [START + SECOND // 4]
    told = []
    assert read(tmp_path, text, told) is None
    assert "--started" in str(told[0])


def test_words_of_operations():
    assert set(OPS) == set(ops.OPS)
    words = [word for op, words in OPS.items() for word in (op, *words)]
    assert len(words) == len(set(words)), "a word of two operations"
    for op, its in OPS.items():
        assert [op_of(word) for word in (op, *its)] == [op] * (1 + len(its))
    assert op_of(" Unlink ") == "md_delete"
    assert op_of("small reads") == "md_read"
    with pytest.raises(ValueError, match=r"no operation 'rename'.*data_read"):
        op_of("rename")


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        *[("", "ok"), ("OK", "ok"), ("success", "ok"), ("0", "ok"), ("nan", "ok")],
        *[("enospc", "ENOSPC"), ("EIO", "EIO"), ("5", "EIO"), ("errno 524", "errno 524")],
        *[("timed out", "timeout"), ("skipped", "skipped"), ("failed", "error")],
    ],
)
def test_outcomes(text, outcome):
    assert outcome_of(text) == outcome


def test_what_failed_or_never_began(tmp_path):
    frame = read(
        tmp_path,
        "due_s,time_s,op,latency_ms,outcome\n"
        "1790000000,1790000000.5,read,5,\n"
        "1790000001,1790000001.5,read,,EIO\n"
        "1790000002,,read,,skipped\n"
        "1790000003,1790000003,read,30000,timeout\n",
    )
    assert frame["due_ns"].tolist() == [START + k * SECOND for k in range(4)]
    half = SECOND // 2
    assert frame["began_ns"].tolist() == [
        *(START + half, START + SECOND + half),
        *(NULL_NS, START + 3 * SECOND),
    ]
    assert frame["ended_ns"].tolist() == [
        *(START + half + 5_000_000, NULL_NS),
        *(NULL_NS, START + 33 * SECOND),
    ]
    assert frame["outcome"].tolist() == ["ok", "EIO", "skipped", "timeout"]


def test_a_skipped_operation_without_due_time_was_due_at_its_time(tmp_path):
    frame = read(tmp_path, "time,op,latency_us,outcome\n1790000000,stat,,skipped\n")
    assert (frame["due_ns"][0], frame["began_ns"][0]) == (START, NULL_NS)


def test_cells_before_what_is_given(tmp_path):
    frame = read(
        tmp_path,
        "time,op,latency_us,host,target,bytes,run\n"
        "1790000000,read,1,n7,/work,4096,a\n1790000001,create,1,,,,\n",
    )
    assert frame["host"].tolist() == ["n7", "n0"]
    assert frame["target"].tolist() == ["/work", "/given"]
    assert frame["size_bytes"].tolist() == [4096, 3901]
    assert frame["run_id"].tolist() == ["a", "made"]


BAD_ROWS = {
    "1790000000,rename,1,": "there is no operation 'rename'",
    "1790000000,,1,": "there is no operation ''",
    "1790000000,read,,ok": "there is no latency",
    "1790000000,read,nan,ok": "there is no latency",
    "1790000000,read,0,": "the latency is 0",
    "1790000000,read,0.000,": "the latency is 0",
    "1790000000,read,inf,": "the latency is 'inf'",
    "1790000000,read,-1,": "the latency is '-1'",
    "1790000000,read,1e99,": "the latency is '1e99'",
    "1790000000,read,1e999999999,": "the latency is '1e999999999'",
    "1790000000,read,1_0,": "the latency is '1_0'",
    "1790000000,read,1": "3 fields; expected 4",
    "1790000000,read,1,2,3": "5 fields; expected 4",
    ",read,1,": "there is no time",
    "yesterday,read,1,": "the time is 'yesterday'",
    "1,read,1,": "a unit in the column's name",
    "99999999999999999999,read,1,": "is no instant from 1990 to 2100",
    "1790000000,read,1,broken": "the outcome is 'broken'",
    "\x1b[2J,read,1,": "the time is '?[2J'",
}


@pytest.mark.parametrize(("row", "message"), BAD_ROWS.items())
def test_a_bad_row_is_told_of_and_the_others_count(tmp_path, row, message):
    good = ["1790000000,read,1,ok", "1790000001,read,1,ok"]
    told = []
    text = "\n".join(["time,op,latency_us,outcome", good[0], row, good[1], ""])
    frame = read(tmp_path, text, told)
    assert len(frame) == 2
    assert len(told) == 1
    assert "made.csv, line 3: " in str(told[0])
    assert message in str(told[0])


def test_an_end_before_the_begin(tmp_path):
    told = []
    text = "began_s,op,ended_s\n1790000001,read,1790000000\n"
    assert read(tmp_path, text, told) is None
    assert "ends before it begins" in str(told[0])


def test_packed_data_that_break_off_keep_the_rows_before(tmp_path):
    rows = "".join(f"{1_790_000_000 + k},read,{k}\n" for k in range(20_000))
    path = tmp_path / "cut.csv.gz"
    whole = gzip.compress(f"time,op,latency_us\n{rows}".encode(), mtime=0)
    path.write_bytes(whole[: len(whole) // 2])
    told = []
    frame = read(path, None, told)
    assert 1000 < len(frame) < 20_000
    assert "gzip data" in str(told[-1])


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("time,op,latency", "'latency' has no unit"),
        ("time,op,size", "no column of the latency"),
        ("op,latency_us", "no column of the begin"),
        ("time,latency_us", "no column op"),
    ],
)
def test_a_header_that_is_nearly_right_is_told_what_it_lacks(tmp_path, header, message):
    path = tmp_path / "near.csv"
    path.write_text(f"{header}\n1,2,3\n")
    with pytest.raises(InputFileError, match=message):
        source_of(path)


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_a_table_is_recognised_by_its_header(tmp_path, mark):
    path = tmp_path / "x.log"
    path.write_text(mark.join(("host", "Latency (us)", "op", "time")) + "\n")
    assert source_of(path).KIND == "table of samples"


def test_other_tables_are_none():
    for header in ("time,runtime", "jobid,start,elapsed", "a,b,c", "time,value", "name,size"):
        assert not columns_of(header.split(",")).near, header


def test_the_page_lists_the_words_and_the_limits():
    page = (Path(__file__).parents[2] / "docs" / "importing.md").read_text()
    for op, words in OPS.items():
        assert f"| `{op}` | `{' '.join(words)}`" in page
    for words in (*_TIMES.values(), *_SPANS.values(), *_WORDS.values()):
        missing = [word for word in words if not re.search(rf"\b{word}", page)]
        assert missing == []
    said = " ".join(page.split())
    assert f"to {foreign._DIGITS} digits" in said
    assert f"at least {foreign._REGULAR:.0%} of at least {foreign._FEWEST_STEPS} steps" in said
    assert f"within {foreign._NEAR:.0%} of it" in said
    assert f"its name and first {_KNOWN_BY_ROWS} rows" in said
    years = [datetime.fromtimestamp(ns / 1e9, UTC).year for ns in (EARLIEST_NS, LATEST_NS)]
    assert f"between {years[0]} and {years[1]}" in said
