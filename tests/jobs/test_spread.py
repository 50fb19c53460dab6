"""A component with a longer step beside others: its amount lies where it passed, through the store and back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.jobs.store.series import SeriesName, read_block, write_block
from iosonde.model.metrics import Kind, MetricBlock

S = 1_000_000_000
NAME = SeriesName("proc", "work", "ost", "write_bytes")
FAR = 10**6 * S


def block(times: list[int], steps: list[int], values: dict[str, list[float]], kind: Kind = "delta"):
    return MetricBlock(
        *NAME, "bytes", kind, tuple(values),
        np.array(times, dtype=np.int64) * S, np.array(steps, dtype=np.int64) * S,
        np.array(list(values.values()), dtype=np.float64).T,
    )  # fmt: skip


def back(folder: Path, *blocks: MetricBlock, since: int = 0, until: int = FAR) -> MetricBlock:
    for one in blocks:
        write_block(folder, one)
    found = read_block(folder, NAME, since, until)
    assert found is not None
    return found


def test_a_step_over_a_gap_lies_where_it_passed(tmp_path: Path) -> None:
    others = block([100, 105, 110, 115], [5, 5, 5, 5], {"OST0": [10, 20, 30, 40]})
    one = block([100, 110, 115], [10, 5, 5], {"OST1": [100, 7, 8]})
    found = back(tmp_path, others, one)
    assert found.step_ns.tolist() == [5 * S] * 4
    assert found.value.tolist() == [[10, 50], [20, 50], [30, 7], [40, 8]]
    assert [note.flag for note in found.notes] == ["estimated"]


def test_a_state_holds_all_along(tmp_path: Path) -> None:
    others = block([100, 105, 110], [5, 5, 5], {"OST0": [1, 2, 3]}, "gauge")
    found = back(tmp_path, others, block([100], [15], {"OST1": [9]}, "gauge"))
    assert found.value.tolist() == [[1, 9], [2, 9], [3, 9]]


def test_what_lies_beyond_what_was_asked_for_stays_out(tmp_path: Path) -> None:
    others = block([100, 105, 110, 115], [5, 5, 5, 5], {"OST0": [10, 20, 30, 40]})
    one = block([100], [20], {"OST1": [100]})
    found = back(tmp_path, others, one, until=110 * S)
    assert found.value.tolist() == [[10, 25], [20, 25]]


def test_instants_are_no_steps(tmp_path: Path) -> None:
    found = back(tmp_path, block([100, 105], [0, 0], {"OST0": [1, 2]}, "gauge"))
    assert (found.step_ns.tolist(), found.value.tolist()) == ([0, 0], [[1], [2]])


def test_components_that_are_read_in_turn_share_a_grid(tmp_path: Path) -> None:
    """Sums and rates of all together are those of each: steps that overlap are not counted twice."""
    one = block([100, 105, 110], [5, 5, 5], {"OST0": [10, 20, 30]})
    other = block([102, 107, 112], [5, 5, 5], {"OST1": [50, 50, 50]})
    found = back(tmp_path, one, other)
    assert (found.time_ns / S).tolist() == [100, 102, 105, 107, 110, 112]
    assert (found.step_ns / S).tolist() == [2, 3, 2, 3, 2, 5]
    np.testing.assert_allclose(found.value[:, 0], [4, 6, 8, 12, 12, 18])
    np.testing.assert_allclose(found.value[1:, 1], [30, 20, 30, 20, 50])
    assert np.isnan(found.value[0, 1])
    assert not found.notes


def test_steps_of_one_component_that_overlap_are_cut(tmp_path: Path) -> None:
    """Two imports of one counter, a minute's steps and half a minute apart."""
    first = block([0, 60, 120], [60, 60, 60], {"OST0": [60, 60, 60]})
    found = back(tmp_path, first, block([30, 90], [60, 60], {"OST0": [120, 120]}))
    assert (found.step_ns / S).tolist() == [30, 30, 30, 30, 60]
    assert found.value[:, 0].tolist() == [30, 60, 30, 60, 60]


def test_jitter_of_a_monitor_changes_nothing(tmp_path: Path) -> None:
    times = np.array([100_000, 104_990, 110_010, 115_000]) * (S // 1000)
    made = MetricBlock(
        *NAME, "bytes", "delta", ("OST0",), times, np.full(4, 5 * S), np.array([[1.0], [2], [3], [4]])
    )  # fmt: skip
    found = back(tmp_path, made)
    assert found.value.tolist() == made.value.tolist()
    assert found.step_ns.tolist() == made.step_ns.tolist()


@settings(deadline=None, max_examples=30)
@given(st.data())
def test_nothing_is_lost_and_nothing_counted_twice(tmp_path_factory, data: st.DataObject) -> None:
    n = data.draw(st.integers(2, 12))
    edges = np.cumsum([0, *data.draw(st.lists(st.integers(1, 9), min_size=n, max_size=n))]) + 1000
    values = {"OST0": [float(place) for place in range(n)]}
    whole = block(edges[:-1].tolist(), np.diff(edges).tolist(), values)
    cuts = sorted({0, n, *data.draw(st.lists(st.integers(1, n - 1), max_size=n))})
    mine = edges[cuts]
    amounts = [float(data.draw(st.integers(1, 1000))) for _ in cuts[1:]]
    coarse = block(mine[:-1].tolist(), np.diff(mine).tolist(), {"OST1": amounts})
    found = back(tmp_path_factory.mktemp("store"), whole, coarse)
    assert found.time_ns.tolist() == whole.time_ns.tolist()
    assert found.step_ns.tolist() == whole.step_ns.tolist()
    assert found.value[:, 0].tolist() == values["OST0"]
    sums = np.add.reduceat(found.value[:, 1], cuts[:-1])
    np.testing.assert_allclose(sums, amounts, rtol=1e-12)
    steps = np.repeat(np.array(amounts) / np.diff(mine), np.diff(cuts))
    np.testing.assert_allclose(found.value[:, 1], steps * np.diff(edges), rtol=1e-12)
