"""A sheet as rows: every mark's numbers, with units, places and instants."""

from zoneinfo import ZoneInfo

import numpy as np

from iosonde.drawing import marks
from iosonde.drawing.sheet import Pane, Sheet
from iosonde.drawing.table import HEAD, sheet_rows

T0 = 1_795_000_000.0
BERLIN = ZoneInfo("Europe/Berlin")


def a(*values: float) -> np.ndarray:
    return np.array(values, dtype=float)


def rows_of(*some: marks.Mark, across: str = "") -> list[dict]:
    pane = Pane("reads", "/work", "s", some, 3, across=across)
    sheet = Sheet("test", "", ("/work",), (pane,), None, None, (), levels=("1", "5"), levels_of="M")
    return list(sheet_rows(sheet, BERLIN))


def test_an_operation_has_its_instant_in_the_zone_and_its_unit() -> None:
    kinds = np.array(["ok", "failed"], dtype=object)
    first, second = rows_of(marks.Points(a(T0, T0 + 0.25), a(0.5, np.nan), kinds))
    assert first == {
        **{"pane": "reads", "column": "/work", "unit": "s", "mark": "operation", "name": "ok"},
        **{"begin": "2026-11-18T12:06:40.000+01:00", "value": 0.5, "n": 1},
    }
    assert second["value"] is None, "missing is empty, never zero"
    assert second["begin"].endswith("40.250+01:00")


def test_cells_keep_every_operation() -> None:
    cells = marks.Cells(a(T0, T0 + 1, T0 + 2), a(0.1, 1, 10), np.array([[0, 2], [5, 0]]))
    rows = rows_of(cells)
    assert [(row["lower"], row["upper"], row["n"]) for row in rows] == [(0.1, 1, 2), (1, 10, 5)]


def test_marks_over_levels_and_numbers_name_their_place() -> None:
    line = marks.LevelLine("mean", "median", a(0, 1), a(2, 3), a(1, 2), a(4, np.nan))
    dots = marks.NumberDots("write", "write", a(7), a(9))
    (low, high), (dot,) = rows_of(line), rows_of(dots, across="rank")
    assert (low["across"], low["across_unit"], low["lower"], low["upper"]) == ("1", "M", 1, 4)
    assert (high["across"], high["upper"]) == ("5", None)
    assert (dot["across"], dot["across_unit"], dot["value"]) == (7, "rank", 9)


def test_each_mark_has_rows_of_the_head_or_none() -> None:
    one = a(1.0)
    every: list[marks.Mark] = [
        marks.StepMarks("usual", a(T0), a(T0 + 60), one, one, one),
        marks.Strip("slowdown", a(T0), a(T0 + 60), a(2.0), ((T0, T0 + 60, 2.0),)),
        marks.Shade("slow", T0, T0 + 60),
        marks.Level("limit", 3.0),
        marks.Bars(
            ("a",), np.array([9]), one, one, one, one, one, one, np.array([0]), np.array([2])
        ),
        marks.RatioMarks(("a",), one, one, one, np.array([True]), 1.1),
        marks.Dots(a(0), one),
        marks.Curve("a", one, one, 1.0, 9, 0.1),
        marks.NumberLine("write", "write", one, one),
    ]
    counts = [len(rows_of(mark)) for mark in every]
    assert counts == [1, 2, 1, 1, 6, 1, 1, 1, 1]
    assert all(set(row) <= set(HEAD) for mark in every for row in rows_of(mark))
    assert rows_of(marks.Ruler(1.0, 1.0)) == [], "it rules lines and measures nothing"
