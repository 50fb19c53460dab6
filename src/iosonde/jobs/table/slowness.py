"""Slowness of a job relative to its kind: by its I/O rate if known, else by its run time.

Of a job with a performance: the median of its file system and motif over its own. Of one that only a scheduler
recorded: its run time over the median of completed jobs of the same cluster, user, name and nodes. Both are ratios, 1 =
as the median of its kind, and NaN where the kind has fewer than ``FEWEST`` jobs. A job that has not ended has none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.jobs.table.derived import FRACTION, performances

if TYPE_CHECKING:
    from collections.abc import Sequence

    from iosonde.model.arrays import Flags, Floats, Places, Texts
    from iosonde.model.jobs import JobTable

FEWEST = 8
SLOW_AT = 1.5
"""Least slowness of a slow job."""
_COMPLETED = ("COMPLETED", "")
RATES = ("performance_bytes_per_s", "performance_ops_per_s")


class Slowness(NamedTuple):
    """Ratios (n,), NaN = unknown; ``by`` (n,): ``I/O rate``, ``run time``, or "" if unknown."""

    ratio: Floats
    by: Texts


def slowness(table: JobTable) -> Slowness:
    """Slowness of every job of a table."""
    ratio = np.full(len(table), np.nan)
    by = np.full(len(table), "", dtype=object)
    places, motifs = table.file_system.astype(str), table.motif.astype(str)
    for name in dict.fromkeys((*RATES, *performances(table), FRACTION)):
        column = table.metrics.get(name)
        if column is None:
            continue
        rows = np.flatnonzero(np.isnan(ratio) & np.isfinite(column) & (column > 0))
        usual = _medians(_codes((places[rows], motifs[rows])), column[rows])
        ratio[rows] = usual / column[rows]
        by[rows] = "I/O rate"
    took = table.duration_s()
    named = (table.label("name") != "") & (table.label("user") != "")
    free: Flags = (table.motif == "") & np.isnan(ratio) & named & (took > 0)
    rows = np.flatnonzero(free)
    if len(rows):
        ended = np.isin(table.label("state")[rows].astype(str), _COMPLETED)
        history = np.where(ended, took[rows], np.nan)
        who, what = (table.label(name)[rows].astype(str) for name in ("user", "name"))
        kinds = _codes((who, what, np.nan_to_num(table.size("nodes")[rows], nan=-1.0)))
        ratio[rows] = took[rows] / _medians(kinds, history)
        by[rows] = "run time"
    by[np.isnan(ratio)] = ""
    return Slowness(ratio, by)


def _codes(columns: Sequence[Texts | Floats]) -> Places:
    """Number of the kind of each row, from the columns (n,) that define kinds."""
    codes = np.zeros(len(columns[0]), dtype=np.intp)
    for column in columns:
        _, code = np.unique(column, return_inverse=True)
        codes = codes * (int(code.max(initial=0)) + 1) + code
        codes = np.unique(codes, return_inverse=True)[1]
    return codes


def _medians(kinds: Places, values: Floats) -> Floats:
    """Median of each value's kind, NaN left out; NaN for too small kinds."""
    order = np.lexsort((values, kinds))
    sizes = np.bincount(kinds, minlength=1)
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    known = np.bincount(kinds, np.isfinite(values), minlength=1).astype(np.intp)
    sorted_values = values[order]  # NaN last within each kind
    low, high = first + np.maximum(known - 1, 0) // 2, first + known // 2
    last = max(0, len(values) - 1)
    if not len(values):
        return values
    middle = (sorted_values[np.minimum(low, last)] + sorted_values[np.minimum(high, last)]) / 2
    odd = known % 2 == 1
    middle = np.where(odd, sorted_values[np.minimum(low, last)], middle)
    return np.asarray(np.where(known >= FEWEST, middle, np.nan)[kinds])
