"""Readings of counters to what passed between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iosonde.model.quality import Note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def increments(readings: Floats, components: Sequence[str]) -> tuple[Floats, tuple[Note, ...]]:
    """``(T - 1, N)`` differences of ``(T, N)`` readings, NaN where either is missing, and notes.

    A counter that fell back was reset (a server restarted, an OST moved): what passed in that step is not
    known and is missing, never negative and never the new reading alone.
    """
    steps: Floats = np.diff(readings, axis=0)
    fell = steps < 0
    notes = tuple(
        Note("counter-reset", f"{components[int(column)]} fell back", int(fell[:, column].sum()))
        for column in np.flatnonzero(fell.any(axis=0))
    )
    return np.where(fell, np.nan, steps), notes
