"""Time-indexed tables of HDF5 files: rows in time order, in slices of bounded size, NaN for unwritten values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.model.quality import Note

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from iosonde.model.arrays import Floats, Ints, Places


BLOCK_VALUES = 2_000_000
"""Most values read at a time."""


class TimeSteps:
    """Time stamps of a file, s since the epoch, sorted: the row of each and the length of its step."""

    def __init__(self, stamps: NDArray[Any]) -> None:
        """Sort ``stamps`` (T,) as stored. Zeros, negative ones and those beyond 2262 are dropped."""
        seconds = np.asarray(stamps, dtype=np.float64)
        good = np.isfinite(seconds) & (seconds > 0) & (seconds < 9.2e9)
        rows = np.flatnonzero(good)
        times = (np.asarray(stamps)[rows].astype(np.float64) * 1e9).round().astype(np.int64)
        if stamps.dtype.kind in "iu":
            times = stamps[rows].astype(np.int64) * 1_000_000_000
        self.late = int((np.diff(times) < 0).sum())
        order = np.argsort(times, kind="stable")
        times, rows = times[order], rows[order]
        fresh = np.diff(times, prepend=np.int64(-1)) != 0
        self.twice = int((~fresh).sum())
        self.unset = int((~good).sum())
        self.time_ns, self.rows = times[fresh], rows[fresh]
        gaps = np.diff(self.time_ns)
        values, counts = np.unique(gaps, return_counts=True)
        self.step_ns = int(values[np.argmax(counts)]) if len(values) else 0
        """The usual step; 0 if there is only one time."""

    def within(self, rows: int) -> TimeSteps:
        """Steps whose rows exist in a table of that many rows."""
        cut = object.__new__(TimeSteps)
        cut.__dict__.update(self.__dict__)
        inside = self.rows < rows
        cut.time_ns, cut.rows = self.time_ns[inside], self.rows[inside]
        return cut

    def slices(self, columns: int) -> Iterator[slice]:
        """Slices of rows with at most ``BLOCK_VALUES`` values."""
        rows = max(1, BLOCK_VALUES // max(columns, 1))
        for begin in range(0, len(self.time_ns), rows):
            yield slice(begin, min(begin + rows, len(self.time_ns)))

    def lengths(self, rows: slice) -> Ints:
        """Length of each step: the usual one, or less if the next starts earlier."""
        ends = np.append(self.time_ns[1:], np.iinfo(np.int64).max)[rows]
        length: Ints = np.minimum(ends - self.time_ns[rows], self.step_ns)
        return length


def taken(data: Any, rows: Places, axis: int = 0) -> Floats:
    """Rows of a dataset (``axis`` -1: along its last axis) as float64, in the order requested."""
    low, high = int(rows.min()), int(rows.max()) + 1
    picked = rows - low
    if high - low > 4 * len(rows) + 1000:  # rows from all over: one after the other
        parts = [data[int(r)] if axis == 0 else data[..., int(r)] for r in rows]
        return np.stack([np.asarray(p, dtype=np.float64) for p in parts], axis=axis)
    block = data[low:high] if axis == 0 else data[..., low:high]
    if len(picked) == high - low and bool((np.diff(picked) == 1).all()):
        return np.asarray(block, dtype=np.float64)
    return np.take(np.asarray(block, dtype=np.float64), picked, axis=axis)


def time_notes(steps: TimeSteps, place: str) -> list[Note]:
    """Notes on repeated and unordered time stamps."""
    notes = []
    if steps.late:
        notes.append(Note("out-of-order", f"time stamps of {place}", steps.late))
    if steps.twice:
        notes.append(Note("duplicate", f"time stamps of {place}", steps.twice))
    return notes


def cleaned(value: Floats, place: str) -> tuple[Floats, list[Note]]:
    """Values with NaN for -0.0, infinite and negative ones, and notes with their numbers."""
    never = (value == 0) & np.signbit(value)
    wrong = np.isinf(value) | (value < 0)
    absent = np.isnan(value)
    notes = [
        Note(flag, f"samples of {place}", int(mask.sum()))
        for flag, mask in (("negative-zero", never), ("not-a-number", wrong), ("missing", absent))
        if mask.any()
    ]
    if notes:
        value = np.where(never | wrong, np.nan, value)
    return value, notes


def amounts(value: Floats) -> Floats:
    """Products of rates and steps, rounded to integers if they differ only by rounding."""
    whole = np.rint(value)
    near = np.abs(value - whole) <= np.maximum(np.abs(value), 1.0) * 1e-12
    return np.where(near, whole, value)
