"""Counter readings to increments, with rules for resets and for zeros of a dead monitor."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from iosonde.model.arrays import Flags, Floats
from iosonde.model.quality import Note


def increments(readings: Floats, components: Sequence[str]) -> tuple[Floats, tuple[Note, ...]]:
    """``(T - 1, N)`` differences of ``(T, N)`` readings, NaN where either is missing, and notes.

    A counter that fell back was reset (a server restarted, an OST moved): what passed in that step is not
    known and is missing, never negative and never the new reading alone. It is told also where readings are missing
    before it fell.
    """
    steps: Floats = np.diff(readings, axis=0)
    fell = steps < 0
    last = np.maximum.accumulate(
        np.where(np.isnan(readings), 0, np.arange(len(readings))[:, None]), axis=0
    )
    before = np.take_along_axis(readings, last[:-1], 0)
    fell |= np.isnan(readings[:-1]) & (readings[1:] < before)
    if not fell.any():
        return steps, ()
    notes = tuple(
        Note("counter-reset", f"{components[int(column)]} fell back", int(fell[:, column].sum()))
        for column in np.flatnonzero(fell.any(axis=0))
    )
    steps[fell] = np.nan
    return steps, notes


def blanks(
    readings: Floats, zero: Flags, before: Floats | None = None, after: Floats | None = None
) -> Flags:
    """(T, N): True where a counter reads 0 and later continues from its old value: the monitor had no reading.

    ``readings`` (T, N), NaN where there is none, and ``zero`` (T, N), where they are 0. ``before`` (N,): the last
    readings other than 0 ahead of these, and ``after`` (N,) the first ones behind them; NaN: there is none. A counter
    that goes on below where it was had been reset; one that was always 0 until now had not begun.
    """
    blank = np.zeros(readings.shape, dtype=np.bool_)
    usable = ~(zero | np.isnan(readings))
    begun = np.where(usable.any(axis=0), usable.argmax(axis=0), len(readings))
    if before is not None:
        begun[~np.isnan(before)] = -1
    rows = np.arange(len(readings))[:, None]
    columns = np.flatnonzero((zero & (rows > begun)).any(axis=0))
    if len(columns):
        none = np.full(len(columns), np.nan)
        was = none if before is None else before[columns]
        then = none if after is None else after[columns]
        value = np.vstack([was, np.where(usable[:, columns], readings[:, columns], np.nan), then])
        there, rows = ~np.isnan(value), np.arange(len(value))[:, None]
        earlier = np.maximum.accumulate(np.where(there, rows, 0), axis=0)[1:-1]
        later = np.where(there, rows, len(value) - 1)
        later = np.minimum.accumulate(later[::-1], axis=0)[::-1][1:-1]
        goes_on = np.take_along_axis(value, later, 0) >= np.take_along_axis(value, earlier, 0)
        blank[:, columns] = zero[:, columns] & goes_on
    return blank
