"""Samples of any clock on a grid: nothing is lost, nothing is made, and missing is not zero."""

from __future__ import annotations

from math import isnan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.jobs.attribution.grid import CounterSamples, Grid, of_blocks, regrid
from iosonde.model.metrics import MetricBlock

S = 1_000_000_000
GRID = Grid(1000 * S, 30 * S, 20)


def samples(*rows):
    node, begin, end, amount = (np.array(column) for column in zip(*rows, strict=True))
    return CounterSamples(
        node.astype(np.intp),
        (begin * S).astype(np.int64),
        (end * S).astype(np.int64),
        amount.astype(np.float64),
    )


ROW = st.tuples(
    st.integers(0, 2),
    st.integers(900, 1700),
    st.integers(0, 200),
    st.one_of(st.just(float("nan")), st.floats(0, 1e6)),
).map(lambda row: (row[0], row[1], row[1] + row[2], row[3]))


@settings(max_examples=300, deadline=None)
@given(st.lists(ROW, min_size=1, max_size=40))
def test_operations_in_are_operations_out(rows):
    found = regrid(samples(*rows), GRID, ("a", "b", "c"))
    there = sum(amount for _, begin, end, amount in rows if end > begin and not isnan(amount))
    total = found.ops.sum(dtype=np.float64) + found.outside + found.twice
    assert total == pytest.approx(there, rel=1e-5, abs=1e-3)
    assert (found.ops >= 0).all()
    assert (found.covered <= 1).all()


@settings(max_examples=100, deadline=None)
@given(st.lists(ROW, min_size=1, max_size=40))
def test_coverage_is_the_time_with_records(rows):
    found = regrid(samples(*rows), GRID, ("a", "b", "c"))
    seconds = np.zeros((3, GRID.cells * 30), bool)
    for node, begin, end, amount in rows:
        if not isnan(amount):
            seconds[node, max(0, begin - 1000) : max(0, end - 1000)] = True
    expected = seconds.reshape(3, GRID.cells, 30).mean(axis=2)
    np.testing.assert_allclose(found.covered, expected, atol=1e-5)


def test_a_sample_over_two_cells_is_spread_by_time():
    found = regrid(samples((0, 1020, 1050, 30.0)), GRID, ("a",))
    assert found.ops[0, :3].tolist() == [10.0, 20.0, 0.0]
    assert found.covered[0, :3].tolist() == pytest.approx([1 / 3, 2 / 3, 0.0])


def test_a_sample_recorded_twice_counts_once():
    found = regrid(samples((0, 1000, 1030, 9.0), (0, 1000, 1030, 9.0)), GRID, ("a",))
    assert (found.ops[0, 0], found.twice) == (9.0, 9.0)


def block(metric, value, level="client"):
    value = np.array(value, dtype=np.float64)
    times = (1000 + 30 * np.arange(len(value))) * S
    steps = np.full(len(value), 30 * S)
    unit = "operations"
    names = ("n1", "n2")[: value.shape[1]]
    return MetricBlock("collectl", "c", level, metric, unit, "delta", names, times, steps, value)


def test_metrics_of_a_node_add_up_and_one_that_is_missing_uncovers():
    nan = float("nan")
    found = of_blocks(
        [
            block("read_ops", [[1, 10], [2, nan]]),
            block("write_ops", [[5], [nan]]),
            block("read_bytes", [[7e9, 7e9], [7e9, 7e9]]),
            block("read_ops", [[99, 99], [99, 99]], "ost"),
        ],
        GRID,
    )
    assert found.nodes == ("n1", "n2")
    assert found.ops[:, :2].tolist() == [[6.0, 2.0], [10.0, 0.0]]
    assert found.covered[:, :2].tolist() == [[1.0, 0.0], [1.0, 0.0]]
