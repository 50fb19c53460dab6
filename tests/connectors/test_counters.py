"""Zeros that a monitor wrote for want of a counter, resets, and readings that are cut anywhere."""

from __future__ import annotations

from collections import Counter
from math import isnan, nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.connectors.counters import increments
from iosonde.connectors.gather import Gather
from tests.kit.records.readings import Reading, gathered, key, logs, same, slowly, understood


@settings(max_examples=400, deadline=None)
@given(logs())
def test_cut_anywhere_readings_become_what_the_book_says(
    log: tuple[list[Reading], list[bool]],
) -> None:
    readings, cuts = log
    expected = slowly(readings)
    same(gathered(readings), expected)
    same(gathered(readings, cuts), expected)


@settings(max_examples=60, deadline=None)
@given(logs(), st.integers(1, 9), st.sampled_from(["gauge", "amount", "over"]))
def test_states_and_amounts_are_the_same_however_they_are_cut(log, most, kind) -> None:
    found = []
    for held in (Gather("x"), Gather("x", most=most)):
        blocks = []
        for time_ns, value, _ in log[0]:
            give = getattr(held, kind)
            give(key(), time_ns, *([] if kind == "gauge" else [5]), value + 0.1)
            blocks += held.blocks() if held.full else ()
        found.append(understood([*blocks, *held.rest()]))
    same(*found)
    first = {}
    for time_ns, value, _ in log[0]:
        first.setdefault(time_ns, value + 0.1)
    np.testing.assert_array_equal([row[2] for row in found[0][0]], list(first.values()))
    assert found[0][1]["duplicate"] == len(log[0]) - len(first)


@pytest.mark.parametrize(
    ("values", "deltas", "flags"),
    [
        ([5, 0, 8, 9], [(0, 2, 3), (2, 1, 1)], {"monitor-down": 1}),
        ([5, 0, 0, 5], [(0, 3, 0)], {"monitor-down": 2}),
        ([0, 0, 5, 6], [(0, 1, 0), (1, 1, 5), (2, 1, 1)], {}),
        ([5, 0, 0, 4], [(0, 1, nan), (1, 1, 0), (2, 1, 4)], {"counter-reset": 1}),
        ([5, 0, 0], [(0, 1, nan), (1, 1, 0)], {"counter-reset": 1}),
        ([5, nan, nan, 8], [(0, 3, 3)], {}),
        ([nan, 5, 0, nan, 8, nan], [(1, 3, 3)], {"monitor-down": 1}),
        ([2**63 + 1, 0, 2**63 + 4], [(0, 2, 3)], {"monitor-down": 1}),
        ([2**63 + 1, 0, 2**63], [(0, 1, nan), (1, 1, 2**63)], {"counter-reset": 1}),
        ([0, 0, 0], [(0, 1, 0), (1, 1, 0)], {}),
    ],
)
def test_what_a_zero_says(values, deltas, flags) -> None:
    readings = [(n, value, False) for n, value in enumerate(values)]
    for cut in (False, True):
        same(gathered(readings, [cut] * len(values)), (deltas, Counter(flags)))


def test_a_counter_that_began_again_at_zero_was_read() -> None:
    readings = [(0, 10, False), (1, 0, True), (2, 30, False)]
    for cuts in ([], [True] * 3):
        same(gathered(readings, cuts), ([(0, 1, nan), (1, 1, 30)], Counter({"counter-reset": 1})))


@pytest.mark.parametrize(("comes", "last"), [(9, nan), (4, 4)])
def test_zeros_without_end_are_not_held_and_what_follows_is_not_made_up(comes, last) -> None:
    held, blocks, most = Gather("x", most=20), [], 0
    for n in range(1000):
        held.counter(key(), n, 5 if n == 0 else 0)
        blocks += held.blocks() if held.full else ()
        most = max(most, sum(len(one.times) for one in held._held["counter"].values()))
    assert most <= 62
    assert sum(len(block.time_ns) for block in blocks) > 900
    for n, value in enumerate((comes, comes + 1), 1000):
        held.counter(key(), n, value)
        blocks += held.blocks()
    rows, flags = understood([*blocks, *held.rest()])
    values = [value for *_, value in rows]
    assert isnan(values[0])
    assert values[1] == 0
    np.testing.assert_array_equal(values[-2:], [last, 1])
    assert not any(values[1:-2])
    assert rows[-1][0] + rows[-1][1] == 1001
    assert flags["counter-reset"] == 1
    assert bool(flags["monitor-down"]) == isnan(last)


def test_counters_nobody_uses_are_no_doubt() -> None:
    """Their zeros are held too, as the last readings: other counters' zeros are not given out for that."""
    held, blocks = Gather("x", most=30), []
    for n, value in enumerate([5, 6, 0, 0, 0, 9]):
        held.counter(key(), n, value)
        for idle in range(50):
            held.counter(key(f"idle{idle}"), n, 0)
            blocks += held.blocks() if held.full else ()
    rows, flags = understood([*blocks, *held.rest()])
    assert rows == [(0, 1, 1), (1, 4, 3)]
    assert flags == {"monitor-down": 3}


def test_a_state_is_given_out_once() -> None:
    held, blocks = Gather("x"), []
    for second in (1, 2, 3, 1, 2, 3, 2):
        held.reading(key("a", "used_bytes"), second, second / 10)
        held.reading(key("a", "opens"), second, second)
        blocks += held.blocks()
    found = [*blocks, *held.rest()]
    rows, flags = understood(block for block in found if block.kind == "gauge")
    assert rows == [(1, 0, 0.1), (2, 0, 0.2), (3, 0, 0.3)]
    assert set(flags) == {"out-of-order", "duplicate"}
    assert understood(block for block in found if block.kind == "delta")[0] == [
        (1, 1, 1),
        (2, 1, 1),
    ]


def test_too_many_series_are_said() -> None:
    held = Gather("x", most_series=1)
    for name in "ab":
        held.gauge(key(name), 1, 1)
    (block,) = held.rest()
    assert [(note.flag, note.n) for note in block.notes] == [("left-out", 1)]


def test_components_share_a_block_in_every_piece() -> None:
    held, blocks = Gather("x", most=60), []
    for n in range(100):
        for name in "abc":
            held.counter(key(name), n, n * n if name != "c" or n != 50 else 0)
        blocks += held.blocks() if held.full else ()
    blocks += held.rest()
    assert len(blocks) <= 8
    assert {block.components for block in blocks} >= {("a", "b", "c"), ("a", "b"), ("c",)}
    for name in "abc":
        assert sum(value for *_, value in understood(blocks, name)[0]) == 99 * 99


def test_what_comes_after_it_was_given_out_is_left_out() -> None:
    held = Gather("x")
    for second in (1, 2, 3):
        held.counter(key(), second, second)
    assert [b.value.tolist() for b in held.blocks()] == [[[1]]]
    for second in (1, 5):
        held.counter(key(), second, second)
    (block,) = held.rest()
    assert (block.time_ns.tolist(), block.step_ns.tolist()) == ([2, 3], [1, 2])
    assert [note.flag for note in block.notes] == ["out-of-order"]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 2**40), min_size=2, max_size=30), st.randoms(use_true_random=False))
def test_order_does_not_matter_for_zeros(steps: list[int], shuffled: object) -> None:
    values = [v * (n % 3 != 1) for n, v in enumerate(np.cumsum(steps).tolist())]
    readings = [(n, value, False) for n, value in enumerate(values)]
    getattr(shuffled, "shuffle")(readings)  # noqa: B009 - hypothesis' type is not Random
    rows, flags = gathered(readings)
    expected, said = slowly(sorted(readings))
    np.testing.assert_array_equal(np.array(rows), np.array(expected))
    assert flags["monitor-down"] == said["monitor-down"]


def test_a_reset_between_missing_readings_is_told():
    readings = np.array([[100.0, 7], [np.nan, 8], [3.0, np.nan], [10.0, 9]])
    steps, notes = increments(readings, ("OST0", "OST1"))
    assert np.isnan(steps[:2, 0]).all()
    assert steps[2, 0] == 7
    assert [(note.flag, note.what, note.n) for note in notes] == [
        ("counter-reset", "OST0 fell back", 1)
    ]
