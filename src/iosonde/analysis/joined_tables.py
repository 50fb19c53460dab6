"""Several tables of jobs as one, with the peak of all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from iosonde.analysis.peak import FRACTION, PERFORMANCE, fraction_of_peak
from iosonde.model.jobs import JobTable

if TYPE_CHECKING:
    from iosonde.model.job_metrics import About


def together(tables: Sequence[JobTable]) -> JobTable:
    """All rows of ``tables`` in order of begin; one alone stays as it is.

    A metric that a table lacks is missing in its rows. The same run (id, step, begin, file system, motif) of another
    table counts once. The fraction of peak is of the best run in all of them.
    """
    if len(tables) == 1:
        return tables[0]
    names = list(dict.fromkeys(name for table in tables for name in table.metrics))
    sizes = np.cumsum([0, *(len(table) for table in tables)])
    flags = {
        (row + int(begin), name): flag
        for table, begin in zip(tables, sizes, strict=False)
        for (row, name), flag in table.flags.items()
    }
    abouts: dict[str, About] = {k: v for table in tables for k, v in table.abouts.items()}

    def all_of(name: str) -> np.ndarray:
        return np.concatenate([getattr(table, name) for table in tables])

    def metric(name: str) -> np.ndarray:
        nothing = [np.full(len(table), np.nan) for table in tables]
        return np.concatenate(
            [table.metrics.get(name, none) for table, none in zip(tables, nothing, strict=True)]
        )

    whole = JobTable(
        job_id=all_of("job_id"),
        step=all_of("step"),
        start_ns=all_of("start_ns"),
        end_ns=all_of("end_ns"),
        file_system=all_of("file_system"),
        motif=all_of("motif"),
        metrics={name: metric(name) for name in names},
        abouts=abouts,
        flags=flags,
        reasons=tuple(reason for table in tables for reason in table.reasons),
        source=", ".join(table.source for table in tables),
    )
    whole = whole.take(_first_of_each(whole, sizes))
    if PERFORMANCE in whole.metrics:
        whole = whole.with_metrics({FRACTION: fraction_of_peak(whole)})
    return whole


def _first_of_each(whole: JobTable, sizes: np.ndarray) -> np.ndarray:
    """Rows in order of begin, without those that an earlier table has as well; jobs without an id all count."""
    columns = (whole.job_id, whole.step, whole.start_ns, whole.file_system, whole.motif)
    origin = np.searchsorted(sizes, np.arange(len(whole)), side="right")
    seen: dict[tuple[object, ...], int] = {}
    kept = [
        row
        for row, key in enumerate(zip(*(column.tolist() for column in columns), strict=True))
        if not key[0] or seen.setdefault(key, int(origin[row])) == origin[row]
    ]
    rows = np.array(kept, dtype=np.intp)
    return rows[np.argsort(whole.start_ns[rows], kind="stable")]
