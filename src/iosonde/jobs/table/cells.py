"""Marks for cells of a job table: missing, or flagged, with a reason."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from iosonde.model.arrays import Flags
    from iosonde.model.jobs import JobTable


def without(table: JobTable, name: str, rows: Flags, flag: str) -> JobTable:
    """The table with a metric missing in some rows, with a flag."""
    column = np.where(rows, np.nan, table.metrics[name])
    return flagged(table.with_metrics({name: column}), name, rows, flag)


def flagged(table: JobTable, name: str, rows: Flags, flag: str) -> JobTable:
    """The table with a flag on a metric of some rows."""
    flags = dict(table.flags)
    for row in np.flatnonzero(rows).tolist():
        flags[row, name] = tuple(dict.fromkeys((*flags.get((row, name), ()), flag)))
    return replace(table, flags=flags)
