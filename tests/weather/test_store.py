"""Each row once, while probes write and sealers run."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from iosonde.engine import reader, spool
from iosonde.engine.files import write_frame
from iosonde.engine.layout.segments import parquet_segments, spool_segments
from iosonde.model.errors import DamagedFileWarning, UsageError
from iosonde.model.frames import NULL_NS, Frame, TargetRef
from iosonde.model.ops import OPS
from iosonde.weather.seal import seal
from iosonde.weather.store import Store
from tests.kit.samples.makers import SECOND, START, everything, row, same, sealed, simulated

HOUR = 3600 * SECOND


def test_rows_carry_what_the_header_says(live):
    frame = everything(live)
    assert set(frame["op"]) == set(OPS)
    assert set(frame["period_ns"].tolist()) == {SECOND}
    reads = frame["op"] == "data_read"
    assert set(frame["size_bytes"][reads].tolist()) == {1 << 20}
    assert set(frame["size_bytes"][~reads & (frame["op"] != "data_write")].tolist()) == {3901}
    assert "skipped" in frame["outcome"]


def test_a_segment_that_is_sealed_while_it_is_read(live, monkeypatch):
    before = everything(live)
    read = spool.read

    def slow_read(path):
        if path.exists():
            seal(live)
        return read(path)

    monkeypatch.setattr(reader.spool, "read", slow_read)
    monkeypatch.setattr("iosonde.weather.seal.spool.read", read)
    assert same(before, everything(live))


def test_a_sealed_file_that_vanishes_is_listed_again(live, monkeypatch):
    seal(live)
    gone = parquet_segments(live)[0].path
    attach = reader._attach
    calls = []

    def attach_then_delete(*args):
        files = attach(*args)
        calls.append(len(files.files))
        gone.unlink(missing_ok=True)
        return files

    monkeypatch.setattr(reader, "_attach", attach_then_delete)
    assert 0 < len(everything(live)) < 6 * 5000
    assert calls == [2, 1]


def test_a_damaged_parquet_file_is_named(live):
    seal(live)
    path = parquet_segments(live)[0].path
    whole = len(everything(live))
    path.write_bytes(path.read_bytes()[:-50])
    with pytest.warns(DamagedFileWarning, match=f"{path.name} is damaged: its end is missing"):
        assert 0 < len(everything(live)) < whole


def test_pending_rows_lose_to_final_ones(tmp_path):
    sealed(tmp_path, "r-0", [row(START, None), row(START + SECOND, None)])
    sealed(tmp_path, "r-1", [row(START, 5000), row(START, 5000, run_id="other")])
    frame = Store(tmp_path).samples(("due_ns", "outcome", "ended_ns", "run_id"))
    found = sorted(zip(frame["due_ns"] - START, frame["outcome"], frame["run_id"], strict=True))
    assert found == [(0, "ok", "other"), (0, "ok", "r"), (SECOND, "pending", "r")]
    assert frame["ended_ns"][frame["outcome"] == "pending"].tolist() == [NULL_NS]


def test_a_late_row_is_found_in_the_partition_of_the_day_it_was_written(tmp_path):
    sealed(tmp_path, "r-0", [row(START, 5000)], opened_ns=START + 3 * 24 * HOUR)
    frame = Store(tmp_path).samples(since_ns=START, until_ns=START + 1)
    assert frame["response_ns"].tolist() == [6000.0]


def test_old_partitions_and_old_segments_are_not_read(live, monkeypatch):
    seal(live)
    sealed(live, "bad-0", [], opened_ns=START - 10 * 24 * HOUR).write_bytes(b"never opened")
    assert len(Store(live).samples(since_ns=START)) == 6 * 5000
    with pytest.warns(DamagedFileWarning, match=r"bad-0\.parquet is no Parquet file"):
        assert len(Store(live).samples()) == 6 * 5000


def test_a_damaged_segment_is_named_and_the_others_are_read(live):
    path = spool_segments(live)[0].path.with_name("bad-000000.spool")
    path.write_bytes(bytes(4096))  # what a power failure may leave
    with pytest.warns(DamagedFileWarning, match="bad-000000"):
        found = Store(live).samples()
    assert len(found) == 6 * 5000


def test_targets_come_from_states_and_samples(tmp_path):
    simulated(tmp_path, 60)
    sealed(tmp_path, "r-0", [row(START, 5000, target="/old", host="gone")])
    assert Store(tmp_path).targets() == [TargetRef("gone", "/old"), TargetRef("login2", "/work")]
    shutil.rmtree(tmp_path / "spool")
    assert TargetRef("login2", "/work") in Store(tmp_path).targets()


def test_names_with_quotes_are_names(tmp_path):
    name = '/it\'s; DROP TABLE "x" -- é'
    target = {"path": "/work", "name": name, "backend": "null"}
    simulated(tmp_path, 60, target=[target])
    for _ in range(2):
        assert Store(tmp_path).count(target=name, ops=["md_stat"]) == 60
        assert Store(tmp_path).count(target="it's") == 0
        seal(tmp_path)


def test_no_ops_are_no_samples(live):
    assert Store(live).count(ops=[]) == 0


def test_an_unknown_column_is_refused(live):
    with pytest.raises(UsageError, match="no column 'latency'"):
        Store(live).samples(("latency",))


def test_cells_count_every_sample(live):
    cells = Store(live).cells(100 * SECOND, 24, ops=["md_create"])
    assert cells["n"].sum() == 5000
    assert (
        cells["n"][cells["kind"] == "ok"].sum() + cells["n"][cells["kind"] == "skipped"].sum()
        == 5000
    )
    level = cells["level"][cells["kind"] == "ok"]
    assert 24 * 5 < np.median(level) < 24 * 7  # about 1 ms


def test_pools_are_windows_together(live):
    store = Store(live)
    windows = store.windows(100 * SECOND, ops=["md_stat"])
    tags = {name: windows[name] for name in ("host", "target", "op", "period_ns", "start_ns")}
    tags["tag"] = np.zeros(len(windows), dtype=np.int64)
    pool = store.pooled(tags, 100 * SECOND, ("q50_ns", "max_ns"))
    assert (len(pool), pool["n_seen"][0]) == (1, 5000)
    assert pool["max_ns"][0] == windows["max_ns"].max()
    some = store.tagged_samples({name: tags[name][3:5] for name in tags}, 100 * SECOND)
    assert len(some) == 200
    assert (np.diff(some["due_ns"]) > 0).all()


def test_a_long_table_is_written_in_its_order(tmp_path):
    n = 300_000
    path = tmp_path / "table.csv"
    assert write_frame(Frame({"place": np.arange(n)}), path, "csv") == n
    assert np.array_equal(np.loadtxt(path, skiprows=1, dtype=np.int64), np.arange(n))
