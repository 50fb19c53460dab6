"""The server seals what is closed, tells of trouble once, and ends."""

import os

from iosonde.engine.layout.segments import parquet_segments, spool_segments
from iosonde.serve.upkeep import Repeated, sealing
from iosonde.weather.seal import seal
from tests.kit.harness import wait_for
from tests.kit.samples.makers import simulated


def test_what_is_closed_becomes_parquet_by_and_by(tmp_path):
    told = []
    sealer = Repeated(sealing(tmp_path, every_s=0.01), told.append)
    sealer.start()
    simulated(tmp_path, 300)
    wait_for("the sealing", lambda: not spool_segments(tmp_path))
    sealer.stop()
    assert parquet_segments(tmp_path, None)
    assert told == []


def test_trouble_is_told_once(tmp_path):
    simulated(tmp_path, 300)
    (tmp_path / "samples").write_text("a file where the folder should be")
    told = []
    sealer = Repeated(sealing(tmp_path, every_s=0.01), told.append)
    sealer.start()
    wait_for("the trouble", lambda: told)
    sealer.stop()
    assert len(told) == 1
    assert "cannot seal" in told[0]
    assert spool_segments(tmp_path), "the segments are kept"


def test_segments_of_another_host_must_have_settled(tmp_path, monkeypatch):
    simulated(tmp_path, 300)
    monkeypatch.setattr("iosonde.weather.seal.this_host", lambda: "another")
    monkeypatch.setattr("iosonde.weather.seal.boot_id", lambda: None)
    assert seal(tmp_path) == []
    for segment in spool_segments(tmp_path):
        old = segment.path.stat().st_mtime - 7300
        os.utime(segment.path, (old, old))
    assert len(seal(tmp_path)) >= 1
