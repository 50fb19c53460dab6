"""Jobs to choose from: newest first, found by words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from iosonde.jobs.table.derived import FRACTION, performances
from iosonde.jobs.table.runs import run_names
from iosonde.model.advice import Advice, Argument
from iosonde.model.arrays import Ints, Places
from iosonde.model.errors import UsageError
from iosonde.model.frames import NULL_NS
from iosonde.model.jobs import JobTable

SCHEMA_VERSION = 1
_RATES = ("performance_bytes_per_s", "performance_ops_per_s")


class ListedJob(NamedTuple):
    """A run of a job in a list; None = not known."""

    job: str
    run: str
    """What else names it where the job has several: see ``run_names``."""
    step: str
    motif: str
    file_system: str
    start_ns: int | None
    end_ns: int | None
    performance: float | None
    unit: str
    """Of the performance: bytes/s, operations/s, or what a table that has neither says."""
    fraction_of_peak: float | None


class JobList(NamedTuple):
    """Jobs, newest first. ``n``: rows of the table; ``n_found``: those with all words."""

    n: int
    n_found: int
    jobs: list[ListedJob]


def jobs_data(found: JobList) -> dict[str, Any]:
    """A list of jobs as plain data; missing is None."""
    jobs = [one._asdict() for one in found.jobs]
    return {"schema_version": SCHEMA_VERSION, "n": found.n, "n_found": found.n_found, "jobs": jobs}


def must_be_jobs(table: JobTable) -> None:
    """Raises UsageError: no column of the table says which job a row is, or how fast it was."""
    if len(table) and not (table.job_id != "").any() and FRACTION not in table.metrics:
        raise UsageError(
            f"no column of {table.source or 'the table'} says which job a row is, or how fast it was",
            expected="a mapping that names them (docs/correlate.md)",
            hint=Advice(Argument("mapping", "FILE")),
        )


def found_jobs(table: JobTable, words: Sequence[str] = ()) -> Places:
    """Rows in which every word occurs (id, step, motif or file system; any case), newest first."""
    rows = np.arange(len(table))
    if words:
        columns = (table.job_id, table.step, table.motif, table.file_system)
        texts = [" ".join(map(str, row)).lower() for row in zip(*columns, strict=True)]
        rows = rows[[all(word.lower() in text for word in words) for text in texts]]
    return rows[np.argsort(table.start_ns[rows], kind="stable")][::-1]


def listed(table: JobTable, rows: Places) -> list[ListedJob]:
    """What a list says of these rows."""
    rates = (*_RATES, *performances(table))
    names = run_names(table, rows)
    return [
        _listed(table, row, name, rates) for row, name in zip(rows.tolist(), names, strict=True)
    ]


def _listed(table: JobTable, row: int, run: str, rates: Sequence[str]) -> ListedJob:
    rate = next((name for name in rates if _number(table, name, row) is not None), _RATES[0])
    return ListedJob(
        job=str(table.job_id[row]),
        run=run,
        step=str(table.step[row]),
        motif=str(table.motif[row]),
        file_system=str(table.file_system[row]),
        start_ns=_instant(table.start_ns, row),
        end_ns=_instant(table.end_ns, row),
        performance=_number(table, rate, row),
        unit=table.about(rate).unit,
        fraction_of_peak=_number(table, "fraction_of_peak_ratio", row),
    )


def _instant(column: Ints, row: int) -> int | None:
    return None if column[row] == NULL_NS else int(column[row])


def _number(table: JobTable, name: str, row: int) -> float | None:
    value = float(table.metrics[name][row]) if name in table.metrics else float("nan")
    return value if np.isfinite(value) else None
