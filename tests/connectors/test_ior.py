"""IOR's texts: every version, what it says wrongly, lines that ranks tore, the environment."""

from __future__ import annotations

import random
import re
from datetime import UTC

import numpy as np
import pytest

from iosonde.connectors.benchmarks.ior import text
from iosonde.connectors.benchmarks.ior.assemble import finish, transfers_of_run
from iosonde.connectors.lines import FileDefaults
from iosonde.ingest.phase_tails import say_tail, tails_of, with_tails
from iosonde.model.frames import NULL_NS
from tests.kit.records import ior_made as made
from tests.kit.records.ior_made import BEGAN, GIB, MIB
from tests.kit.samples.makers import SECOND

GIVEN = FileDefaults("run", zone=UTC)


def runs_of(folder, content, told=None):
    path = folder / "ior.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    errors = [] if told is None else told
    runs = list(text.read_text(path, GIVEN, errors.append))
    for run in runs:
        finish(run, GIVEN)
    assert told is not None or errors == []
    return runs


def whole(run, phase="write", op=None, rank=None, repetition=0):
    (row,) = [
        row
        for row in run.rows
        if (row.phase, row.op, row.rank, row.repetition) == (phase, op, rank, repetition)
    ]
    return row


def reported(row):
    return row.parameters.get("reported", {})


@pytest.mark.parametrize("version", made.VERSIONS)
def test_every_version_says_the_same(tmp_path, version):
    (run,) = runs_of(tmp_path, made.log(version))
    row = whole(run)
    assert (row.instrument, row.source, row.backend, row.pattern) == (
        "bandwidth",
        "ior",
        "posix",
        "own",
    )
    assert (row.host, row.target, row.ranks, row.complete) == ("n1", "/made/f", 4, True)
    assert (row.bytes, row.ops, row.duration_ns) == (4 * GIB, 1024, 20_002_000_000)
    assert row.began_ns == BEGAN * SECOND
    assert row.balance == 0.5
    op = whole(run, op="data_write")
    assert op.duration_ns == 20 * SECOND
    assert op.op_time_ns == 50 * SECOND
    assert op.mean_ns == pytest.approx(50e9 / 1024)
    assert whole(run, "read").began_ns == (BEGAN + 100) * SECOND
    slow = whole(run, op="data_write", rank=3)
    assert (slow.bytes, slow.ops, slow.duration_ns) == (GIB, 256, 20 * SECOND)
    assert slow.host == "import"
    assert whole(run, rank=0).duration_ns == 10_002_000_000
    asked = row.parameters
    assert (asked["transfer_bytes"], asked["block_bytes"], asked["segments"]) == (4 * MIB, GIB, 1)
    assert asked["tool_version"] == version
    assert len({row.key for row in run.rows}) == len(run.rows) == 2 * (2 + 2 * 4)


@pytest.mark.parametrize("version", made.VERSIONS)
def test_the_tail_is_what_the_slow_rank_costs(tmp_path, version):
    (run,) = runs_of(tmp_path, made.log(version))
    write, read = tails_of(run)
    assert (write.source, write.assumed, write.ranks) == ("timers", False, 4)
    assert write.sustained == pytest.approx(0.35 * GIB)
    assert write.first == pytest.approx(0.35 * GIB)
    assert write.last == pytest.approx(4 * GIB / 20.002)  # with open and close
    assert write.loss == pytest.approx(made.LOSS, rel=1e-3)
    assert read.phase == "read"
    assert (write.first_s, write.last_s) == (10, 20.002)
    said = say_tail(write)
    assert "358 MiB/s while all 4 ranks were busy" in said
    assert said.endswith("the tail cost 43%")
    (row,) = [row for row in with_tails(run.rows, [write]) if row.sustained_bytes_per_s is not None]
    assert row.tail_loss == pytest.approx(made.LOSS, rel=1e-3)


def test_transfers_are_the_timers(tmp_path):
    (run,) = runs_of(
        tmp_path,
        made.log().replace("Commencing write", "task 1 writing /made/f.00000001\nCommencing write"),
    )
    found = transfers_of_run(run)
    assert len(found) == 8
    assert found.run == "run"
    assert found.direction.tolist() == [0] * 4 + [1] * 4
    assert found.rank.tolist() == [0, 1, 2, 3] * 2
    assert found.bytes.tolist() == [GIB] * 8
    six = [found.open_begin_ns, found.open_end_ns, found.transfer_begin_ns, found.transfer_end_ns]
    six += [found.close_begin_ns, found.close_end_ns]
    wanted = [round(t * 1e6) * 1000 for t in made.instants(20.0)]
    assert [int(column[3]) for column in six] == wanted
    assert found.files[found.file[1]] == "/made/f.00000001"
    assert found.rates is None
    assert found.seconds()[:4].tolist() == list(made.ENDS)


def test_a_shared_file_is_segmented_or_strided(tmp_path):
    (run,) = runs_of(
        tmp_path, made.log().replace("file-per-process", "single-shared-file").replace("-F ", "")
    )
    assert whole(run).pattern == "segmented"
    strided = made.head(command="-t 4m -b 4m -s 256") + made.options(shared=True).replace(
        "segments            : 1", "segments            : 256"
    )
    (run,) = runs_of(tmp_path, strided.replace("1 GiB", "4 MiB") + made.NEW + made.row("write"))
    assert (whole(run).pattern, whole(run).bytes) == ("strided", 4 * GIB)


def test_without_timers_times_are_those_of_the_table(tmp_path):
    (run,) = runs_of(tmp_path, made.log(timed=False))
    row = whole(run)
    assert (row.duration_ns, row.began_ns, row.op_time_ns) == (20_000_000_000, BEGAN * SECOND, None)
    assert list(tails_of(run)) == []
    assert transfers_of_run(run) is None
    assert whole(run, op="data_write").mean_ns is None
    assert reported(row)["fastest_rank_mean_op_s"] == pytest.approx(10 / 256, abs=1e-6)


def test_only_the_end_of_an_old_log(tmp_path):
    """A concise log of 2.10.3 has no rows: its best is its only repetition."""
    content = made.head("2.10.3") + made.options("2.10.3")
    (run,) = runs_of(tmp_path, content + "Max Write: 204.80 MiB/sec (214.75 MB/sec)\n")
    assert (whole(run).bytes, whole(run).duration_ns) == (4 * GIB, 20 * SECOND)


def test_several_tests_and_starts_are_runs(tmp_path):
    second = made.options().replace("1 GiB", "2 GiB").replace("/made/f", "/made/g")
    script = (
        made.log()
        + "TestID              : 1\nStartTime           : Sun Mar  1 13:00:00 2026\n"
        + second
    )
    script += made.NEW + made.row("write", moved=8 * GIB)
    runs = runs_of(tmp_path, script + made.log("3.0.1"))
    assert [run.run_id for run in runs] == ["run", "run-2", "run-3"]
    assert [whole(run).bytes for run in runs] == [4 * GIB, 8 * GIB, 4 * GIB]
    assert [whole(run).target for run in runs] == ["/made/f", "/made/g", "/made/f"]
    assert whole(runs[1]).began_ns == (BEGAN + 3600) * SECOND


def test_repetitions(tmp_path):
    content = (
        made.head()
        + made.options().replace("repetitions         : 1", "repetitions         : 3")
        + made.NEW
    )
    for turn in range(3):
        content += made.timers("write", repetition=turn, at=BEGAN + 60 * turn) + made.row(
            "write", repetition=turn
        )
    (run,) = runs_of(tmp_path, content)
    assert [tail.repetition for tail in tails_of(run)] == [0, 1, 2]
    assert [whole(run, repetition=turn).began_ns for turn in range(3)] == [
        (BEGAN + 60 * t) * SECOND for t in range(3)
    ]


def test_the_environment_is_never_stored_nor_shown(tmp_path):
    for version in made.VERSIONS:
        content = made.log(version)
        for cut in ("", "ENDING ENVIRON LOOP\n", "STARTING ENVIRON LOOP\n"):
            told = []
            for run in runs_of(tmp_path, content.replace(cut, ""), told):
                assert made.SECRET not in repr((run.rows, run.remarks, run.setup))
                assert whole(run).ranks == 4
            assert made.SECRET not in repr(told)


def test_credentials_of_a_place_and_of_options_are_left_out(tmp_path):
    command = f"-a S3-libs3 --S3-libs3.secret-key={made.SECRET} -F -t 4m -b 1g -o s3://me:{made.SECRET}@host/x"
    content = (
        made.log()
        .replace("-a POSIX -F -t 4m -b 1g -vvv -o /made/f", command)
        .replace("/made/f", f"s3://me:{made.SECRET}@host/x")
    )
    (run,) = runs_of(tmp_path, content)
    assert made.SECRET not in repr(run)
    assert whole(run).target == "s3://host/x"


def tear(content, rng):
    """Put the line of a rank into the middle of another rank's, as two writers of one stream do."""
    lines = content.splitlines(keepends=True)
    places = [n for n, line in enumerate(lines) if "Task=" in line]
    inner = rng.choice(places)
    moved = lines.pop(inner)
    places = [n for n, line in enumerate(lines) if "Task=" in line]
    outer = rng.choice(places)
    cut = rng.randrange(1, len(lines[outer]) - 1)
    lines[outer : outer + 1] = [lines[outer][:cut] + moved, lines[outer][cut:]]
    return "".join(lines)


@pytest.mark.parametrize("seed", range(40))
def test_torn_lines_lose_nothing(tmp_path, seed):
    rng = random.Random(seed)
    (good,) = runs_of(tmp_path, made.log())
    (torn,) = runs_of(tmp_path, tear(made.log(), rng))
    assert torn.rows == good.rows
    assert (
        transfers_of_run(torn).transfer_end_ns.tolist()
        == transfers_of_run(good).transfer_end_ns.tolist()
    )


def test_a_line_about_the_file_system_that_a_rank_tore(tmp_path):
    content = made.head() + "FS                  : 252.0 GiB   Utask 1 writing ior/f.00000001\n"
    content += (
        "sed FS: 9.8%   Inodes: 16.0 Mi   Used Inodes: 3.8%\n"
        + made.options()
        + made.NEW
        + made.row("write")
    )
    (run,) = runs_of(tmp_path, content)
    assert whole(run).machine["fs_used_percent"] == 9.8


def test_a_timer_whose_half_is_lost_is_named_by_its_place(tmp_path):
    lines = made.log().splitlines(keepends=True)
    place = next(n for n, line in enumerate(lines) if "Task=2" in line and "write stop" in line)
    lines[place] = lines[place][:30] + "\n"
    told = []
    (run,) = runs_of(tmp_path, "".join(lines), told)
    assert f"line {place + 1}: a timer is torn" in str(told[0])
    assert len(told) == 1
    assert whole(run).bytes == 4 * GIB
    assert whole(run, op="data_write", rank=2).duration_ns is None
    assert whole(run, op="data_write", rank=3).duration_ns == 20 * SECOND
    assert transfers_of_run(run).transfer_end_ns[2] == NULL_NS
    assert [tail.phase for tail in tails_of(run)] == ["read"]


def test_a_torn_row_is_named_and_others_count(tmp_path):
    told = []
    content = re.sub(r"(?m)^(write .{40}).*$", r"\1", made.log(timed=False))
    (run,) = runs_of(tmp_path, content, told)
    assert "the row of a write is torn" in str(told[0])
    assert whole(run, "read").bytes == 4 * GIB
    assert whole(run).duration_ns is not None  # of Max Write


def test_clocks_of_ranks_that_differ(tmp_path):
    """IOR takes 50 s between two clocks for time; all ranks leave one barrier."""
    at = [BEGAN, BEGAN, BEGAN + 50.0, BEGAN]
    content = made.head() + made.options() + made.NEW + made.timers("write", at=at)
    content += made.row("write", (10.0, 10.0, 60.0, 20.0))
    (run,) = runs_of(tmp_path, content)
    row = whole(run)
    assert row.duration_ns == 20_002_000_000
    assert "clock-skew" in reported(row)["flags"]
    assert "clocks of ranks differ by 50 s" in run.remarks[0]
    assert next(iter(tails_of(run))).loss == pytest.approx(made.LOSS, rel=1e-3)


def test_timers_that_do_not_count_from_1970(tmp_path):
    content = (
        made.head()
        + made.options()
        + made.NEW
        + made.timers("write", at=12345.25)
        + made.row("write")
    )
    (run,) = runs_of(tmp_path, content)
    assert whole(run).began_ns == BEGAN * SECOND
    assert whole(run).duration_ns == 20_002_000_000


def test_a_clock_that_steps_back_within_a_close(tmp_path):
    """As in the log of 2.10.3 whose close ended 5 us before it began."""
    content = made.log("2.10.3").replace(f"{BEGAN + 20.002:.6f}", f"{BEGAN + 20.000995:.6f}", 1)
    (run,) = runs_of(tmp_path, content)
    assert whole(run, rank=3).duration_ns == 20_001_000_000


def test_a_limit_without_wear_out(tmp_path):
    more = "stonewallingTime    : 5\nstoneWallingWearOut : 0\n"
    content = (
        made.head(command="-F -t 4m -b 1g -D 5 -w")
        + made.options(more=more)
        + made.NEW
        + made.timers("write", (5.0, 5.1, 5.0, 5.2))
    )
    content += f"WARNING: Expected aggregate file size       = {4 * GIB}\n"
    content += f"WARNING: Using actual aggregate bytes moved = {2 * GIB}\n" + made.row(
        "write", (5.0, 5.1, 5.0, 5.2), moved=2 * GIB
    )
    (run,) = runs_of(tmp_path, content)
    row = whole(run)
    assert (row.bytes, row.ops, row.complete) == (2 * GIB, 512, False)
    # Ranks moved what they could: no file says how much each.
    assert whole(run, rank=1).bytes is None
    (tail,) = tails_of(run)
    assert tail.assumed
    assert "if each rank moved as much" in say_tail(tail)


def test_wear_out_has_both_rates(tmp_path):
    pairs = (100, 130, 150, 160)
    (run,) = runs_of(tmp_path, made.wear_out(pairs, 160))
    row = whole(run)
    assert (row.bytes, row.complete) == (160 * 4 * 4 * MIB, True)
    assert row.stonewall_per_s is None  # 0.5 GiB of a rank may be 0.45 or 0.55: too coarse
    exact = made.wear_out(pairs, 160).replace(
        "stonewalling pairs accessed min",
        "".join(f"{r}: stonewalling pairs accessed: {n}\n" for r, n in enumerate(pairs))
        + "stonewalling pairs accessed min",
    )
    (run,) = runs_of(tmp_path, exact)
    assert whole(run).stonewall_per_s == pytest.approx(540 / 5)
    (tail,) = tails_of(run)
    assert (tail.source, tail.sustained) == ("stonewall", pytest.approx(540 / 5 * 4 * MIB))
    assert tail.loss == pytest.approx(1 - (640 / 20.002) / (540 / 5), rel=1e-3)
    assert "until the time limit (5.00 s)" in say_tail(tail)


def test_the_table_has_the_mean_ranks_rate_at_the_limit(tmp_path):
    head = (
        "Operation   Max(MiB)   Min(MiB)  Mean(MiB)     StdDev   Max(OPs)   Min(OPs)  Mean(OPs)     StdDev    Mean(s) "
        "Stonewall(s) Stonewall(MiB) Test# #Tasks tPN reps fPP reord reordoff reordrand seed segcnt   blksiz    xsize "
        "aggs(MiB)   API RefNum\n"
    )
    values = (
        "write 127.99 127.99 127.99 0.00 32.0 32.0 32.0 0.00 20.00200 5.00 92.00 "
        "0 4 2 1 1 1 1 0 0 1 1073741824 4194304 2560.0 POSIX 0\n"
    )
    (run,) = runs_of(
        tmp_path,
        made.wear_out((100, 100, 100, 160), 160) + "\nSummary of all tests:\n" + head + values,
    )
    assert whole(run).stonewall_per_s == pytest.approx(4 * 92 / 4)
    assert whole(run).duration_ns == 20_002_000_000


def test_a_latency_over_operations_that_nobody_did(tmp_path):
    content = made.wear_out((100, 100, 100, 160), 160)
    assert "flags" not in reported(whole(runs_of(tmp_path, content)[0]))
    # Before IOR 4.1: over the 256 operations that were asked for, of which 160 were done.
    wrong = content.replace(f"{10 / 256:<11.6f}", f"{6 / 256:<11.6f}")
    assert reported(whole(runs_of(tmp_path, wrong)[0]))["flags"] == ["latency-wrong"]


def test_a_bandwidth_that_contradicts_its_bytes(tmp_path):
    content = made.log(timed=False).replace("204.78", "409.56")
    row = whole(runs_of(tmp_path, content)[0])
    assert reported(row)["flags"] == ["bandwidth-recomputed"]
    assert row.bytes * SECOND / row.duration_ns == pytest.approx(204.8 * MIB)


def test_a_read_with_a_check_says_nothing_of_ranks(tmp_path):
    content = (
        made.head(command="-F -R -t 4m -b 1g")
        + made.options()
        + made.NEW
        + made.timers("read", (20.0,) * 4)
        + made.row("read")
    )
    (run,) = runs_of(tmp_path, content)
    assert reported(whole(run, "read"))["flags"] == ["ranks-equalised"]
    assert list(tails_of(run)) == []


@pytest.mark.parametrize("seed", range(60))
def test_damaged_logs_end_in_rows_and_messages(tmp_path, seed):
    rng = random.Random(seed)
    data = bytearray(made.log(rng.choice(made.VERSIONS)).encode())
    for _ in range(rng.randrange(1, 6)):
        place = rng.randrange(len(data))
        junk = (
            b"\0",
            b"nan",
            b"-inf",
            b"9" * 400,
            b"1e999",
            b"\xff\xfe",
            b"\r",
            b"\n",
            b"Task=",
            b"",
        )
        data[place : place + rng.randrange(4)] = rng.choice(junk)
    if rng.random() < 0.5:
        del data[rng.randrange(len(data)) :]
    told = []
    for run in runs_of(tmp_path, bytes(data), told):
        for row in run.rows:
            assert row.duration_ns is None or row.duration_ns >= 0
            assert row.bytes is None or 0 <= row.bytes < 2**63
        list(tails_of(run))
        transfers_of_run(run)
    assert all("line " in str(error) for error in told)


def test_windows_line_ends_and_a_cut_lose_no_good_row(tmp_path):
    content = made.log()
    (good,) = runs_of(tmp_path, content)
    (other,) = runs_of(tmp_path, content.replace("\n", "\r\n"))
    assert other.rows == good.rows
    cut = content.index("Commencing read") + 300
    told = []
    (part,) = runs_of(tmp_path, content[:cut], told)
    mine = [row for row in good.rows if row.phase == "write"]
    assert [row for row in part.rows if row.phase == "write"] == mine
    assert all(not row.complete for row in part.rows if row.phase == "read")


def test_twenty_thousand_ranks(tmp_path):
    ends = 10 + np.random.default_rng(1).random(20_000)
    content = made.head() + made.options().replace(
        "tasks               : 4", "tasks               : 20000"
    )
    (run,) = runs_of(
        tmp_path,
        content
        + made.NEW
        + made.timers("write", ends.tolist())
        + made.row("write", ends.tolist(), moved=20_000 * GIB),
    )
    assert len(transfers_of_run(run)) == 20_000
    (tail,) = tails_of(run)
    assert tail.loss == pytest.approx(1 - (20_000 / ends.max()) / (1 / ends).sum(), rel=1e-2)
