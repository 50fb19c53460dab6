"""Slow, clear and unknown time of a job: they add up, and say what the cells say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.jobs.scheduled.cells import OpCells, TargetCells
from iosonde.jobs.scheduled.storage_time import LEVELS, StorageTime
from iosonde.jobs.scheduled.time_of import time_of

MINUTE = 60_000_000_000
START = 1_790_000_040_000_000_000 // MINUTE * MINUTE


def cells(typ: np.ndarray, *, half: float = 0.05) -> OpCells:
    """Judged windows whose interval is ``half`` of typ to either side; NaN: not judged, though measured."""
    return OpCells(
        typ,
        typ * (1 - half),
        typ * (1 + half),
        (typ >= 2) & (typ * (1 - half) >= 1.5),
        np.ones(len(typ), bool),
        np.zeros(len(typ), bool),
    )


def told(span: tuple[int, int] | None = None, **ops: OpCells) -> StorageTime:
    n = len(next(iter(ops.values())).typ)
    starts = START + np.arange(n) * MINUTE
    whole = (START, START + n * MINUTE)
    return time_of(TargetCells("/work", ("login1",), starts, ops), span or whole)


VALUES = st.sampled_from([0.5, 1.0, 1.6, 2.0, 3.0, 30.0, np.inf, np.nan])


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(VALUES, VALUES), min_size=2, max_size=60),
    st.integers(0, 59),
    st.integers(1, 60),
)
def test_slow_and_clear_and_unknown_are_the_run_time(pairs, first, length) -> None:
    one, other = (np.array(column) for column in zip(*pairs, strict=True))
    begin = START + first * MINUTE // 2 + 7
    end = min(begin + length * MINUTE // 3, START + len(pairs) * MINUTE)
    if end <= begin:
        return
    found = told((begin, end), md_create=cells(one), data_read=cells(other))
    assert found.slow_ns + found.clear_ns + found.unknown_ns == end - begin
    assert found.unprobed_ns + found.busy_ns <= found.unknown_ns
    assert sum(last - first for first, last in found.stretches) == found.slow_ns
    values = [at.slow_ns for at in found.at]
    assert values[0] == found.slow_ns
    assert values == sorted(values, reverse=True)
    assert all(at.least_ns <= at.slow_ns <= at.most_ns for at in found.at)
    assert [at.level for at in found.at] == list(LEVELS)
    assert all(op.slow_ns <= found.slow_ns for op in found.ops)


def test_the_told_level_holds_for_half_of_the_slow_time_and_the_longest_op_comes_first() -> None:
    create, read = np.ones(60), np.ones(60)
    create[10:40] = 4.0
    read[10:20] = 12.0
    found = told(md_create=cells(create), data_read=cells(read))
    assert found.slow_ns == 30 * MINUTE
    assert (found.told.level, found.told.slow_ns) == (3.0, 30 * MINUTE)
    assert [(op.op, op.slow_ns // MINUTE, op.typ) for op in found.ops] == [
        ("md_create", 30, 4.0),
        ("data_read", 10, 12.0),
    ]


@pytest.mark.parametrize("windows", [1, 2])
def test_one_or_two_windows_are_no_slow_stretch(windows: int) -> None:
    typ = np.ones(60)
    typ[20 : 20 + windows] = 50.0
    assert told(md_create=cells(typ)).slow_ns == 0


def test_what_is_not_sure_is_not_slow() -> None:
    typ = np.ones(60)
    typ[20:40] = 2.5
    assert told(md_create=cells(typ, half=0.5)).slow_ns == 0


def test_a_window_that_dips_within_a_stretch_does_not_cut_it() -> None:
    typ = np.ones(60)
    typ[20:40] = 3.5
    typ[30] = 1.7
    found = told(md_create=cells(typ))
    assert found.slow_ns == 20 * MINUTE
    assert len(found.stretches) == 1


def test_no_answer_is_slow_at_every_level() -> None:
    typ = np.ones(60)
    typ[20:26] = np.inf
    found = told(md_create=cells(typ))
    assert [at.slow_ns // MINUTE for at in found.at] == [6] * len(LEVELS)


def test_unknown_time_has_its_reasons() -> None:
    typ = np.ones(60)
    typ[:30] = np.nan
    some = cells(typ)
    probed, busy = some.probed.copy(), some.busy.copy()
    probed[:10] = False
    busy[10:15] = True
    found = told(md_create=some._replace(probed=probed, busy=busy))
    minutes = (found.unknown_ns, found.unprobed_ns, found.busy_ns, found.clear_ns)
    assert tuple(ns // MINUTE for ns in minutes) == (30, 10, 5, 30)
