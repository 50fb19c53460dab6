"""The block of levels is what sorting every window by hand gives."""

from __future__ import annotations

import operator
import shutil

import numpy as np
import pytest

from iosonde.engine import slices
from iosonde.engine.contract import LEVEL_COLUMNS, WINDOW_COLUMNS
from iosonde.engine.query import Query, run
from iosonde.weather.seal import seal
from iosonde.weather.store import Store
from tests.kit.samples import brute
from tests.kit.samples.makers import SECOND, START, rows, sealed, simulated

MINUTE = 60 * SECOND
INTERVAL = 600 * SECOND
WHOLE = START // INTERVAL * INTERVAL + INTERVAL


def check(table, samples, window_ns):
    found = brute.windows(samples, window_ns)
    assert len(table) == len(found)
    for i in range(len(table)):
        key = (*(table[name][i] for name in brute.SERIES), table["start_ns"][i])
        for name, value in brute.expected(found[key]).items():
            assert np.array_equal(table[name][i], value), (key, name)


@pytest.mark.parametrize("window_ns", [10 * SECOND, MINUTE, 7 * MINUTE])
def test_levels_are_those_of_brute_force_whatever_went_wrong(tmp_path, window_ns):
    random = np.random.default_rng(3)
    samples = brute.troubled(random, 1500, WHOLE) + brute.troubled(random, 900, WHOLE, "md_read")
    sealed(tmp_path, "r-0", samples)
    table = Store(tmp_path).windows(window_ns, levels=True)
    assert tuple(table.columns) == (*WINDOW_COLUMNS, *LEVEL_COLUMNS)
    check(table, samples, window_ns)


def test_an_end_may_be_there_without_the_other(tmp_path):
    sealed(tmp_path, "r-0", rows(range(1000, 1060), WHOLE))
    table = Store(tmp_path).windows(MINUTE, levels=True)
    lower, point, upper = table["response_ns"][0, 1]
    assert (lower > 0, point, upper) == (True, 1056, -1)
    assert table["levels_ns"][0, 0].tolist()[0] == -1
    assert np.isnan(table["q95_ns"][0]), "a number of windows.toml still needs both ends"


def test_a_window_in_which_nothing_ended_has_no_level(tmp_path):
    samples = brute.troubled(np.random.default_rng(1), 40, WHOLE)
    silent = [s | {"outcome": "pending", "ended_ns": None} for s in samples]
    sealed(tmp_path, "r-0", silent)
    table = Store(tmp_path).windows(MINUTE, levels=True)
    assert (table["n_seen"][0], table["n_response"][0], table["n_lost"][0]) == (0, 0, 40)
    assert (table["levels_ns"] == -1).all()
    assert (table["response_ns"] == -1).all()


def test_an_empty_store_has_the_shape_of_a_full_one(tmp_path):
    table = Store(tmp_path).windows(MINUTE, levels=True)
    assert len(table) == 0
    assert table["levels_ns"].shape == (0, 19, 3)
    assert table["response_ns"].shape == (0, 2, 3)


def test_windows_that_were_only_kept_have_no_levels(tmp_path):
    simulated(tmp_path, 700)
    seal(tmp_path)
    before = Store(tmp_path).windows(MINUTE, levels=True)
    shutil.rmtree(tmp_path / "samples")
    after = Store(tmp_path).windows(MINUTE, levels=True)
    assert after["n_due"].tolist() == before["n_due"].tolist()
    assert (after["levels_ns"] == -1).all()
    assert (after["n_lost"] == -1).all()


@pytest.mark.parametrize("slice_rows", [1, 700, 10**9])
def test_a_range_in_slices_is_the_range_in_one(tmp_path, monkeypatch, slice_rows):
    """With operations that were written a segment later than they were due."""
    random = np.random.default_rng(8)
    everything = []
    for number in range(6):
        start = WHOLE + number * 900 * SECOND
        samples = brute.troubled(random, 900, start)
        samples += brute.troubled(random, 3, start - 120 * SECOND, "md_create")
        sealed(tmp_path, f"r-{number}", samples)
        everything += samples
    monkeypatch.setattr(slices, "_SMALL_BYTES", 0)
    monkeypatch.setattr(slices, "SLICE_ROWS", slice_rows)
    check(Store(tmp_path).windows(7 * MINUTE, levels=True), everything, 7 * MINUTE)
    since, until = WHOLE + 1000 * SECOND, WHOLE + 3000 * SECOND
    table = Store(tmp_path).windows(MINUTE, levels=True, since_ns=since, until_ns=until)
    since, until = since // MINUTE * MINUTE, -(-until // MINUTE) * MINUTE
    check(table, [s for s in everything if since <= s["due_ns"] < until], MINUTE)


def test_slices_do_slice(tmp_path, monkeypatch):
    for number in range(4):
        sealed(tmp_path, f"r-{number}", rows([1000] * 600, WHOLE + number * INTERVAL))
    monkeypatch.setattr(slices, "_SMALL_BYTES", 0)
    monkeypatch.setattr(slices, "SLICE_ROWS", 600)
    counts = Query(
        ("SELECT count(*) AS n FROM samples",),
        lambda found: found["n"].tolist(),
        merge=operator.add,
        cut_ns=MINUTE,
    )
    assert run(tmp_path, [counts]) == [[600] * 4]
