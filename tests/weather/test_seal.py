"""Sealing loses nothing, whatever happens."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from iosonde.engine import spool
from iosonde.engine.layout.segments import parquet_path, spool_segments
from iosonde.model.errors import DamagedFileWarning, SealError
from iosonde.weather import seal as sealing
from iosonde.weather.seal import seal
from iosonde.weather.store import Store
from tests.kit.host.refusing import refusing
from tests.kit.samples.makers import SECOND, START, everything, rows, same, sealed, simulated

HOUR = 3600 * SECOND


def test_sealing_changes_no_row(live):
    before = everything(live)
    assert len(before) == 6 * 5000
    made = seal(live)
    assert [path.suffix for path in made] == [".parquet", ".parquet"]
    assert spool_segments(live) == []
    assert same(before, everything(live))
    assert seal(live) == []


def test_a_segment_that_is_written_is_left_alone(live):
    first, second = spool_segments(live)
    with second.path.open("rb") as writer:
        fcntl.flock(writer, fcntl.LOCK_EX)
        assert [path.stem for path in seal(live)] == [first.stem]
        assert spool_segments(live) == [second]
    assert [path.stem for path in seal(live)] == [second.stem]


def test_without_locks_a_segment_is_sealed_once_nobody_appends_any_more(live):
    young, old = spool_segments(live)
    os.utime(young.path)
    os.utime(old.path, (0, 0))
    program = "import sys; from iosonde.weather.seal import seal; seal(sys.argv[1])"
    command = [sys.executable, "-c", program, str(live)]
    done = subprocess.run(
        command,
        preexec_fn=refusing("flock", errno.ENOSYS),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert spool_segments(live) == [young]


@pytest.mark.parametrize("host", ["x", "a b"])
def test_a_host_of_another_name_is_this_one_if_its_probe_ran_on_this_kernel(
    tmp_path, host, monkeypatch
):
    simulated(tmp_path, 300, host=host)
    (segment,) = spool_segments(tmp_path)
    monkeypatch.setattr(sealing, "boot_id", lambda: "another kernel, or an earlier start of it")
    assert seal(tmp_path) == []
    monkeypatch.undo()
    with segment.path.open("rb") as writer:
        fcntl.flock(writer, fcntl.LOCK_EX)
        assert seal(tmp_path) == []
    assert [path.stem for path in seal(tmp_path)] == [segment.stem]


def test_without_locks_a_segment_is_closed_when_nobody_wrote_for_long(live, monkeypatch):
    def no_locks(_file, _kind):
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    monkeypatch.setattr(fcntl, "flock", no_locks)
    before = everything(live)
    first, second = spool_segments(live)
    long_ago = time.time() - 3 * 3600
    os.utime(first.path, (long_ago, long_ago))
    assert [path.stem for path in seal(live)] == [first.stem]
    assert spool_segments(live) == [second]
    assert same(before, everything(live))


def test_without_a_state_a_host_of_another_name_is_another(tmp_path):
    simulated(tmp_path, 300, host="x")
    shutil.rmtree(tmp_path / "state")
    assert seal(tmp_path) == []


def test_a_sealer_that_died_before_it_deleted(live, tmp_path):
    before = everything(live)
    copy = tmp_path / "copy"
    shutil.copytree(live / "spool", copy)
    seal(live)
    shutil.rmtree(live / "spool")
    shutil.copytree(copy, live / "spool")
    assert same(before, everything(live))
    assert seal(live) == []
    assert spool_segments(live) == []
    assert same(before, everything(live))


def test_the_draft_of_a_killed_sealer_is_swept(live):
    segment = spool_segments(live)[0]
    left = parquet_path(live, segment.host, f".{segment.stem}.0123", START)
    left.parent.mkdir(parents=True)
    left.write_bytes(b"half a file")
    os.utime(left, (0, 0))
    assert len(everything(live)) == 6 * 5000
    seal(live)
    assert not left.exists()
    assert len(everything(live)) == 6 * 5000


def test_a_torn_segment_is_sealed_as_far_as_it_is_good(live):
    path = spool_segments(live)[0].path
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    told = []
    kept = len(everything(live))
    assert 0 < kept < 6 * 5000
    seal(live, told.append)
    assert len(everything(live)) == kept
    assert path.with_suffix(".torn").read_bytes() == whole[: len(whole) // 2]
    assert "ended early" in told[0]


def test_a_foreign_file_in_the_spool_is_named_and_stops_no_other(live):
    bad = spool_segments(live)[0].path.with_name("aaa-000000.spool")
    bad.write_bytes(b"not a spool at all" * 100)
    os.utime(bad, (START / 1e9, START / 1e9))
    with pytest.warns(DamagedFileWarning, match=r"aaa-000000\.spool"):
        assert len(everything(live)) == 6 * 5000
    with pytest.raises(SealError, match=r"aaa-000000\.spool"):
        seal(live)
    assert [segment.path for segment in spool_segments(live)] == [bad]


@pytest.mark.parametrize("length", [0, 5, 12, 60])
def test_a_segment_that_is_being_born_disturbs_nobody(live, length):
    segments = spool_segments(live)
    before = everything(live)
    unborn = segments[0].path.with_name("new-000000.spool")
    unborn.write_bytes(segments[0].path.read_bytes()[:length])
    assert same(before, everything(live))
    seal(live)
    assert unborn.exists()


def test_a_segment_without_rows_is_not_taken_from_a_probe_that_just_began(live):
    path = spool_segments(live)[0].path
    header_only = path.with_name("new-000000.spool")
    data = path.read_bytes()
    length = next(n for n in range(16, 4096) if _has_header(header_only, data[:n]))
    header_only.write_bytes(data[:length])
    assert len(spool.read(header_only).rows) == 0
    seal(live)
    assert header_only.exists()
    os.utime(header_only, (0, 0))
    assert seal(live) == []
    assert not header_only.exists()


def _has_header(path, data):
    path.write_bytes(data)
    return spool.read(path) is not None


def test_a_full_disk_keeps_the_spool_and_leaves_no_draft(live):
    """A real refusal by the kernel: no file may grow beyond 4 KiB in that process."""
    script = textwrap.dedent(
        """
        import resource, signal, sys
        from pathlib import Path
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        from iosonde.cli.main import main
        from iosonde.weather import seal
        seal.this_host = lambda: "login2"
        sys.exit(main(["store", "seal", "--store", sys.argv[1]]))
        """
    )
    before = spool_segments(live)
    done = subprocess.run(
        [sys.executable, "-c", script, str(live)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stderr
    assert "cannot seal" in done.stderr
    assert "the segment stays" in done.stderr
    assert "Traceback" not in done.stderr
    assert spool_segments(live) == before
    assert not any(path.is_file() for path in (live / "samples").rglob("*"))
    assert len(seal(live)) == 2


def test_a_sealed_day_is_small(tmp_path):
    sealed(tmp_path, "r-0", rows([1000] * 5))
    simulated(tmp_path, 2 * 3600)
    made = seal(tmp_path)
    rows_made = 6 * 2 * 3600
    assert sum(path.stat().st_size for path in made) / rows_made < 12


def test_writing_sealing_and_reading_at_once(tmp_path):
    """Two sealers and a reader beside a row of runs: no row is ever missing or there twice."""
    runs, each = 15, 6 * 60
    done, failures = [0], []

    def write():
        for seed in range(runs):
            simulated(tmp_path, 60, seed=seed)
            done[0] += each

    def keep_sealing():
        while done[0] < runs * each:
            try:
                seal(tmp_path)
            except Exception as error:
                failures.append(error)

    threads = [threading.Thread(target=work) for work in (write, keep_sealing, keep_sealing)]
    for thread in threads:
        thread.start()
    while threads[0].is_alive():
        least = done[0]
        found = Store(tmp_path).count()
        if not least <= found <= done[0] + each:
            failures.append((least, found, done[0]))
    for thread in threads:
        thread.join()
    assert failures == []
    assert Store(tmp_path).count() == runs * each
    seal(tmp_path)
    assert spool_segments(tmp_path) == []
    assert Store(tmp_path).count() == runs * each
