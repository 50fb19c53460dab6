"""IOR's summaries in JSON and CSV, its tables of ranks, its files of operations."""

from __future__ import annotations

import json
import random
import re
from datetime import UTC

import numpy as np
import pytest

from iosonde.connectors.benchmarks.ior import ops as ior_ops
from iosonde.connectors.benchmarks.ior import ranks as ior_ranks
from iosonde.connectors.benchmarks.ior import summary
from iosonde.connectors.benchmarks.ior.assemble import finish, transfers_of_run
from iosonde.connectors.benchmarks.ior.loose_json import load
from iosonde.connectors.lines import FileDefaults
from iosonde.ingest.ior_files import IorPaths, read_ior
from iosonde.ingest.phase_tails import say_tail, tails_of
from iosonde.model.errors import InputFileError
from tests.kit.records import ior_made as made
from tests.kit.records.ior_made import BEGAN, GIB, MIB
from tests.kit.records.peers import RANKS as MDTEST_RANKS
from tests.kit.samples.makers import SECOND

GIVEN = FileDefaults("run", zone=UTC)


def put(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def read(reader, folder, content, told=None):
    errors = [] if told is None else told
    runs = list(reader(put(folder, "x", content), GIVEN, errors.append))
    for run in runs:
        finish(run, GIVEN)
    assert told is not None or errors == []
    return runs


def wholes(run):
    return [row for row in run.rows if row.op is None and row.rank is None]


BROKEN = {
    "a comma is missing": lambda t: re.sub(r'("TestID": 0),', r"\1", t),
    "no number": lambda t: t.replace('"openTime": 0.0', '"openTime": -nan', 1),
    "inf is no number": lambda t: t.replace('"closeTime": 0.001', '"closeTime": inf', 1),
    "a quote": lambda t: t.replace("ior -F", 'ior -O "a=b" -F'),
    "or backslash": lambda t: t.replace("ior -F", "ior -O a\\qb -F"),
    "a line of the log": lambda t: t.replace(
        '"Results": [', "WARNING: Expected aggregate file size = 1\n" + '"Results": ['
    ),
    "closes nothing": lambda t: t.replace('"summary": []', '"summary": []]'),
    "ends within": lambda t: t[: t.rindex('"summary"')],
}


@pytest.mark.parametrize("what", BROKEN)
def test_json_that_is_none_says_the_same_and_where_it_is_not(tmp_path, what):
    (good,) = read(summary.read_json, tmp_path, made.as_json())
    broken = BROKEN[what](made.as_json())
    with pytest.raises(ValueError, match=r".+"):
        json.loads(broken, parse_constant=float.fromhex)
    told = []
    (run,) = read(summary.read_json, tmp_path, broken, told)
    assert [(r.phase, r.repetition, r.bytes, r.duration_ns) for r in wholes(run)] == [
        (r.phase, r.repetition, r.bytes, r.duration_ns) for r in wholes(good)
    ]
    assert len(told) == 1
    assert re.search(r"line \d+: no JSON; assumed: ", str(told[0]))
    assert what in str(told[0])


@pytest.mark.parametrize("nested", [False, True])
def test_json(tmp_path, nested):
    (run,) = read(summary.read_json, tmp_path, made.as_json(nested))
    rows = wholes(run)
    assert [(row.phase, row.repetition) for row in rows] == [
        ("write", 0),
        ("read", 0),
        ("write", 1),
        ("read", 1),
    ]
    first = rows[0]
    assert (first.bytes, first.ops, first.ranks, first.host) == (4 * GIB, 1024, 4, "n1")
    assert (first.pattern, first.target, first.backend) == ("own", "/made/f", "posix")
    assert (first.duration_ns, first.began_ns) == (20 * SECOND, BEGAN * SECOND)
    assert rows[1].began_ns is None
    # Four decimals: an open below 50 us is not one of 0 s.
    assert "open_s" not in first.parameters["reported"]
    assert first.parameters["reported"]["close_s"] == 0.001


def test_only_a_summary_of_json_is_there(tmp_path):
    whole = json.loads(made.as_json())
    whole["tests"][0]["Results"] = []
    whole["summary"] = [
        {
            **{"operation": "write", "TestID": 0, "numTasks": 4, "segmentCount": 1},
            **{"repetitions": 3, "bwMeanMIB": 204.8, "MeanTime": 20.0, "xsizeMiB": 4096.0},
        }
    ]
    (run,) = read(summary.read_json, tmp_path, json.dumps(whole))
    (row,) = wholes(run)
    assert (row.bytes, row.duration_ns) == (4 * GIB, 20 * SECOND)
    assert row.parameters["reported"]["mean_of_repetitions"] == 3


def test_json_without_an_object(tmp_path):
    with pytest.raises(InputFileError, match="there is no object of JSON"):
        read(summary.read_json, tmp_path, "[1, 2]")


@pytest.mark.parametrize("seed", range(80))
def test_damaged_json_never_raises(tmp_path, seed):
    rng = random.Random(seed)
    data = made.as_json(bool(seed % 2))
    for _ in range(rng.randrange(1, 8)):
        at = rng.randrange(len(data))
        junk = ("", "nan", "{", "]", "[" * 200, '"', "\\", "\0", "9" * 500, "1e999", ",", ":", "é")
        data = data[:at] + rng.choice(junk) + data[at + rng.randrange(4) :]
    if seed % 3 == 0:
        data = data[: rng.randrange(len(data))]
    value, assumed = load(data)
    assert all(one.line >= 1 for one in assumed)
    told = []
    try:
        runs = read(summary.read_json, tmp_path, data, told)
    except InputFileError:
        return
    assert isinstance(value, dict)
    for run in runs:
        assert all(row.bytes is None or 0 <= row.bytes < 2**63 for row in run.rows)


def test_csv(tmp_path):
    (run,) = read(summary.read_csv, tmp_path, made.CSV)
    write, read_ = wholes(run)
    assert (write.bytes, write.ops, write.ranks, write.duration_ns) == (
        4 * GIB,
        1024,
        4,
        20 * SECOND,
    )
    assert "open_s" not in write.parameters["reported"]
    assert read_.parameters["reported"]["open_s"] == 0.0001
    more = made.CSV + made.CSV.partition("\n")[2]
    assert [run.run_id for run in read(summary.read_csv, tmp_path, more)] == ["run", "run-2"]
    told = []
    (part,) = read(summary.read_csv, tmp_path, made.CSV[:-9], told)
    assert len(wholes(part)) == 1
    assert "line 3: the row is" in str(told[0])


def test_csv_whose_bytes_follow_from_nothing(tmp_path):
    """Bandwidth and time make no whole number of segments: a time limit cut it."""
    content = made.CSV.replace("204.8000", "300.0000", 1)
    (run,) = read(summary.read_csv, tmp_path, content)
    row = wholes(run)[0]
    assert row.bytes == 300 * MIB * 20
    assert row.parameters["reported"]["bytes_estimated"]


def test_a_table_of_ranks_alone(tmp_path):
    (run,) = read(ior_ranks.read_table, tmp_path, made.rank_table())
    (row,) = wholes(run)
    assert (row.bytes, row.duration_ns, row.ranks) == (4 * GIB, 20_002_000_000, 4)
    assert row.balance == 0.5
    slow = [one for one in run.rows if one.rank == 3 and one.op]
    # Its throughput is the mean rank's bytes over its own time: what it moved itself is not there.
    assert (slow[0].bytes, slow[0].duration_ns) == (None, 20 * SECOND)
    (tail,) = tails_of(run)
    assert (tail.source, tail.assumed, tail.loss) == (
        "ranks",
        True,
        pytest.approx(made.LOSS, rel=1e-3),
    )
    assert say_tail(tail).endswith("(if each rank moved as much)")


def test_a_table_of_ranks_with_what_is_no_row(tmp_path):
    told = []
    content = made.rank_table() + "write,4,nan,inf,1,1\nwrite,x,1,1,1,1\nwrite,5,1.0,"
    (run,) = read(ior_ranks.read_table, tmp_path, content, told)
    assert [row.duration_ns for row in run.rows if row.rank == 4] == [None, None]
    assert [re.search(r"line \d+", str(error))[0] for error in told] == ["line 7", "line 8"]


def test_reads_that_a_check_made_equal(tmp_path):
    (run,) = read(
        ior_ranks.read_table, tmp_path, made.rank_table("read", (20.0, 20.001, 20.0, 20.002))
    )
    assert list(tails_of(run)) == []
    assert wholes(run)[0].parameters["reported"]["flags"] == ["ranks-equalised"]
    (run,) = read(ior_ranks.read_table, tmp_path, made.rank_table("read"))
    assert next(iter(tails_of(run))).loss == pytest.approx(made.LOSS, rel=1e-3)


def together(folder, **content):
    """Files read together; texts, tables and operations by the names of keywords."""
    given = {name.replace("__", "-").replace("_dot_", "."): text for name, text in content.items()}
    paths = [put(folder, name, text) for name, text in given.items()]
    told = []
    texts = [(path, "text of IOR") for path in paths if path.name.endswith(".txt")]
    ranks = [path for path in paths if "ranks" in path.name]
    operations = [path for path in paths if path.name.startswith("op")]
    found = read_ior(
        IorPaths(texts, ranks, operations),
        lambda path: GIVEN._replace(run=path.name.partition(".")[0]),
        lambda _: told.append,
    )
    return [run for run, _ in found.runs], told


def command(more):
    return made.head(command=f"-F -t 4m -b 1g {more}") + made.options() + made.NEW


def test_operations_belong_to_the_text_that_asked_for_them(tmp_path):
    text = command("-w -O savePerOpDataCSV=/x/op") + made.row("write")
    files = {f"op__0__0000{rank}_dot_csv": made.ops(s) for rank, s in enumerate(made.ENDS)}
    (run,), told = together(tmp_path, a_dot_txt=text, **files)
    assert told == []
    op = next(row for row in run.rows if row.op == "data_write" and row.rank is None)
    assert (op.ops, op.bytes) == (1024, 4 * GIB)
    times = np.concatenate([np.full(256, s / 256) for s in made.ENDS]) * 1e9
    assert op.mean_ns == pytest.approx(times.mean(), abs=2)
    assert op.q75_ns == pytest.approx(10e9 / 256, abs=2)
    assert op.max_ns == pytest.approx(20e9 / 256, abs=2)
    assert op.op_time_ns == pytest.approx(50e9, abs=1000)
    slow = next(row for row in run.rows if row.op == "data_write" and row.rank == 3)
    assert (slow.ops, slow.bytes, slow.min_ns) == (256, GIB, pytest.approx(20e9 / 256, abs=2))
    (tail,) = tails_of(run)
    assert (tail.source, tail.assumed) == ("operations", False)
    assert tail.loss == pytest.approx(made.LOSS, abs=1e-3)


def test_rates_of_operations_hold_every_byte(tmp_path):
    text = command("-vvv -w -O savePerOpDataCSV=op") + made.timers("write") + made.row("write")
    files = {f"op__0__0000{rank}_dot_csv": made.ops(s) for rank, s in enumerate(made.ENDS)}
    (run,), _ = together(tmp_path, a_dot_txt=text, **files)
    found = transfers_of_run(run)
    assert found.rates.bytes.sum() == pytest.approx(4 * GIB, abs=200)
    assert found.bytes.tolist() == [GIB] * 4
    last = found.rates.begin_ns.max() - found.transfer_begin_ns.min()
    assert 19.5 * SECOND < last < 20 * SECOND
    assert next(iter(tails_of(run))).source == "timers"


def test_the_read_wrote_over_the_write(tmp_path):
    text = command("-O savePerOpDataCSV=op") + made.row("write") + made.row("read", (10.0,) * 4)
    (run,), _ = together(tmp_path, a_dot_txt=text, op__0__00000_dot_csv=made.ops(10.0))
    assert "the read phase wrote over the operations of the writes" in run.remarks[0]
    write, read_ = (
        next(row for row in run.rows if row.op == f"data_{way}" and row.rank is None)
        for way in ("write", "read")
    )
    assert (write.q50_ns, read_.q50_ns) == (None, pytest.approx(10e9 / 256, abs=2))
    assert list(tails_of(run)) == []  # of one rank out of four


def test_operations_alone_may_be_either(tmp_path):
    files = {f"op__1__0000{rank}_dot_csv": made.ops(s) for rank, s in enumerate(made.ENDS)}
    (run,), _ = together(tmp_path, **files)
    assert "may be writes or reads" in run.remarks[0]
    (row,) = wholes(run)
    assert (row.phase, row.repetition, row.bytes, row.ranks) == ("transfer", 1, 4 * GIB, 4)
    assert {row.op for row in run.rows} == {None}
    assert next(iter(tails_of(run))).loss == pytest.approx(made.LOSS, abs=1e-3)


def test_rows_of_operations_that_are_none(tmp_path):
    told = []
    content = made.ops(10.0, 4) + "1,nan,1\n-1,1,1\n1e300,1,1\nx\n5.0,1.0,inf\n6.0,1.0"
    found = ior_ops.read_ops(put(tmp_path, "op-0-00000.csv", content), 0, told.append)
    assert len(found.rank) == 5
    assert found.bytes.tolist() == [4 * MIB] * 5
    assert [re.search(r"line (\d+)", str(error))[1] for error in told] == ["6", "7", "8", "9", "11"]


def test_names_of_files_of_operations():
    assert ior_ops.parse_name("a-b-0-00012.csv") == ("a-b", 0, 12)
    assert ior_ops.parse_name("op-3-00000.NOTE-OF-SOMEBODY.csv.gz") == ("op", 3, 0)
    assert ior_ops.parse_name("p-File creation-00000.csv") is None
    assert ior_ops.parse_name("op-00000.csv") is None


def test_a_table_of_ranks_belongs_to_its_text(tmp_path):
    text = command("-w -O saveRankPerformanceDetailsCSV=/y/my-ranks.csv") + made.row("write")
    (run,), told = together(tmp_path, a_dot_txt=text, my__ranks_dot_csv=made.rank_table())
    assert told == []
    slow = next(row for row in run.rows if row.rank == 3 and row.op)
    assert (slow.bytes, slow.ops) == (GIB, 256)  # no limit: each rank moved as much
    (tail,) = tails_of(run)
    assert (tail.source, tail.assumed) == ("ranks", False)


def test_a_table_of_mdtest_is_none_of_ior(tmp_path):
    with pytest.raises(InputFileError, match="line 1: the first line is"):
        read(ior_ranks.read_table, tmp_path, MDTEST_RANKS)
