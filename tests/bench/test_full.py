"""File systems that have no room, no right, or no tolerance: real ones, mounted for the test."""

import os
import subprocess

import pytest

from tests.kit.commands import run
from tests.kit.runs.driven import (
    SMALL,
    bandwidth,
    bench,
    by_op,
    command,
    data_set,
    ended,
    left_in,
    rows_of,
    started,
    whole,
)

pytestmark = [
    pytest.mark.service,
    pytest.mark.skipif(os.geteuid() != 0, reason="mounts need root"),
]


def call(*words):
    subprocess.run(list(map(str, words)), check=True, capture_output=True)


@pytest.fixture
def small(tmp_path):
    """A file system in memory of 256 KiB."""
    folder = tmp_path / "small"
    folder.mkdir()
    call("mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", folder)
    yield folder
    call("umount", "-l", folder)


@pytest.fixture
def roomy(tmp_path):
    """A file system in memory of 40 MiB."""
    folder = tmp_path / "roomy"
    folder.mkdir()
    call("mount", "-t", "tmpfs", "-o", "size=40m", "tmpfs", folder)
    yield folder
    call("umount", "-l", folder)


@pytest.fixture
def ext4(tmp_path):
    """An ext4 of 8 MiB on a loop device."""
    image, folder = tmp_path / "image", tmp_path / "ext4"
    folder.mkdir()
    with image.open("wb") as file:
        file.truncate(8 << 20)
    call("mkfs.ext4", "-q", "-F", image)
    call("mount", "-o", "loop", image, folder)
    yield folder
    call("umount", "-l", folder)


def full(folder, store, capsys, *words):
    """A run that finds no room: said, counted, kept, cleaned."""
    assert bench(folder, "-D", 2, "-P", 5000, "--max-errors", 20, *words, store=store) == 1
    seen = capsys.readouterr()
    assert "creates ended with ENOSPC: No space left on device" in seen.err
    assert "gave up: every operation failed" in seen.err
    assert "ENOSPC" in seen.out
    (made,) = whole(rows_of(store), "precreate")
    assert made.outcomes["ENOSPC"] == made.failed >= 20
    assert 10 < made.outcomes["ok"] < 10_000
    assert not made.complete
    assert made.q50_ns > 0


def test_no_room(small, store, capsys):
    full(small, store, capsys)
    assert left_in(small) == []
    assert bench(small, *SMALL, "--verify") == 0, "there is room again"


def test_no_room_on_a_disk(ext4, store, capsys):
    full(ext4, store, capsys)
    assert left_in(ext4) == ["lost+found"]


def test_no_room_in_a_tree_that_is_kept(small, store, capsys):
    full(small, store, capsys, "--phases", "precreate")
    assert len(list(data_set(small).iterdir())) > 5
    assert list(small.rglob("*.new")) == []
    assert bench(small, "--phases", "cleanup") == 0
    assert left_in(small) == []


def test_no_room_with_bulk(small, store, capsys):
    words = ("--pattern", "bulk", "-n", 2, "-D", 1, "-P", 500, "--max-errors", 20)
    assert bench(small, *words, store=store) == 1
    rows = rows_of(store)
    (made,) = whole(rows, "create")
    assert made.outcomes["ENOSPC"] == 40
    assert by_op(rows, "delete")["md_delete"] >= made.outcomes["ok"] > 20
    assert left_in(small) == []


def test_no_inodes(tmp_path, store):
    folder = tmp_path / "few"
    folder.mkdir()
    call("mount", "-t", "tmpfs", "-o", "nr_inodes=30", "tmpfs", folder)
    try:
        assert bench(folder, "-D", 1, "-P", 40, "-I", 5, "--max-errors", 5, store=store) == 1
        (made,) = whole(rows_of(store), "precreate")
        assert made.outcomes["ENOSPC"] == 5
        assert left_in(folder) == []
    finally:
        call("umount", "-l", folder)


def test_a_store_that_fills_up_does_not_end_the_measurement(small, place, capsys):
    (small / "ballast").write_bytes(b"x" * (248 << 10))
    words = ("-n", 4, "-D", 1, "-P", 20, "-I", 5, "-R", 40, "--format", "json")
    assert bench(place, *words, store=small) == 1
    seen = capsys.readouterr()
    assert '"repetition": 39' in seen.out
    assert "cannot write" in seen.err
    assert "No space left on device" in seen.err
    assert left_in(place) == []


def test_read_only(ext4, capsys):
    assert bench(ext4, *SMALL, "--phases", "precreate") == 0
    call("mount", "-o", "remount,ro", ext4)
    capsys.readouterr()
    for phases in ("precreate", "benchmark", "cleanup"):
        assert bench(ext4, *SMALL, "--phases", phases) == 1
        line = capsys.readouterr().err.splitlines()[-1]
        assert line.startswith("iosonde: ")
        assert "Read-only file system" in line
    call("mount", "-o", "remount,rw", ext4)
    assert bench(ext4, "--phases", "cleanup") == 0


def test_without_the_right_to_write(place):
    """As a user to whom the directory does not belong."""
    os.chown(place, 65534, 65534)
    without = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--"]
    arguments = [*without, *command(place, *SMALL, "--no-store")]
    with started(arguments=arguments) as process:
        code, out, err = ended(process)
    assert (code, out) == (1, "")
    (line,) = err.splitlines()
    assert "Permission denied" in line
    assert str(place) in line
    assert left_in(place) == []


def test_past_the_cache(ext4, store, capsys):
    assert bench(ext4, *SMALL, "--direct", "-S", 1000) == 2
    line = capsys.readouterr().err
    assert "1000 bytes cannot be written with O_DIRECT" in line
    size = line.split("--size ")[1].strip()
    assert left_in(ext4) == ["lost+found"]
    assert bench(ext4, *SMALL, "--direct", "-S", size, "--verify", "--fsync", store=store) == 0
    (row,) = whole(rows_of(store))
    assert (row.parameters["direct"], row.parameters["fsync"]) == (True, True)
    assert left_in(ext4) == ["lost+found"]


def test_a_bandwidth_run_keeps_what_was_measured_before_the_place_was_full(small, store, capsys):
    assert bandwidth(small, "-n", 2, "-t", "16k", "-b", "1M", "--verify", store=store) == 1
    seen = capsys.readouterr()
    assert "ENOSPC" in seen.out
    assert "cannot write a note beside the files" in seen.err
    (row,) = whole(rows_of(store), "write")
    assert row.outcomes["ENOSPC"] > 0
    assert row.bytes > 0
    assert left_in(small) == []


def test_a_self_test_keeps_its_phases_when_the_place_fills(roomy, store, capsys):
    words = ("-w", "2s", "-b", "64M", "-P", "100", "--quiet", "500ms", "--period", "20ms")
    words += ("--file-size", "8M", "--pool", "20")
    assert run("selftest", str(roomy), *words, store=store) == 1
    seen = capsys.readouterr()
    assert "ior-easy-write" in seen.out
    assert "2 of 2 ranks gave up" in seen.err
    assert list(roomy.iterdir()) == []
