"""Samples may be dropped at any moment: readers and sealers cope, and nothing comes back."""

from __future__ import annotations

import contextlib
import fcntl
import os
import subprocess
import sys
import textwrap
import threading

import duckdb
import pytest

from iosonde.cli import main
from iosonde.engine import parquet
from iosonde.engine.layout.segments import parquet_path, parquet_segments, spool_segments
from iosonde.weather import seal as sealing
from iosonde.weather.seal import seal
from iosonde.weather.store import Store
from iosonde.weather.stored.follow import Follower
from tests.kit.samples.makers import LATENCY, SECOND, START, everything, simulate, simulated

HOUR = 3600 * SECOND


@pytest.fixture
def many(tmp_path):
    """Twelve hours of one target, sealed to a file an hour."""
    target = {"path": "/work", "backend": "null", "latency": LATENCY, "period": "10s"}
    config = {"store": str(tmp_path), "host": "login2", "seed": 7, "target": [target]}
    simulate(config, START, 12 * HOUR)
    seal(tmp_path)
    return tmp_path


def test_a_reader_whose_files_vanish_one_by_one_still_answers(many):
    files = parquet_segments(many)
    assert len(files) == 13
    store, answers = Store(many), []
    started = threading.Event()

    def drop():
        started.wait()
        for segment in files[:-1]:
            segment.path.unlink()
            seen = len(answers)
            # Let the reader run at least once between two of them, or right into the next.
            while len(answers) == seen and reading.is_alive():
                pass

    def read():
        started.set()
        while not answers or answers[-1] > last:
            answers.append(store.count())

    ((last,),) = duckdb.sql(f"SELECT count(*) FROM '{files[-1].path}'").fetchall()
    reading, dropping = threading.Thread(target=read), threading.Thread(target=drop)
    reading.start()
    dropping.start()
    dropping.join(60)
    reading.join(60)
    assert answers[-1] == last
    assert answers == sorted(answers, reverse=True), "what is gone does not come back"


def test_a_follower_is_told_that_something_went(live):
    follower = Follower(live)
    follower.poll()
    spool_segments(live)[0].path.unlink()
    news = follower.poll()
    assert (news.rows, news.unfollowed, news.damaged) == ({}, True, [])


def test_a_segment_that_is_dropped_while_it_is_sealed_stays_dropped(live, monkeypatch):
    first, second = spool_segments(live)
    synced = parquet.sync

    def drop_then_sync(path):
        first.path.unlink(missing_ok=True)
        synced(path)

    monkeypatch.setattr(parquet, "sync", drop_then_sync)
    made = seal(live)
    assert [path.stem for path in made] == [second.stem]
    assert not [path for path in (live / "samples").rglob("*") if first.stem in path.name]
    before = everything(live)
    assert seal(live) == []
    assert len(everything(live)) == len(before) > 0


def test_a_segment_that_vanishes_before_it_is_opened_or_read(live, monkeypatch):
    first, second = spool_segments(live)
    first.path.unlink()
    monkeypatch.setattr("iosonde.weather.seal.spool_segments", lambda _: [first, second])
    assert [path.stem for path in seal(live)] == [second.stem]


def test_what_is_being_dropped_or_sealed_by_another_is_left_alone(live):
    for kind in (fcntl.LOCK_EX, fcntl.LOCK_SH):
        first, *_ = spool_segments(live)
        with first.path.open("rb") as other:
            fcntl.flock(other, kind)
            assert first.stem not in [path.stem for path in seal(live)]
            assert first.path.exists()
    assert len(seal(live)) == 1


def test_nothing_dropped_comes_back_whatever_the_order(tmp_path):
    """Sealers beside somebody who drops a segment and its Parquet file together, as the agent does."""
    dropped, failures = set(), []
    for number in range(12):
        simulated(tmp_path, 30, seed=number)
    stop = threading.Event()

    def keep_sealing():
        while not stop.is_set():
            try:
                seal(tmp_path)
            except Exception as error:
                failures.append(error)

    def drop():
        for segment in spool_segments(tmp_path)[:8]:
            if _drop(tmp_path, segment):
                dropped.add(segment.stem)
        stop.set()

    threads = [threading.Thread(target=work) for work in (keep_sealing, keep_sealing, drop)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seal(tmp_path)
    left = {segment.stem for segment in parquet_segments(tmp_path)}
    assert failures == []
    assert not left & dropped
    assert len(left) + len(dropped) == 12


def _drop(root, segment):
    """What the agent's retention does with one stem; whether all of it is gone now."""
    with contextlib.suppress(FileNotFoundError), segment.path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        segment.path.unlink(missing_ok=True)
        return not parquet_path(root, segment.host, segment.stem, START).exists()
    return False


def test_a_quota_or_a_full_disk_is_told_as_such(live, monkeypatch):
    def refuse(path):
        raise OSError(122, os.strerror(122), str(path))

    monkeypatch.setattr(parquet, "sync", refuse)
    told = []
    with pytest.raises(sealing.SealError, match="the store is full; the segment stays"):
        seal(live, told.append)
    assert len(told) == 1, "the others would not fit either"
    assert len(spool_segments(live)) == 2
    assert [path for path in (live / "samples").rglob("*") if path.is_file()] == []


@pytest.mark.service
def test_sealing_on_a_file_system_without_room(tmp_path):
    """A real one: 1 MiB of memory, filled up behind two segments."""
    script = textwrap.dedent(
        """
        import subprocess, sys
        from pathlib import Path
        place = Path(sys.argv[1])
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "none", place], check=True)
        from iosonde.cli.main import main
        from iosonde.engine.layout.segments import spool_segments
        from iosonde.weather import seal
        from tests.kit.samples.makers import simulated, everything
        seal.this_host = lambda: "login2"
        simulated(place, 5000)
        rows = len(everything(place))
        ballast = place / "ballast"
        try:
            with ballast.open("wb", buffering=0) as file:
                while file.write(bytes(4096)):
                    pass
        except OSError:
            pass
        assert main(["store", "seal", "--store", str(place)]) == 1
        assert len(spool_segments(place)) == 2
        assert not [p for p in (place / "samples").rglob("*") if p.is_file()]
        assert len(everything(place)) == rows
        ballast.unlink()
        assert main(["store", "seal", "--store", str(place)]) == 0
        assert len(everything(place)) == rows
        """
    )
    done = subprocess.run(
        ["unshare", "--mount", sys.executable, "-c", script, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "the store is full; the segment stays" in done.stderr


def test_the_command_fails_when_something_could_not_be_sealed(live, monkeypatch, capsys):
    monkeypatch.setattr(sealing, "this_host", lambda: "login2")
    (live / "samples").write_text("in the way")
    assert main.main(["store", "seal", "--store", str(live)]) == 1
    assert "segment stays" in capsys.readouterr().err
    assert len(spool_segments(live)) == 2
