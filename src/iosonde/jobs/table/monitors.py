"""Rows with a dead monitor, and derived numbers whose inputs are inconsistent.

A dead monitor writes zeros: all numbers of it are exactly 0 in a job, though in others on the same file system they
never come near 0. What includes the job's own activity is never 0, however many runs say so; others may well be idle
in most. What is derived from servers that saw less than the job itself did (coverage above 1.2) is not known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iosonde.jobs.table.cells import flagged, without
from iosonde.jobs.table.hygiene import FEWEST, METADATA
from iosonde.model.jobs import JobTable
from iosonde.model.quality import Note

if TYPE_CHECKING:
    from iosonde.model.arrays import Flags, Floats

_OTHERS = "traffic of others"
_COUNTS = "metadata operations"
_MONITORS = {
    "MDS CPU": ("mds_cpu_",),
    "OSS CPU": ("oss_cpu_",),
    "fullness": ("fullest_ost_", "emptiest_ost_", "mean_fullness_"),
    _COUNTS: tuple(n for n in METADATA if n.startswith("server_")),
    _OTHERS: ("others_bytes_", "others_read_ops_", "others_write_ops_"),
    "traffic": ("server_read_", "server_written_", "server_write_", "server_rw_", "server_bytes"),
}
"""Prefixes of the numbers of each monitor."""
_OF_DATA = (
    *("others_bytes_", "others_read_ops_", "others_write_ops_", "contention_bandwidth_"),
    *("contention_ops_", "cf_ops_"),
)
"""Prefixes of numbers derived from the totals of the data servers."""
_DERIVED: dict[str, tuple[str, ...]] = {
    _COUNTS: tuple(n for n in METADATA if n.startswith(("cf_", "contention_"))),
    "traffic": (*_OF_DATA, "cf_bandwidth_"),
}
_AMOUNTS = (_COUNTS, "traffic")
"""Groups in which a single number may be 0: nobody removed a directory. Every job opens files."""
_NEVER_ZERO = "server_opens"
MOST_IDLE = 0.25
"""Largest share of rows without traffic of others for which such a zero is anomalous."""
NEAR_ZERO = 0.05
"""Values below this share of the median make 0 plausible."""
_WHOLE = 10.0
"""For integers, values below this make 0 plausible."""


def alive(table: JobTable, notes: list[Note]) -> JobTable:
    """The table with zeros of dead monitors missing, each with the flag monitor-down."""
    for monitor, begins in _MONITORS.items():
        names = [name for name in table.metrics if name.startswith(begins)]
        alone = len(names) == 1 and not names[0].startswith(_NEVER_ZERO)
        if not names or (monitor in _AMOUNTS and alone):
            continue
        dead = _dead(table, monitor, np.column_stack([_amounts(table, name) for name in names]))
        if not dead.any():
            continue
        notes.append(Note("monitor-down", f"{table.source}: {monitor} all 0", int(dead.sum())))
        derived = [name for name in table.metrics if name.startswith(_DERIVED.get(monitor, "-"))]
        for name in (*names, *derived):
            rows = dead & ~np.isnan(table.metrics[name])
            table = without(table, name, rows, "monitor-down") if rows.any() else table
    return table


def _amounts(table: JobTable, name: str) -> Floats:
    """(n,) values; rates as amounts of the run where its time is known."""
    values, seconds = table.metrics[name], table.metrics.get("duration_s")
    if not name.endswith("_per_s") or seconds is None:
        return values
    return np.where(np.isnan(seconds), values, values * seconds)


def _dead(table: JobTable, monitor: str, values: Floats) -> Flags:
    """Rows (n,) in which all known ``values`` (n, k) are 0, if 0 is implausible."""
    known = ~np.isnan(values)
    zero = known.any(axis=1) & ~((values != 0) & known).any(axis=1)
    dead = np.zeros(len(table), dtype=bool)
    if not zero.any():
        return dead
    most = MOST_IDLE if monitor == _OTHERS else 1.0
    for name in set(table.file_system[zero].tolist()):
        here = (table.file_system == name) & known.any(axis=1)
        others = values[here & ~zero]
        if len(others) < FEWEST or (here & zero).sum() > most * here.sum():
            continue
        largest = np.where(np.isnan(others), -np.inf, others).max(axis=1)
        if not _reaches_zero(largest, counts=monitor == _COUNTS):
            dead |= here & zero
    return dead


def _reaches_zero(largest: Floats, *, counts: bool) -> bool:
    """True if 0 is a plausible value of the largest number of a row (n,).

    Amounts of many operations are never exactly 0, however widely they spread.
    """
    if counts:
        return bool(np.percentile(largest, 1, method="lower") < _WHOLE)
    low, middle = np.percentile(largest, [1, 50])
    whole = bool((largest == np.round(largest)).all())
    if low < NEAR_ZERO * middle or middle <= 0:
        return True
    return whole and low < _WHOLE


def fitting(table: JobTable) -> JobTable:
    """The table without numbers derived from servers that saw too little: traffic of others beside over-coverage."""
    rows = np.zeros(len(table), dtype=bool)
    for row, name in table.flags:
        if name == "cf_bandwidth_ratio" and "over-covered" in table.flags[row, name]:
            rows[row] = True
    for name in [name for name in table.metrics if name.startswith(_OF_DATA)]:
        table = without(table, name, rows, "over-covered") if rows.any() else table
    for name in ("server_bytes", "server_read_bytes", "server_written_bytes"):
        if name in table.metrics and rows.any():
            table = flagged(table, name, rows, "over-covered")
    return table
