"""Database rows by (time, component) to a matrix, in chunks and without a loop over rows."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from iosonde.model.arrays import Flags, Floats, Ints, Places


_ROWS = 50_000
"""Rows fetched at a time."""


class Axis:
    """Ids along an axis of the matrix, in its order."""

    def __init__(self, ids: Ints) -> None:
        self._order = np.argsort(ids, kind="stable")
        self._sorted = ids[self._order]

    def places(self, asked: Floats) -> tuple[Places, Flags]:
        """Positions of ids along the axis, and a mask of those present."""
        place = np.minimum(np.searchsorted(self._sorted, asked), len(self._sorted) - 1)
        return self._order[place], self._sorted[place] == asked


class Filled(NamedTuple):
    """A matrix and the defects of its rows."""

    cube: Floats
    """(C, T, N): NaN for a missing row or a malformed number."""
    twice: int
    """Repeated rows of a cell; the first counts."""
    strange: int
    """Rows with an id unknown to both axes."""
    bad: int
    """Cells that are neither NULL nor a number."""


def filled(
    cursor: sqlite3.Cursor, times: Axis, span: slice, parts: Axis, shape: tuple[int, int]
) -> Filled:
    """Read rows (time id, part id, C values) of a cursor, for the times in ``span`` of the axis.

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
    """Fetched rows as numbers: NaN for NULL, text, blobs, negative and infinite ones; number of these."""
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
    """A cell as a number; NaN if malformed."""
    if isinstance(cell, int | float):
        return float(cell)
    try:
        return float(cell) if isinstance(cell, str) and len(cell) < 40 else float("nan")
    except ValueError:
        return float("nan")
