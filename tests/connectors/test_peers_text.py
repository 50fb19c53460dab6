"""Readers of the peers' texts: every dialect, every number, hostile files too."""

from __future__ import annotations

import contextlib
import csv
import gzip
import random
import re
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.connectors.benchmarks import ioprobing
from iosonde.connectors.benchmarks.kinds import KINDS
from iosonde.connectors.benchmarks.mdtest import ops as mdtest_ops
from iosonde.connectors.benchmarks.mdtest import ranks as mdtest_ranks
from iosonde.connectors.benchmarks.mdtest import text as mdtest
from iosonde.connectors.benchmarks.mdworkbench import text as mdworkbench_text
from iosonde.connectors.benchmarks.mdworkbench.line import believable, parse
from iosonde.connectors.lines import FileDefaults
from iosonde.ingest.bandwidth import KINDS as BANDWIDTH
from iosonde.ingest.recognise import source_of
from iosonde.model.errors import InputFileError
from iosonde.model.frames import NULL_NS, Frame
from iosonde.model.ops import OPS
from iosonde.model.units import to_ns
from tests.kit.records import peers
from tests.kit.samples.latencies import MEASURING
from tests.kit.samples.makers import SECOND

GIVEN = FileDefaults("run", zone=UTC)
READERS = {
    "md-workbench": mdworkbench_text.read_text,
    "mdtest": mdtest.read_text,
    "ranks": mdtest_ranks.read_ranks,
}
real_data = pytest.mark.skipif(
    not MEASURING.is_dir(), reason=f"real results are not in {MEASURING} (IOSONDE_DATA)"
)


def rows_of(path, text=None, reader="md-workbench", told=None):
    if text is not None:
        path = path / "x.txt"
        path.write_text(text)
    errors = [] if told is None else told
    rows = list(READERS[reader](path, GIVEN, errors.append))
    assert told is not None or errors == []
    return rows


def pick(rows, **wanted):
    return [row for row in rows if all(getattr(row, k) == v for k, v in wanted.items())]


def test_texts_of_2016_have_no_size_of_the_working_set(tmp_path):
    rows = rows_of(tmp_path, peers.TEXT_2016.replace("=1\n", "=1 \n"))
    (whole,) = pick(rows, phase="benchmark", rank=None, op=None)
    assert (whole.target, whole.backend, whole.ranks) == ("/old/tree", "posix", 2)
    assert (whole.ops, whole.failed, whole.rate_per_s, whole.complete) == (160, 0, 80.0, True)
    assert whole.parameters["total_objects"] == 160
    assert "working_set_mib" not in whole.parameters
    (first,) = pick(rows, phase="precreate", rank=None, op=None)
    assert first.began_ns == to_ns(datetime(2016, 5, 1, 8, tzinfo=UTC))
    assert [row.duration_ns for row in pick(rows, phase="benchmark", op=None)] == [
        2 * SECOND,
        1_600_000_000,
        2 * SECOND,
    ]


def test_adaptive_runs_with_lines_of_ranks(tmp_path):
    rows = rows_of(tmp_path, peers.adaptive())
    assert len(rows) == 2 + 6 * 3 * 5 + 2
    assert {row.waiting_factor for row in pick(rows, phase="benchmark")} == {0.0, 1 / 16, 4.0}
    (one,) = pick(rows, phase="benchmark", repetition=1, waiting_factor=1 / 16, op=None, rank=None)
    assert (one.ops, one.failed, one.ranks, one.complete) == (320, 0, 2, True)
    assert (one.duration_ns, one.rate_per_s, one.balance) == (SECOND // 2, 640.0, 0.8)
    assert one.bytes == 2 * 80 * 4000
    assert one.parameters["reported"]["tp_mib_per_s"] == 2.5
    (create,) = pick(rows, op="md_create", rank=1, repetition=0, waiting_factor=4.0)
    assert (create.ops, create.rate_per_s, create.min_ns, create.q50_ns) == (40, 80, 5e3, 2e4)
    # 40 operations are too few for q99: the stand-alone program reads past its array below 100.
    assert (create.q90_ns, create.q99_ns, create.max_ns) == (4e4, None, 6e4)
    assert {row.target for row in rows} == {"/made/tree"}
    first, last = pick(rows, op=None, rank=None)[0], rows[-2]
    assert first.began_ns == to_ns(datetime(2026, 3, 1, 12, tzinfo=UTC))
    assert {row.began_ns for row in rows[2:]} == {None}
    assert last.parameters["reported"]["total_runtime_s"] == 9
    assert len({row.key for row in rows}) == len(rows)


def test_2017(tmp_path):
    rows = rows_of(tmp_path, peers.TEXT_2017)
    assert [row.ops for row in pick(rows, op="md_create")] == [200, 200, 198]
    bad = pick(rows, phase="benchmark", repetition=1, op=None)[0]
    assert (bad.failed, bad.ops, bad.ranks, bad.rate_per_s) == (2, 4 * 198 + 2, 2, 396.0)
    assert pick(rows, op="md_create", repetition=1)[0].rate_per_s == 99.0
    assert all(row.q50_ns is None for row in rows)


def test_detailed_counts(tmp_path):
    rows = rows_of(tmp_path, peers.COUNTS)
    assert [(r.phase, r.ops, r.failed) for r in pick(rows, op=None)] == [
        *(("precreate", 200, None), ("benchmark", 80, None), ("cleanup", None, 4))
    ]
    assert pick(rows, op="md_stat")[0].duration_ns == 20_000_000
    assert pick(rows, phase="precreate", op=None)[0].parameters["reported"]["with_barrier_s"] == 0.2


def test_the_tree_of_ior_does_not_read_past_its_arrays(tmp_path):
    rows = rows_of(tmp_path, peers.line("benchmark", 40, digits=2) + "\n")
    (read,) = pick(rows, op="md_read")
    assert read.parameters["dialect"] == "ior"
    assert read.parameters["reported"] == {"q99_s": 5e-5}
    assert read.q99_ns is None


def test_quiet_lines_stonewall_and_read_only(tmp_path):
    quiet = peers.line("benchmark", errs=None, ops=("read", "stat"))
    rows = rows_of(tmp_path, f'Args: ./md-workbench "-D=2" "-I=50" "-w=3" "-q"\n{quiet}\n')
    assert [row.op for row in rows] == [None, "md_read", "md_stat"]
    assert {row.failed for row in rows} == {None}
    walled = peers.line("benchmark").replace("(0 errs)", "(0 errs) stonewall-iter:7")
    (whole, *_) = rows_of(tmp_path, walled + "\n")
    assert whole.parameters["reported"]["stonewall_iter"] == 7


def test_each_start_in_a_file_is_a_run(tmp_path):
    start = 'Args: ./md-workbench "-P=50" "-D=2" "-I=20" "-R=1" "-q"\n'
    rows = rows_of(
        tmp_path, (start + peers.line("benchmark", errs=None) + "\nrun-info: pos: 20\n") * 3
    )
    assert [row.run_id for row in pick(rows, op=None)] == ["run", "run-2", "run-3"]
    assert {(row.repetition, row.ranks) for row in rows} == {(0, 2)}


def test_a_line_that_cannot_be_read_is_told_and_the_others_count(tmp_path):
    lines = peers.adaptive().splitlines()
    lines[20] = lines[20].replace("tp:", "pt:")
    lines.append(peers.line("cleanup")[:90])
    told = []
    rows = rows_of(tmp_path, "\n".join(lines), told=told)
    assert len(rows) == 2 + 17 * 5 + 2
    assert [f"line {n}: " in str(e) for n, e in zip((21, len(lines)), told, strict=True)] == [
        True
    ] * 2
    assert "cannot read 'pt:2.5" in str(told[0])
    assert all("expected a line such as" in str(error) for error in told)


def test_credentials_in_arguments_are_not_kept(tmp_path):
    text = 'Args: ./md-workbench "-i=s3" "-I=20" "--" "-s=topsecret" "--password=topsecret"\n'
    assert "topsecret" not in repr(rows_of(tmp_path, text + peers.line("benchmark") + "\n"))


@given(st.integers(1, 300), st.booleans())
def test_quantiles_are_left_out_by_their_place(n, bounded):
    found = believable((1.0,) * 7, n, bounded=bounded)
    missing = {"q25", "q75", "q90", "q99"} - set(found)
    beyond = {"q25": n <= 1, "q75": n <= 3, "q90": n <= 9, "q99": n <= 99}
    assert missing == ({name for name, is_ in beyond.items() if is_} if not bounded else set())


def test_mdtest(tmp_path):
    rows = rows_of(tmp_path, peers.MDTEST, "mdtest")
    assert [(row.phase, row.op) for row in rows] == [
        *(("create", None), ("create", "md_create"), ("stat", None), ("stat", "md_stat")),
        ("tree_delete", None),
    ]
    create = rows[0]
    assert (create.rate_per_s, create.ops, create.duration_ns) == (400.0, 40, SECOND // 10)
    assert (create.balance, create.ranks, create.bytes) == (0.8, 4, 4000)
    reported = create.parameters["reported"]
    assert (reported["rate_rank_mean"], reported["time_ms_rank_max"]) == (110.0, 2.5)
    assert create.machine["fs_used_percent"] == 25.5
    assert rows[-1].ops is None
    assert all(row.complete for row in rows)
    cut = rows_of(tmp_path, peers.MDTEST.partition("SUMMARY time")[0], "mdtest")
    assert not any(row.complete for row in cut)


def test_mdtest_of_2017_has_each_iteration(tmp_path):
    rows = rows_of(tmp_path, peers.MDTEST_2017 + peers.MDTEST, "mdtest")
    creates = pick(rows, run_id="run", op="md_create")
    assert [(r.repetition, r.rate_per_s, r.duration_ns) for r in creates] == [
        (0, 100.0, 400_000_000),
        (1, 200.0, 200_000_000),
    ]
    last = pick(rows, run_id="run", phase="create", op=None, repetition=1)[0]
    assert last.parameters["reported"]["rate_std_dev"] == 50.0
    assert len(pick(rows, run_id="run-2")) == 5


def test_ranks_of_mdtest(tmp_path):
    rows = rows_of(tmp_path, peers.RANKS, "ranks")
    whole = pick(rows, rank=None, phase="create", op=None)
    assert [(r.repetition, r.ops, r.ranks, r.balance) for r in whole] == [
        (0, 20, 2, 0.5),
        (1, 20, 1, 1),
    ]
    assert pick(rows, rank=1, op="md_create")[0].rate_per_s == 50.0
    assert pick(rows, phase="tree_delete")[0].ops == 1
    told = []
    rows_of(tmp_path, peers.RANKS + "x,,1\n0,,nan\n0,,1e2,1e", "ranks", told)
    assert len(told) == 3


def log_of(tmp_path, text):
    path = tmp_path / "log.txt"
    path.write_text(text)
    told = []
    log = ioprobing.ProbingLog(path, GIVEN, told.append)
    pieces = list(log.pieces())
    frames = [piece for piece in pieces if isinstance(piece, Frame)]
    names = ("op", "stretch", "time_ns", "runtime_ns", "offset_bytes")
    columns = {n: np.concatenate([np.empty(0, np.int64), *(f[n] for f in frames)]) for n in names}
    return log, Frame(columns), [p for p in pieces if not isinstance(p, Frame)], told


def test_every_round_of_io_probing_is_a_sample_an_op(tmp_path):
    log, frame, rows, told = log_of(tmp_path, peers.probing(5))
    assert (told, rows, len(frame), log.rounds) == ([], [], 30, 5)
    assert (log.uninitialised, log.period_ns, log.ranks) == (5 * 16, SECOND, 1)
    assert (log.size_bytes, log.block_bytes, log.root) == (2000, 65536, "/made/probed")
    stats = frame.take(frame["op"] == OPS.index("md_stat"))
    assert (stats["time_ns"] / SECOND).tolist() == [0, 1, 3, 4, 5]
    assert stats["runtime_ns"].tolist() == [1_000_000 * (i + 1) for i in range(5)]
    writes = frame.take(frame["op"] == OPS.index("data_write"))
    assert set(writes["runtime_ns"]) == {2_000_000}
    assert writes["offset_bytes"].tolist() == [65536 * i for i in range(5)]


def test_sums_over_ranks_become_means(tmp_path):
    log, frame, _, _ = log_of(tmp_path, peers.probing(2, ranks=3))
    reads = frame.take(frame["op"] == OPS.index("data_read"))
    assert (log.ranks, set(reads["runtime_ns"])) == (3, {4_000_000})
    assert set(reads["offset_bytes"]) == {NULL_NS}


def test_precreate_with_its_end_glued_on_is_a_run(tmp_path):
    _, frame, rows, told = log_of(tmp_path, peers.PRECREATE + peers.probing(1))
    assert (told, len(frame), [row.op for row in rows]) == ([], 6, [None, "md_create"])
    assert rows[1].q99_ns is None  # 20 objects
    assert rows[0].source == "io-probing"


def test_failed_operations_have_no_runtime(tmp_path):
    text = peers.probing(1).replace("(0 errs)", "(1 errs!!!)")
    text = re.sub(r" stat\([^)]*\)", "", text)
    _, frame, _, _ = log_of(tmp_path, text)
    stats = frame.take(frame["op"] == OPS.index("md_stat"))
    assert stats["runtime_ns"].tolist() == [NULL_NS]


def test_a_log_cut_in_a_record_keeps_its_good_lines(tmp_path):
    text = peers.probing(3)
    for place in range(0, len(text), 97):
        _, frame, _, told = log_of(tmp_path, text[:place] + "\nArgs: again\n" + peers.probing(2))
        assert len(frame) >= 12
        assert all("line " in str(error) and "expected" in str(error) for error in told)
    _, frame, _, told = log_of(tmp_path, text[: text.rindex("write")])
    assert len(frame) == 16
    assert "the log ends within a record, which began in line" in str(told[0])


def test_rounds_of_one_second_stay_apart_and_days_are_stretches(tmp_path):
    text = peers.probing(3, 1_790_035_198).replace("timestamp 1790035199", "timestamp 1790035198")
    log, frame, _, _ = log_of(tmp_path, text)
    due = [
        log.stretches[s].first_ns + t
        for s, t in zip(frame["stretch"], frame["time_ns"], strict=True)
    ]
    assert len(set(due)) == 3
    assert [s.first_ns // SECOND for s in log.stretches] == [1_790_035_198, 1_790_035_201]


def test_every_kind_is_recognised_by_what_it_holds(tmp_path):
    found = {}
    for name, text in peers.ALL.items():
        path = tmp_path / f"{len(found)}.gz"
        path.write_bytes(gzip.compress(text.encode()))
        found[name] = source_of(path).KIND
    assert set(found.values()) | {"latencies of md-workbench", "table of samples"} == set(
        KINDS
    ) - set(BANDWIDTH)
    assert found["precreate.txt"] == found["probing.txt"] == "log of io-probing"
    path.write_bytes(b"\x00\xff" * 99)
    with pytest.raises(InputFileError, match="the first line is"):
        source_of(path)
    with pytest.raises(InputFileError, match="cannot read"):
        source_of(tmp_path / "absent")


def consume(path):
    """Read a file as whatever it is taken for; what is told has a place."""
    told = []
    try:
        kind = source_of(path).KIND
        if kind == "log of io-probing":
            list(ioprobing.ProbingLog(path, GIVEN, told.append).pieces())
        elif kind == "latencies of mdtest":
            list(mdtest_ops.read_ops(path))
        elif kind != "latencies of md-workbench":
            reader = {"mdtest's table of ranks": "ranks", "text of mdtest": "mdtest"}.get(
                kind, "md-workbench"
            )
            rows = list(READERS[reader](path, GIVEN, told.append))
            assert all(row.ops is None or row.ops >= 0 for row in rows)
    except InputFileError as error:
        told.append(error)
    assert all(str(path) in str(error) for error in told)


@pytest.mark.parametrize("name", peers.ALL)
def test_mutated_files_are_read_or_named(tmp_path, name):
    """Cut, doubled, swapped, bytes changed: never anything but rows and InputFileError."""
    rng = random.Random(name)
    good = peers.ALL[name].encode()
    path = tmp_path / name
    for _ in range(60):
        data = bytearray(good)
        for _ in range(rng.randrange(1, 5)):
            a, b = sorted(rng.randrange(len(data) + 1) for _ in range(2))
            b = min(b, a + 200)
            match rng.randrange(6):
                case 0:
                    del data[a:b]
                case 1:
                    data[a:a] = data[a:b]
                case 2:
                    data[a:b] = bytes(rng.randrange(256) for _ in range(min(b - a, 20)))
                case 3:
                    data[a:a] = rng.choice(
                        [b"9" * 40, b"-nan", b"1e999", b"\n", b"\t", b"\0", b","]
                    )
                case 4:
                    data = data[:b] or bytearray(b"x")
                case _:
                    data = bytearray(
                        re.sub(
                            rb"\d+",
                            lambda _: str(rng.randrange(10**12)).encode(),
                            bytes(data),
                            count=3,
                        )
                    )
        path.write_bytes(gzip.compress(bytes(data)) if rng.random() < 0.1 else bytes(data))
        consume(path)


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(["benchmark process ", "3: cleanup process ", "precreate ", ""]),
    st.text(max_size=60),
)
def test_any_line_is_parsed_or_refused(begin, text):
    with contextlib.suppress(ValueError):
        parse(begin + text)


def numbers(text):
    return [float(n) for n in re.findall(r"[-\d.]+e[-+]\d+(?=s)", text)]


@real_data
def test_every_quantile_of_the_real_texts_is_found_again():
    """Against a count by regular expression: sums of all seven columns over all lines."""
    for name in ("mdw-posix-2p", "mdw-adaptive-2p-ext4", "mdw-regression-phases"):
        path = MEASURING / "md-workbench" / f"{name}.txt"
        rows = rows_of(path)
        text = path.read_text()
        lines = re.findall(r"^(?:\d+: )?(?:precreate|benchmark|cleanup) process", text, re.M)
        assert len([row for row in rows if row.op is None]) == len(lines)
        tuples = re.findall(r"\w+\(([^)]*s)\)", text)
        assert len([row for row in rows if row.op is not None]) == len(tuples)
        names = ("min", "q25", "q50", "q75", "q90", "q99", "max")
        stored = sum(getattr(row, f"{n}_ns") or 0.0 for row in rows if row.op for n in names)
        assert stored == pytest.approx(1e9 * sum(sum(numbers(t)) for t in tuples), rel=1e-12)
        rates = [float(v) for v in re.findall(r"rate:([\d.]+) iops/s", text)]
        assert sum(row.rate_per_s for row in rows if row.op is None) == pytest.approx(sum(rates))
        for word in ("max", "min", "mean"):
            values = [
                float(v) for v in re.findall(rf"\b{word}: ?([\d.]+)s\b", text.replace("op-max", ""))
            ]
            got = [r.parameters["reported"].get(f"{word}_s", 0.0) for r in rows if r.op is None]
            assert sum(got) == pytest.approx(sum(values))


@real_data
def test_every_number_of_the_real_tables_of_mdtest_is_found_again():
    for name in ("mdtest/mdtest.txt", "data/mdtest-mistral-lustre01-10nodes-200procs.txt"):
        rows = rows_of(MEASURING / name, reader="mdtest")
        table = re.findall(
            r"^   (?:File|Tree) \w+\s*:?((?:\s+[\d.]+)+)$", (MEASURING / name).read_text(), re.M
        )
        wanted = sum(float(v) for row in table for v in row.split())
        got = [
            v for r in rows for k, v in r.parameters.get("reported", {}).items() if k != "ended_ns"
        ]
        assert sum(got) == pytest.approx(wanted, rel=1e-12)
    rows = rows_of(MEASURING / "mdtest/mdtest-rank.csv", reader="ranks")
    cells = re.findall(r"\d\.\d+e[-+]\d+", (MEASURING / "mdtest/mdtest-rank.csv").read_text())
    whole = [row for row in rows if row.op is None]
    assert 2 * len(whole) == len(cells)
    got = sum(row.rate_per_s + row.duration_ns / 1e9 for row in whole)
    assert got == pytest.approx(sum(map(float, cells)), rel=1e-9)


@real_data
def test_the_real_logs_of_io_probing():
    path = MEASURING / "io-probing" / "iop-run.txt"
    log = ioprobing.ProbingLog(path, GIVEN, pytest.fail)
    (frame,) = log.pieces()
    parsed = list(csv.DictReader((path.parent / "parsed-by-parse.py.csv").read_text().splitlines()))
    names = {"md-read": "md_read", "md-stat": "md_stat", "md-create": "md_create"}
    names |= {"md-delete": "md_delete", "write": "data_write", "read": "data_read"}
    # The peer's own script drops the last record of every log.
    assert log.rounds == len(parsed) + 1
    for column, op in names.items():
        mine = frame["runtime_ns"][frame["op"] == OPS.index(op)][: len(parsed)]
        assert mine.tolist() == [round(float(row[column]) * 1e9) for row in parsed]
