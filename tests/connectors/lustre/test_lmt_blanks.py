"""Zeros that are none in a table that is read span by span: the same ones, wherever a span ends."""

from __future__ import annotations

from math import isnan, nan

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.connectors.counters import blanks
from iosonde.connectors.lustre.lmt.blanks import Blanks
from tests.kit.records.readings import VALUES, slowly


def tables() -> st.SearchStrategy[list[list[float]]]:
    row = st.lists(VALUES, min_size=3, max_size=3)
    return st.lists(row, min_size=2, max_size=20)


@settings(max_examples=300, deadline=None)
@given(tables(), st.integers(2, 7))
def test_tables_in_spans_lose_the_same_zeros(table: list[list[float]], width: int) -> None:
    value = np.array(table)
    whole = blanks(value, value == 0)
    spans = Blanks(lambda rows, _: value[rows], len(value), width, 3)
    for begin in range(0, max(len(value) - 1, 1), width - 1):
        rows = slice(begin, min(begin + width, len(value)))
        cleaned, blank = spans.out(value[rows], rows)
        np.testing.assert_array_equal(blank, whole[rows])
        np.testing.assert_array_equal(cleaned, np.where(whole[rows], nan, value[rows]))
    for column in range(3):
        readings = [(n, v, False) for n, v in enumerate(value[:, column].tolist())]
        steps = value[~np.isnan(value[:, column]) & ~whole[:, column], column]
        assert [v for *_, v in slowly(readings)[0] if not isnan(v)] == [
            step for step in np.diff(steps).tolist() if step >= 0
        ]


def test_what_is_behind_is_looked_up_once() -> None:
    value = np.zeros((1000, 2))
    value[0] = 5
    value[900, 0] = 9
    asked: list[int] = []

    def read(rows: slice, places: np.ndarray) -> np.ndarray:
        asked.append(rows.start)
        assert len(places) == 2 - (rows.start > 900)
        return value[rows]

    spans = Blanks(read, 1000, 10, 2)
    for begin in range(0, 999, 9):
        rows = slice(begin, min(begin + 10, 1000))
        _, blank = spans.out(value[rows], rows)
        assert not blank[:, 1].any()
        assert (blank[:, 0] == [0 < row < 900 for row in range(rows.start, rows.stop)]).all()
    assert len(asked) < 120
