"""Rows of a database by (time, component) to a table of numbers, chunk by chunk and without a loop over rows."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from iosonde.model.arrays import Flags, Floats, Ints, Places


_ROWS = 50_000
"""Rows that are fetched at a time."""


class Axis:
    """Ids along an axis of the table, in the order of the axis."""

    def __init__(self, ids: Ints) -> None:
        self._order = np.argsort(ids, kind="stable")
        self._sorted = ids[self._order]

    def places(self, asked: Floats) -> tuple[Places, Flags]:
        """Where each id is along the axis, and whether it is there at all."""
        place = np.minimum(np.searchsorted(self._sorted, asked), len(self._sorted) - 1)
        return self._order[place], self._sorted[place] == asked


class Filled(NamedTuple):
    """A table and what was wrong with the rows it was made of."""

    cube: Floats
    """(C, T, N): NaN where there was no row, or no number in it."""
    twice: int
    """Rows for a cell that had one already; the first counts."""
    strange: int
    """Rows with an id that neither axis knows."""
    bad: int
    """Cells that are not NULL and no number."""


def filled(
    cursor: sqlite3.Cursor, times: Axis, span: slice, parts: Axis, shape: tuple[int, int]
) -> Filled:
    """Rows (time id, part id, C values) of a cursor, of those times that ``span`` of the axis has.

    ``shape``: how many values a row has, and how many parts there are.
    """
    columns, width = shape
    ticks = span.stop - span.start
    cube = np.full((columns, ticks * width), np.nan)
    seen = np.zeros(ticks * width, dtype=np.bool_)
    kept = strange = bad = 0
    while fetched := cursor.fetchmany(_ROWS):
        rows, failed = _numbers(fetched)
        bad += failed
        tick, known = times.places(rows[:, 0])
        part, named = parts.places(rows[:, 1])
        tick = tick - span.start
        strange += int((~known | ~named).sum())
        good = known & named & (tick >= 0) & (tick < ticks)
        flat = (tick * width + part)[good]
        kept += len(flat)
        new = ~seen[flat]
        seen[flat] = True
        # Backwards, as the last assignment to a cell wins: so the first row does.
        cube[:, flat[new][::-1]] = rows[good][new][::-1, 2:].T
    return Filled(cube.reshape(columns, ticks, width), kept - int(seen.sum()), strange, bad)


def _numbers(rows: list[tuple[object, ...]]) -> tuple[Floats, int]:
    """Fetched rows as numbers: NaN for NULL, text, blobs, negative and infinite ones; how many of these."""
    try:
        table = np.array(rows, dtype=np.float64)
    except (TypeError, ValueError):
        table = np.array([[_number(cell) for cell in row] for row in rows], dtype=np.float64)
    wrong = ~np.isfinite(table) | (table < 0)
    if not wrong.any():
        return table, 0
    table[wrong] = np.nan
    places = np.argwhere(wrong)
    return table, sum(rows[row][column] is not None for row, column in places.tolist())


def _number(cell: object) -> float:
    """A cell as a number; NaN for what is none."""
    if isinstance(cell, int | float):
        return float(cell)
    try:
        return float(cell) if isinstance(cell, str) and len(cell) < 40 else float("nan")
    except ValueError:
        return float("nan")
