"""Order of a table's rows: by start, and for equal starts by identity."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iosonde.model.frames import NULL_NS

if TYPE_CHECKING:
    from iosonde.model.arrays import Places
    from iosonde.model.jobs import JobTable


def by_begin(table: JobTable) -> Places:
    """(n,) rows in the order of a store: a table and its import give the same sequence of runs.

    Rows without a begin come first, as they are: nothing says that they are of one instant.
    """
    order = np.argsort(table.start_ns, kind="stable")
    begins = table.start_ns[order]
    edges = np.flatnonzero(np.diff(begins) != 0) + 1
    firsts, ends = np.append(0, edges), np.append(edges, len(order))
    for first, end in zip(firsts.tolist(), ends.tolist(), strict=True):
        if end - first > 1 and begins[first] != NULL_NS:
            rows = order[first:end].tolist()
            order[first:end] = sorted(rows, key=lambda row: _named(table, row))
    return order


def _named(table: JobTable, row: int) -> tuple[str, ...]:
    columns = (table.job_id, table.step, table.file_system, table.motif)
    return tuple(str(column[row]) for column in columns)
