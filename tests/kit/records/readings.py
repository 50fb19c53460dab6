"""Readings of a counter, cut anywhere, and what becomes of them by the book: one after the other, in plain Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from math import isnan, nan

import numpy as np
from hypothesis import strategies as st

from iosonde.connectors.gather import ComponentSeries, Gather
from iosonde.model.metrics import MetricBlock
from tests.kit.records.connected import sound

Reading = tuple[int, float, bool]
Rows = list[tuple[int, int, float]]


def key(name: str = "a", metric: str = "read_bytes") -> ComponentSeries:
    return ComponentSeries("fs", "ost", metric, name)


def understood(blocks: Iterable[MetricBlock], name: str = "a") -> tuple[Rows, Counter[str]]:
    """(time, step, value) of a component by time, and how often each flag was said."""
    rows: Rows = []
    flags: Counter[str] = Counter()
    for block in blocks:
        sound(block)
        for note in block.notes:
            if note.what.split()[0] == name:
                flags[note.flag] += note.n
        if name in block.components:
            column = block.value[:, block.components.index(name)].tolist()
            rows += zip(block.time_ns.tolist(), block.step_ns.tolist(), column, strict=True)
    return sorted(rows), flags


def gathered(
    readings: Iterable[Reading], cuts: Iterable[bool] = (), held: Gather | None = None
) -> tuple[Rows, Counter[str]]:
    held = held or Gather("x")
    blocks: list[MetricBlock] = []
    for (time_ns, value, anew), cut in zip(readings, [*cuts, *[False] * 1000], strict=False):
        held.counter(key(), time_ns, value, restarted=anew)
        if cut:
            blocks += held.blocks()
    return understood([*blocks, *held.rest()])


def slowly(readings: list[Reading]) -> tuple[Rows, Counter[str]]:
    """The same by the book, one reading after the other."""
    flags: Counter[str] = Counter()
    first: dict[int, tuple[float, bool]] = {}
    for time_ns, value, anew in readings:
        if not isnan(value):
            flags["duplicate"] += time_ns in first
            first.setdefault(time_ns, (value, anew))
    given = sorted(first.items())
    real = []
    for place, (time_ns, (value, anew)) in enumerate(given):
        before = [n for n in range(place) if given[n][1][0]]
        after = [n for n in range(place, len(given)) if given[n][1][0]]
        if not value and before and after:
            between = given[before[-1] + 1 : after[0] + 1]
            goes_on = given[after[0]][1][0] >= given[before[-1]][1][0]
            if goes_on and not any(begun for _, (_, begun) in between):
                flags["monitor-down"] += 1
                continue
        real.append((time_ns, value, anew))
    rows: Rows = []
    for (one, was, _), (other, value, anew) in pairwise(real):
        lost = anew or value < was
        flags["counter-reset"] += lost
        rows.append((one, other - one, nan if lost else value - was))
    return rows, +flags if rows else Counter()


VALUES = st.sampled_from([0, 0, 0, 1, 2, 3, 7, nan])


@st.composite
def logs(draw: st.DrawFn) -> tuple[list[Reading], list[bool]]:
    """Readings in the order of time, some of them again, and where they are cut."""
    times = np.cumsum(draw(st.lists(st.sampled_from([0, 1, 1, 2]), max_size=25))).tolist()
    grow = draw(st.booleans())
    readings, total, last = [], 0.0, -1
    for time_ns in times:
        value = draw(VALUES)
        if grow and not isnan(value) and value:
            value = total = total + value
        anew = time_ns > last and not isnan(value) and draw(st.integers(0, 9)) == 0
        readings.append((time_ns, value, anew))
        last = last if isnan(value) else time_ns
    cuts = draw(st.lists(st.booleans(), min_size=len(times), max_size=len(times)))
    return readings, cuts


def same(one: tuple[Rows, Counter[str]], other: tuple[Rows, Counter[str]]) -> None:
    np.testing.assert_array_equal(np.array(one[0]), np.array(other[0]))
    assert one[1] == other[1]
