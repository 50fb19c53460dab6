"""Differences in a run's own activity from comparable runs: other ranks, bytes, transfers or files.

A run of four times the bytes need not be as fast as the others, whatever the servers did. Of each amount ``a`` of the
run beside those of its history::

    ratio = a / median      told from RATIO on, either way, where |log ratio| is at least CLEAR robust spreads
                            (1.4826 MAD) of the logarithms, and at most COMMON of the history did as much or more
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.jobs.table.hygiene import own_bytes, own_rw_ops
from iosonde.jobs.table.sizes import sizes_of

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats, Places
    from iosonde.model.jobs import JobTable

RATIO = 1.5
CLEAR = 5.0
COMMON = 0.05
FEWEST = 5
"""Least number of runs of a history for a usual value."""


class OwnChange(NamedTuple):
    """An unusual amount of the run. ``usual``: the median; both in ``unit``."""

    what: str
    """``ranks``, ``nodes``, ``bytes``, ``transfer size``, ``opens``, ``files``."""
    unit: str
    value: float
    usual: float
    n: int
    """Number of runs of the history with a value."""

    @property
    def ratio(self) -> float:
        """Value / usual."""
        return self.value / self.usual


def own_changes(table: JobTable, row: int, others: Places) -> tuple[OwnChange, ...]:
    """Unusual amounts of the run of ``row`` compared with ``others``, the largest difference first.

    Missing data: an amount that is not known of the run, or of fewer than ``FEWEST`` others, says nothing.
    """
    found = []
    for what, (unit, column) in amounts(table).items():
        history = column[others]
        history = history[np.isfinite(history) & (history > 0)]
        value = float(column[row])
        if len(history) < FEWEST or not (np.isfinite(value) and value > 0):
            continue
        if _unlike(np.log(history), float(np.log(value))):
            found.append(OwnChange(what, unit, value, float(np.median(history)), len(history)))
    return tuple(sorted(found, key=lambda one: -abs(np.log(one.ratio))))


def _unlike(history: Floats, value: float) -> bool:
    middle = float(np.median(history))
    apart = value - middle
    spread = 1.4826 * float(np.median(np.abs(history - middle)))
    if abs(apart) < max(np.log(RATIO) - 1e-9, CLEAR * spread):
        return False
    as_far = history >= value if apart > 0 else history <= value
    return bool(as_far.mean() <= COMMON)


def amounts(table: JobTable) -> dict[str, tuple[str, Floats]]:
    """Name of an own amount -> its unit, and of each run (n,); missing is NaN."""
    found = {unit: (unit, column) for unit, column in sizes_of(table).items()}
    moved, ops = own_bytes(table), own_rw_ops(table)
    if moved is not None and ops is not None:
        with np.errstate(divide="ignore", invalid="ignore"):
            found["transfer size"] = ("bytes", moved / ops)
    for what in ("opens", "files"):
        column = table.metrics.get(f"own_{what}")
        if column is not None:
            found[what] = (what, column)
    return found
