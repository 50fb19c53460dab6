"""``iosonde bench bandwidth`` on real files: every byte where the pattern says, nothing left, wrong bytes found."""

import itertools
import json
import os
import signal
import struct
from pathlib import Path

import numpy as np
import pytest

from iosonde.bench.bandwidth.tables import read_columns
from tests.kit.commands import run
from tests.kit.runs.driven import bandwidth, command, ended, left_in, rows_of, started, until, whole

PAGE = 4096


def files(place):
    (folder,) = Path(place).glob(".iosonde-*/bench-bandwidth")
    return {path.name: path for path in folder.glob("data.*")}


def model(layout, ranks, transfer, block, segments):
    """(file, offset) of every transfer of every rank, as the manual says: written anew, without the code's formulas."""
    places = {rank: [] for rank in range(ranks)}
    if layout == "own":
        for rank in range(ranks):
            places[rank] = [(f"data.{rank:06}", i) for i in range(0, block * segments, transfer)]
        return places
    at = 0
    if layout == "segmented":
        for _, rank in itertools.product(range(segments), range(ranks)):
            for _ in range(block // transfer):
                places[rank].append(("data.shared", at))
                at += transfer
    else:
        for _, rank in itertools.product(range(block // transfer * segments), range(ranks)):
            places[rank].append(("data.shared", at))
            at += transfer
    return places


def stamps(path, transfer):
    """offset of each page of each transfer -> (rank, repetition, offset) that stands there."""
    content = path.read_bytes()
    found = {}
    for begin in range(0, len(content), transfer):
        for at in range(begin, begin + transfer, PAGE):
            if min(begin + transfer, len(content)) - at >= 16:
                found[at] = struct.unpack_from("<IIQ", content, at)
    return found


@pytest.mark.parametrize("order", ["fixed", "random"])
@pytest.mark.parametrize("layout", ["own", "segmented", "strided"])
def test_every_byte_is_written_once_where_the_pattern_says(place, layout, order):
    transfer, block, segments, ranks = 12_288, 36_864, 4, 3
    words = ("-n", ranks, "-t", transfer, "-b", block, "-s", segments, "--layout", layout)
    assert bandwidth(place, *words, "--order", order, "--keep", "-R", 2) == 0
    wanted = {}
    for rank, places in model(layout, ranks, transfer, block, segments).items():
        for (name, begin), page in itertools.product(places, range(0, transfer, PAGE)):
            assert (name, begin + page) not in wanted
            wanted[name, begin + page] = (rank, 1, begin + page)
    found = {
        (name, at): stamp
        for name, path in files(place).items()
        for at, stamp in stamps(path, transfer).items()
    }
    assert found == wanted
    sizes = sum(path.stat().st_size for path in files(place).values())
    assert sizes == ranks * block * segments


@pytest.mark.parametrize("transfer", [16, 100, 4096, 47_008])
@pytest.mark.parametrize("words", [(), ("--layout", "strided", "--reorder"), ("--order", "random")])
def test_what_is_read_is_what_was_written(place, store, transfer, words):
    sizes = ("-n", 3, "-t", transfer, "-b", 4 * transfer, "-s", 5)
    assert bandwidth(place, *sizes, "--verify", *words, store=store) == 0
    for row in whole(rows_of(store), "read") + whole(rows_of(store), "write"):
        assert (row.bytes, row.ops, row.failed) == (3 * 20 * transfer, 60, 0)
        assert row.complete
    assert left_in(place) == []


@pytest.mark.parametrize("layout", ["own", "strided"])
def test_a_flipped_byte_is_found_and_named(place, store, capsys, layout):
    words = ("-n", 2, "-t", "8k", "-b", "64k", "--layout", layout)
    assert bandwidth(place, *words, "--keep", "--phases", "write") == 0
    path = files(place)["data.000001" if layout == "own" else "data.shared"]
    at = 24_577
    with path.open("r+b") as file:
        file.seek(at)
        byte = file.read(1)
        file.seek(at)
        file.write(bytes([byte[0] ^ 1]))
    capsys.readouterr()
    assert bandwidth(place, *words, "--phases", "read", "--verify", store=store) == 1
    seen = capsys.readouterr()
    assert f"read wrong bytes in {path} at {at}" in seen.err
    (row,) = whole(rows_of(store), "read")
    assert (row.outcomes, row.failed) == ({"ok": 15, "corrupt": 1}, 1)
    assert path.exists(), "a run that only reads removes nothing"


def test_reorder_reads_what_another_rank_wrote(place, store):
    assert bandwidth(place, "-n", 4, "-b", "1M", "--reorder", 3, "--verify", store=store) == 0
    (run_id,) = {row.run_id for row in rows_of(store)}
    table = read_columns(store, "transfers", run_id)
    names = [Path(path).name for path in table["file"]]
    assert names[:4] == [f"data.{rank:06}" for rank in range(4)]
    assert names[4:] == [f"data.{(rank + 3) % 4:06}" for rank in range(4)]


def test_tables_say_when_each_file_was_open_and_what_moved_when(place, store):
    words = ("-n", 2, "-t", "64k", "-b", "8M", "-R", 2, "--fault", "write@1:+4ms")
    assert bandwidth(place, *words, store=store) == 0
    (run_id,) = {row.run_id for row in rows_of(store)}
    files_, bins = (read_columns(store, name, run_id) for name in ("transfers", "rates"))
    assert list(zip(files_["repetition"], files_["direction"], files_["rank"], strict=True)) == [
        (repetition, direction, rank)
        for repetition in range(2)
        for direction in ("write", "read")
        for rank in range(2)
    ]
    order = ("open_begin_ns", "open_end_ns", "transfer_begin_ns", "transfer_end_ns")
    order = (*order, "close_begin_ns", "close_end_ns")
    for earlier, later in itertools.pairwise(order):
        assert (files_[earlier] <= files_[later]).all()
    assert (files_["bytes"] == 8 << 20).all()
    key = ("repetition", "direction", "rank")
    for number in range(len(files_["rank"])):
        own = np.logical_and.reduce([bins[name] == files_[name][number] for name in key])
        assert bins["bytes"][own].sum() == files_["bytes"][number]
        assert (bins["begin_ns"][own] % 250_000_000 == 0).all()
        assert bins["begin_ns"][own].min() <= files_["transfer_end_ns"][number]
        assert bins["begin_ns"][own].max() >= files_["open_begin_ns"][number] - 250_000_000


def test_the_slow_rank_is_named_and_its_tail_priced(place, store, capsys):
    """128 writes of 5 ms beside 128 of 1 ms: 2.2 transfers a ms while all are busy, 0.6 until the last is done."""
    faults = ("--fault", "write@1:+5ms", "--fault", "write:+1ms")
    assert bandwidth(place, "-n", 3, "-t", "64k", "-b", "8M", *faults, store=store) == 0
    out = capsys.readouterr().out
    assert "write 0: rank 1 on " in out
    assert "write 0: the last rank cost" in out
    (row,) = whole(rows_of(store), "write")
    assert row.duration_ns >= 640_000_000
    assert row.last_bytes_per_s == pytest.approx((24 << 20) / (row.duration_ns / 1e9), rel=0.05)
    assert 0.4 < row.tail_loss < 0.8
    assert row.sustained_bytes_per_s < 2.2 * 65536 * 1000


def test_a_time_limit_gives_both_rates_of_one_run(place, store):
    words = ("-n", 2, "-t", "64k", "-w", "0.3s", "--fault", "all@1:+10ms", "--verify")
    assert bandwidth(place, *words, store=store) == 0
    write, read = (whole(rows_of(store), phase)[0] for phase in ("write", "read"))
    assert not write.complete
    assert 0.3e9 <= write.duration_ns < 3e9
    assert read.failed == 0
    assert read.bytes <= write.bytes
    ranks = {
        r.rank: r.ops for r in rows_of(store) if r.phase == "write" and r.op and r.rank is not None
    }
    assert ranks[0] > 2 * ranks[1] > 20


def test_wear_out_moves_the_same_of_every_rank(place, store):
    words = (
        "-n",
        2,
        "-t",
        "64k",
        "-b",
        "64M",
        "-w",
        "0.2s",
        "-W",
        "20s",
        "--fault",
        "write@1:+2ms",
    )
    assert bandwidth(place, *words, "--verify", "--phases", "write,read", store=store) == 0
    rows = [r for r in rows_of(store) if r.phase == "write" and r.op]
    counts = {r.rank: r.ops for r in rows if r.rank is not None}
    assert counts[0] == counts[1]
    (total,) = [r for r in rows if r.rank is None]
    assert total.stonewall_per_s > 0


@pytest.mark.parametrize("words", [("--fsync",), ("--fsync", "each"), ("--queue-depth", 8)])
def test_other_ways_of_writing_move_the_same_bytes(place, store, words):
    sizes = ("-n", 2, "-t", "16k", "-b", "1M", "--verify", "--order", "random")
    assert bandwidth(place, *sizes, *words, store=store) == 0
    for phase in ("write", "read"):
        (row,) = whole(rows_of(store), phase)
        assert (row.bytes, row.failed) == (2 << 20, 0)


def test_direct_transfers_are_aligned_or_refused(place, capsys):
    if bandwidth(place, "-b", "1M", "-t", "64k", "--direct", "--verify", "--queue-depth", 4) != 0:
        assert "O_DIRECT" in capsys.readouterr().err
        pytest.skip("no O_DIRECT here")
    assert bandwidth(place, "-b", "1000", "-t", "100", "--direct") == 2
    assert "multiple of" in capsys.readouterr().err
    assert left_in(place) == []


def test_data_for_programs_and_the_table_of_runs(place, store, capsys):
    assert bandwidth(place, "-b", "1M", "--format", "json", store=store) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["runs"][0]["write_bytes_per_s"] > 0
    assert {row["phase"] for row in found["rows"]} == {"write", "read"}
    assert run("runs", store=store) == 0
    assert "write, read" in capsys.readouterr().out
    assert run("runs", found["rows"][0]["run_id"], store=store) == 0
    assert "sustained" in capsys.readouterr().out


def test_nowhere_prices_the_harness(capsys):
    assert bandwidth("null:", "-b", "4M", "-t", "4k", "-n", 2) == 0
    assert "sustained" in capsys.readouterr().out
    assert bandwidth("null:", "-b", "4M", "--queue-depth", 2) == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-t", "3k", "-b", "10k"), "multiple of the transfer"),
        (("--phases", "read"), "no kept files"),
        (("--phases", "scan"), "write, read"),
        (("-W", "3s"), "-w TIME"),
        (("--fault", "writes:+1s"), "write@RANK"),
        (("--queue-depth", "4", "--fsync", "each"), "depth of 1"),
        (("--phases", "write", "--verify"), "phase read"),
    ],
)
def test_what_does_not_go_together_is_refused(place, capsys, words, said):
    assert bandwidth(place, *words) == 2
    assert said in capsys.readouterr().err
    assert left_in(place) == []


def test_kept_files_are_read_with_the_same_parameters_only(place, capsys):
    assert bandwidth(place, "-b", "1M", "-t", "64k", "--keep", "--phases", "write") == 0
    assert bandwidth(place, "-b", "2M", "-t", "64k", "--phases", "read") == 2
    assert "block_bytes 1.00 MiB (asked for: 2.00 MiB)" in capsys.readouterr().err
    assert bandwidth(place, "-b", "1M", "-t", "64k", "--phases", "read", "--verify") == 0
    assert bandwidth(place, "-b", "1M") == 0
    assert left_in(place) == []


def test_an_end_by_hand_leaves_a_partial_run_and_no_files(place, store):
    words = (place, "-n", 2, "-b", "1G", "-t", "64k", "--fault", "write:+2ms", "--store", store)
    with started(arguments=command(*words, benchmark="bandwidth")) as job:
        until(job, '"write"')
        job.send_signal(signal.SIGINT)
        code, out, err = ended(job)
    assert code == 130, err
    assert "cut" in out
    (row,) = whole(rows_of(store), "write")
    assert not row.complete
    table = read_columns(store, "transfers", row.run_id)
    assert table["bytes"].sum() == row.bytes > 0
    assert left_in(place) == []


def test_a_killed_run_keeps_what_had_ended(place, store, capsys):
    words = ("-n", 2, "-b", "4M", "-t", "64k", "--fault", "read:+20ms", "--store", store)
    with started(arguments=command(place, *words, benchmark="bandwidth")) as job:
        until(job, '"read"')
        os.kill(job.pid, signal.SIGKILL)
        ended(job)
    (row,) = whole(rows_of(store), "write")
    assert (row.bytes, row.complete) == (8 << 20, False)
    table = read_columns(store, "transfers", row.run_id)
    assert set(table["direction"]) == {"write"}
    assert table["bytes"].sum() == 8 << 20
    assert run("runs", row.run_id, store=store) == 0
    assert "cut" in capsys.readouterr().out
    assert bandwidth(place, "-b", "1M") == 0, "the next run there tidies up"
    assert left_in(place) == []


def test_cautions_say_what_else_was_measured(place, capsys):
    assert bandwidth(place, "-b", "1M") == 0
    err = capsys.readouterr().err
    assert "fit into its memory" in err or "this measures memory" in err
    assert "less than a second" in err
    assert bandwidth(place, "-b", "1M", "--direct", "-t", "64k") in (0, 2)
    assert "fit into its memory" not in capsys.readouterr().err
