"""A sheet as rows of a table: everything that its picture draws, with units and instants that name their zone.

A row is a mark's number: an interval or an instant (``begin``, ``end``), or a place ``across``, then ``value`` with its
interval or edges (``lower``, ``upper``) and how many operations it stands for (``n``). Missing is None.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import singledispatch
from typing import TYPE_CHECKING, Any

from iosonde.drawing.marks import (
    Bars,
    Cells,
    Curve,
    Dots,
    Level,
    LevelLine,
    NumberDots,
    NumberLine,
    Points,
    RatioMarks,
    Shade,
    StepMarks,
    Strip,
)
from iosonde.model.units import iso_time

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from iosonde.drawing.sheet import Pane, Sheet

HEAD = (
    *("pane", "column", "mark", "name", "begin", "end", "across", "across_unit"),
    *("value", "lower", "upper", "unit", "n"),
)
Row = dict[str, Any]


def sheet_rows(sheet: Sheet, zone: ZoneInfo | None) -> Iterator[Row]:
    """Rows of ``HEAD``, pane by pane; missing values are left out.

    Instants are ISO 8601 in ``zone`` (None: the machine's), with their offset from UTC.
    """

    def instant(time_s: float) -> str | None:
        if not math.isfinite(time_s):
            return None
        return iso_time(round(time_s * 1e6) * 1000, zone)

    for pane in sheet.panes:
        across = pane.across or sheet.levels_of
        for mark in pane.marks:
            for row in _rows(mark):
                yield _finished(row, pane, sheet, across, instant)


def _finished(
    row: Row, pane: Pane, sheet: Sheet, across: str, instant: Callable[[float], str | None]
) -> Row:
    for name in ("begin", "end"):
        if name in row:
            row[name] = instant(row[name])
    if "level" in row:
        row["across"] = sheet.levels[int(row.pop("level"))]
    if "across" in row:
        row.setdefault("across_unit", across)
    for name, value in row.items():
        if isinstance(value, float) and not math.isfinite(value):
            row[name] = None
    measured = any(name in row for name in ("value", "lower"))
    place = {"pane": pane.row, "column": pane.column}
    return place | ({"unit": pane.unit} if measured else {}) | row


@singledispatch
def _rows(_: Any) -> Iterator[Row]:
    """Rows of one mark; none for grid lines."""
    yield from ()


@_rows.register
def _points(mark: Points) -> Iterator[Row]:
    for time, value, kind in zip(mark.time_s.tolist(), mark.value.tolist(), mark.kind, strict=True):
        yield {"mark": "operation", "name": str(kind), "begin": time, "value": value, "n": 1}


@_rows.register
def _cells(mark: Cells) -> Iterator[Row]:
    times, edges = mark.time_edges_s.tolist(), mark.value_edges.tolist()
    for level, place in zip(*mark.counts.nonzero(), strict=True):
        yield {
            "mark": "operations in a cell",
            "begin": times[place],
            "end": times[place + 1],
            "lower": edges[level],
            "upper": edges[level + 1],
            "n": int(mark.counts[level, place]),
        }


@_rows.register
def _steps(mark: StepMarks) -> Iterator[Row]:
    for place, value in enumerate(mark.value.tolist()):
        row: Row = {"mark": "interval", "name": mark.role, "value": value}
        row |= {"begin": float(mark.start_s[place]), "end": float(mark.end_s[place])}
        yield row | _interval(mark, place)


@_rows.register
def _strip(mark: Strip) -> Iterator[Row]:
    spans = zip(mark.start_s.tolist(), mark.end_s.tolist(), mark.value.tolist(), strict=True)
    for kind, found in (("interval", spans), ("stretch", mark.stretches)):
        for begin, end, value in found:
            row = {"mark": kind, "name": mark.name, "begin": begin, "end": end, "value": value}
            yield row | {"unit": "x"}


@_rows.register
def _shade(mark: Shade) -> Iterator[Row]:
    name = f"{mark.kind} {mark.name}".strip()
    yield {"mark": "stretch", "name": name, "begin": mark.start_s, "end": mark.end_s}


@_rows.register
def _level(mark: Level) -> Iterator[Row]:
    yield {"mark": "level", "name": mark.name, "value": mark.value}


@_rows.register
def _bars(mark: Bars) -> Iterator[Row]:
    for place, name in enumerate(mark.categories):
        for part in ("low", "q25", "q50", "q75", "high"):
            value, n = float(getattr(mark, part)[place]), int(mark.n[place])
            yield {"mark": part, "name": name, "value": value, "n": n}
    parts = (mark.outlier_value, mark.outlier_category, mark.outlier_n)
    for value, place, n in zip(*(part.tolist() for part in parts), strict=True):
        yield {"mark": "outlier", "name": mark.categories[place], "value": value, "n": n}


@_rows.register
def _ratios(mark: RatioMarks) -> Iterator[Row]:
    for place, name in enumerate(mark.categories):
        row = {"mark": "ratio", "name": name, "value": float(mark.value[place]), "unit": "x"}
        yield row | _interval(mark, place)


@_rows.register
def _dots(mark: Dots) -> Iterator[Row]:
    for place, value in zip(mark.place.tolist(), mark.value.tolist(), strict=True):
        yield {"mark": "dot", "level": place, "value": value}


@_rows.register
def _level_line(mark: LevelLine) -> Iterator[Row]:
    for at, place in enumerate(mark.place.tolist()):
        row = {"mark": "line", "name": mark.name, "level": place, "value": float(mark.value[at])}
        yield row | _interval(mark, at)


@_rows.register
def _curve(mark: Curve) -> Iterator[Row]:
    for across, density in zip(mark.value.tolist(), mark.density.tolist(), strict=True):
        yield {
            **{"mark": "density", "name": mark.name, "across": across, "across_unit": "s"},
            **{"value": density, "unit": "a decade", "n": mark.n},
        }


@_rows.register
def _numbers(mark: NumberDots | NumberLine) -> Iterator[Row]:
    kind = "line" if isinstance(mark, NumberLine) else "dot"
    for across, value in zip(mark.across.tolist(), mark.value.tolist(), strict=True):
        yield {"mark": kind, "name": mark.name, "across": across, "value": value}


def _interval(mark: StepMarks | RatioMarks | LevelLine, place: int) -> Row:
    if mark.lower is None or mark.upper is None:
        return {}
    return {"lower": float(mark.lower[place]), "upper": float(mark.upper[place])}
