"""What every window amounted to outlives its raw samples."""

from __future__ import annotations

import csv
import shutil

import numpy as np
import pytest

from iosonde.engine.contract import HOST_COLUMNS, WINDOW_COLUMNS
from iosonde.engine.layout.months import window_files
from iosonde.engine.layout.segments import parquet_segments
from iosonde.model.errors import DamagedFileWarning
from iosonde.model.frames import Choice, Frame, SlowdownQuery
from iosonde.weather.seal import seal
from iosonde.weather.slowdown.slowdown import analyse
from iosonde.weather.store import Store
from tests.kit.commands import run
from tests.kit.samples.makers import LATENCY, SECOND, START, simulate, simulated

MINUTE = 60 * SECOND
SLOW = {"op": "md_stat", "after": "3700s", "for": "400s", "multiply": 5.0}
HANG = {"op": "md_create", "after": "100s", "for": "90s", "hang": True}
ERRORS = {"op": "data_read", "after": "2000s", "for": "70s", "error": "EIO"}


@pytest.fixture
def store(tmp_path):
    """Two hours and a bit, with a slow stretch, a hang and errors; the first hour sealed."""
    simulated(tmp_path, 8000, SLOW, HANG, ERRORS)
    seal(tmp_path)
    assert len(parquet_segments(tmp_path)) == 3
    return Store(tmp_path)


def drop_raw(store, segments=99):
    for segment in parquet_segments(store.root)[:segments]:
        segment.path.unlink()


def identical(one, other):
    assert one.keys() == other.keys()
    for name in one.columns:
        assert one[name].dtype == other[name].dtype, name
        same = (one[name] == other[name]) | (one[name] != one[name]) & (other[name] != other[name])
        assert len(one) == len(other), name
        assert same.all(), (name, one[name][~same][:3], other[name][~same][:3])


def test_a_target_of_which_only_windows_are_left_is_known(store):
    known = store.targets()
    assert [ref.target for ref in known] == ["/work"]
    drop_raw(store)
    shutil.rmtree(store.root / "state")
    assert store.targets() == known
    (folder,) = (store.root / "windows").iterdir()
    (folder / "bad.1000ms-60s.2026-09.windows").write_text("damage")
    with pytest.warns(DamagedFileWarning):
        assert store.targets() == known


@pytest.mark.parametrize("segments", [1, 2, 99])
def test_the_table_is_the_same_to_the_nanosecond_after_raw_samples_went(store, segments):
    # What is compared level by level needs raw samples; the median of a kept window does not.
    query = SlowdownQuery(window_ns=MINUTE, statistic="median", choice=Choice("sliding"))
    before = analyse(store, query, everything=True)
    assert set(WINDOW_COLUMNS) < set(before.windows.keys())
    assert before.windows["slow"].sum() >= 6
    drop_raw(store, segments)
    after = analyse(store, query, everything=True)
    gone = {name for name in before.windows.columns if name.startswith("lost")} | {*HOST_COLUMNS}
    names = [name for name in before.windows.columns if name not in gone]
    identical(
        Frame({name: before.windows[name] for name in names}),
        Frame({name: after.windows[name] for name in names}),
    )
    assert before.usual == after.usual


def test_of_kept_windows_the_median_stands_in_for_the_typical_operation(store):
    drop_raw(store)
    windows = analyse(store, SlowdownQuery(window_ns=MINUTE)).windows
    known = ~np.isnan(windows["slowdown"])
    assert np.isnan(windows["typ"]).all()
    assert known.sum() > 600
    ratio = windows["q50_ns"] / windows["baseline_ns"]
    assert np.allclose(windows["slowdown"][known], ratio[known])


def test_a_busy_host_is_still_known_to_have_been_busy(store):
    names = ("unqueued_q50_ns", "late_q50_ns")
    windows = store.windows(MINUTE)
    tags = {name: windows[name] for name in ("host", "target", "op", "period_ns", "start_ns")}
    tags["tag"] = np.arange(len(windows))
    before = store.pooled(tags, MINUTE, names)
    assert not np.isnan(before["late_q50_ns"]).all()
    drop_raw(store)
    identical(before, store.pooled(tags, MINUTE, names))


def test_a_slow_stretch_is_still_found_though_not_to_the_sample(store):
    query = SlowdownQuery(window_ns=MINUTE, ops=("md_stat",))
    (before,) = analyse(store, query).spans
    drop_raw(store)
    (after,) = analyse(store, query).spans
    assert (before.refined, after.refined) == (True, False)
    assert abs(after.start_ns - before.start_ns) <= MINUTE
    assert (after.end_ns, after.windows) == (before.end_ns, before.windows)
    assert after.n == before.n
    assert after.slowdown is None, "pooled statistics cannot be had from windows"


@pytest.mark.usefixtures("utc", "now")
def test_the_command_shows_the_past_as_before(store, capsys):
    def told():
        arguments = ("--stat", "median", "--baseline", "7d", "--format", "csv")
        assert run("slowdown", *arguments, store=store.root) == 0
        rows = csv.DictReader(capsys.readouterr().out.splitlines())
        # Which operations came late is not known of a window.
        return [{k: v for k, v in row.items() if not k.startswith("lost")} for row in rows]

    before = told()
    drop_raw(store)
    assert told() == before
    assert len(before) > 700
    assert run("slowdown", store=store.root) == 0
    assert "stats on /work were slower than usual from" in capsys.readouterr().out


def test_scopes_and_other_lengths(store):
    full = store.windows(MINUTE)
    tens = store.rolled_windows(10 * MINUTE)
    drop_raw(store)
    identical(tens, store.windows(10 * MINUTE))
    some = store.windows(MINUTE, ops=("md_read",), since_ns=START + 1000 * SECOND, host="login2")
    assert set(some["op"]) == {"md_read"}
    rows = (full["op"] == "md_read") & (full["start_ns"] >= int(some["start_ns"][0]))
    identical(full.take(rows), some)
    for nothing in (
        store.windows(5 * MINUTE),
        store.windows(MINUTE, host="other"),
        store.windows(MINUTE, target="/elsewhere"),
        store.windows(MINUTE, until_ns=START - 3600 * SECOND),
    ):
        assert len(nothing) == 0


def test_a_window_that_two_runs_share_counts_as_the_raw_samples_say(tmp_path):
    simulated(tmp_path, 90)
    raw = Store(tmp_path).windows(MINUTE)
    shutil.rmtree(tmp_path / "spool")
    simulated(tmp_path, 70, seed=9)
    shared = Store(tmp_path).windows(MINUTE)
    assert len(shared) == len(raw)
    assert (shared["n_due"].reshape(6, -1) == [40, 50]).all(), "the longer of the two"
    simulated(tmp_path, 90, seed=10)
    both = Store(tmp_path).windows(MINUTE)
    assert (both["n_due"].reshape(6, -1) == [80, 80]).all(), "raw samples of the two"


def test_a_file_that_is_cut_or_foreign_costs_only_itself(store):
    full = store.windows(MINUTE)
    drop_raw(store)
    (file,) = window_files(store.root, MINUTE)
    whole = file.path.read_bytes()
    file.path.with_name("x.1000ms-60s.2026-09.windows").write_bytes(b"what is this")
    with pytest.warns(DamagedFileWarning, match=r"x\.1000ms-60s"):
        identical(full, store.windows(MINUTE))
    file.path.with_name("x.1000ms-60s.2026-09.windows").unlink()
    file.path.write_bytes(whole[: len(whole) // 2])
    found = store.windows(MINUTE)
    assert 0 < len(found) < len(full)
    known = set(zip(full["op"], full["start_ns"], full["n_seen"], strict=True))
    assert set(zip(found["op"], found["start_ns"], found["n_seen"], strict=True)) <= known


def test_the_next_run_knows_what_is_usual(store):
    shutil.rmtree(store.root / "samples")
    target = {"path": "/work", "backend": "null", "latency": LATENCY}
    config = {"store": str(store.root), "host": "login2", "window": "60s", "target": [target]}
    summary = simulate(config, START + 9000 * SECOND, 70 * SECOND)
    ops = summary["targets"][0]["ops"]
    assert {(op["baseline_windows"], op["stage"]) for op in ops} == {(13, "early")}
