"""Bandwidth on file systems that are full or slow, and by ranks that are processes of an MPI job: real ones."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from iosonde.bench.bandwidth.tables import read_columns
from tests.bench.test_ranks import children
from tests.kit import harness
from tests.kit.runs.driven import bandwidth, command, ended, left_in, rows_of, started, until, whole

MPIRUN = Path(sys.executable).with_name("mpirun")
pytestmark = pytest.mark.service
mounts = pytest.mark.skipif(os.geteuid() != 0, reason="mounts need root")


def mpirun(processes, *words):
    assert MPIRUN.exists(), f"{MPIRUN}: not found; expected the wheel of mpich"
    arguments = [str(MPIRUN), "-n", str(processes), *command(*words, benchmark="bandwidth")]
    return started(arguments=arguments)


@pytest.fixture
def ext4(tmp_path):
    """A fresh ext4 of 64 MiB on a loop device."""
    image, folder = tmp_path / "image", tmp_path / "ext4"
    folder.mkdir()
    with image.open("wb") as file:
        file.truncate(64 << 20)
    subprocess.run(["mkfs.ext4", "-q", "-F", image], check=True, capture_output=True)
    subprocess.run(["mount", "-o", "loop", image, folder], check=True, capture_output=True)
    yield folder
    subprocess.run(["fsfreeze", "-u", folder], check=False, capture_output=True)
    subprocess.run(["umount", "-l", folder], check=True, capture_output=True)


@mounts
def test_no_room_ends_the_rank_and_keeps_what_was_written(ext4, store, capsys):
    words = ("-n", 2, "-t", "1M", "-b", "64M", "--direct")
    assert bandwidth(ext4, *words, store=store) == 1
    seen = capsys.readouterr()
    assert "ENOSPC: No space left on device" in seen.err
    assert "ENOSPC" in seen.out
    (row,) = whole(rows_of(store), "write")
    assert not row.complete
    assert 30 << 20 < row.bytes < 64 << 20
    assert not whole(rows_of(store), "read"), "what was not written is not read"
    table = read_columns(store, "transfers", row.run_id)
    assert table["bytes"].sum() == row.bytes
    assert [name for name in left_in(ext4) if name != "lost+found"] == []


@mounts
def test_the_place_of_a_file_on_its_device_is_on_record(ext4, store):
    assert bandwidth(ext4, "-n", 2, "-b", "4M", "--direct", store=store) == 0
    (run_id,) = {row.run_id for row in rows_of(store)}
    table = read_columns(store, "transfers", run_id)
    assert ((table["position"] > 0) & (table["position"] < 1)).all()
    assert len(set(table["position"])) == 2


@mounts
def test_the_rank_whose_file_lies_on_a_slow_device_is_named(ext4, place, store, capsys):
    """Both ranks read 8 MiB: rank 1 from a device that gives 8 MiB/s, rank 0 from the ordinary one."""
    sizes = ("-n", 2, "-t", "64k", "-b", "8M", "--direct")
    assert bandwidth(place, *sizes, "--phases", "write", "--keep") == 0
    (folder,) = place.glob(".iosonde-*/bench-bandwidth")
    slow, usual = ext4 / "data", folder / "data.000001"
    shutil.copyfile(usual, slow)
    os.sync()
    device = harness.device_of(ext4)
    subprocess.run(["mount", "--bind", slow, usual], check=True)
    try:
        with harness.throttled(device) as group:
            harness.throttle(group, device, 8 << 20)
            words = command(
                *(place, *sizes, "--phases", "read", "--verify", "--store", store),
                benchmark="bandwidth",
            )
            enter = f'echo $$ > {group}/cgroup.procs && exec "$@"'
            with started(arguments=["sh", "-c", enter, "sh", *words]) as job:
                code, out, err = ended(job)
    finally:
        subprocess.run(["umount", usual], check=True)
    assert code == 0, err
    assert "read 0: rank 1 on " in out
    assert "read 0: the last rank cost" in out
    (row,) = whole(rows_of(store), "read")
    assert 0.5e9 < row.duration_ns < 20e9
    assert bandwidth(place, "-b", "1M") == 0


def test_ranks_of_processes_measure_what_threads_do(place, tmp_path):
    words = ("-t", "64k", "-b", "2M", "--layout", "strided", "--reorder", "1", "--verify")
    with mpirun(4, place, *words, "--store", tmp_path / "processes") as job:
        code, out, err = ended(job)
    assert code == 0, err
    assert out.count("phase  rep") == 1, "one process speaks"
    assert bandwidth(place, "-n", 4, *words, store=tmp_path / "threads") == 0
    found = {}
    for name in ("processes", "threads"):
        rows = rows_of(tmp_path / name)
        (run_id,) = {row.run_id for row in rows}
        table = read_columns(tmp_path / name, "transfers", run_id)
        bins = read_columns(tmp_path / name, "rates", run_id)
        found[name] = (
            [(row.phase, row.op, row.rank, row.ops, row.bytes) for row in rows],
            list(
                zip(table["direction"], table["rank"], table["file"], table["bytes"], strict=True)
            ),
            bins["bytes"].sum(),
        )
        assert all(row.last_bytes_per_s for row in rows if row.rank is None)
    assert found["processes"] == found["threads"]
    assert left_in(place) == []


def test_eight_ranks_on_fewer_processors_move_every_byte(place, store):
    with mpirun(8, place, "-t", "64k", "-b", "512k", "--verify", "--store", store) as job:
        code, _, err = ended(job)
    assert code == 0, err
    rows = [row for row in rows_of(store) if row.rank is not None and row.phase == "write"]
    assert {row.rank for row in rows} == set(range(8))
    assert {row.bytes for row in rows} == {512 * 1024}
    assert left_in(place) == []


def test_a_killed_rank_leaves_what_had_ended(place, store, capsys):
    words = ("-t", "64k", "-b", "4M", "--fault", "read:+20ms", "--store", store)
    with mpirun(3, place, *words) as job:
        until(job, '"read"')
        os.kill(children(job.pid)[-1], signal.SIGKILL)
        code, _, _ = ended(job)
    assert code != 0
    (row,) = whole(rows_of(store), "write")
    assert (row.bytes, row.complete) == (12 << 20, False)
    table = read_columns(store, "transfers", row.run_id)
    assert sorted(table["rank"]) == [0, 1, 2]
    assert bandwidth(place, "-b", "1M") == 0
    assert left_in(place) == []


def test_processes_share_several_directories(place, store):
    folders = [place / name for name in "abc"]
    for folder in folders:
        folder.mkdir()
    words = ("-n", 3, "-t", "64k", "-b", "512k", "--verify", "--reorder", "--store", store)
    with mpirun(2, *folders, *words) as job:
        code, _, err = ended(job)
    assert code == 0, err
    (run_id,) = {row.run_id for row in rows_of(store)}
    table = read_columns(store, "transfers", run_id)
    pairs = zip(table["rank"], table["file"], strict=True)
    homes = {(rank, Path(file).parents[2].name) for rank, file in pairs}
    assert homes == {(rank, "abc"[rank % 3]) for rank in range(6)}
    assert set(table["targets"]) == set(map(str, folders))
    assert [left_in(folder) for folder in folders] == [[], [], []]


def test_an_end_by_hand_leaves_no_files_in_any_directory(place, store):
    folders = [place / name for name in "ab"]
    for folder in folders:
        folder.mkdir()
    words = (*folders, "-n", 2, "-b", "1G", "-t", "64k", "--fault", "write:+2ms", "--store", store)
    with started(arguments=command(*words, benchmark="bandwidth")) as job:
        until(job, '"write"')
        job.send_signal(signal.SIGINT)
        code, _, err = ended(job)
    assert code == 130, err
    (row,) = whole(rows_of(store), "write")
    assert read_columns(store, "transfers", row.run_id)["bytes"].sum() == row.bytes > 0
    assert [left_in(folder) for folder in folders] == [[], []]
