"""Runs of a job that has several: their names, and selection of the worst."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

import numpy as np

from iosonde.jobs.table.derived import FRACTION
from iosonde.jobs.table.known_id import known_id
from iosonde.jobs.table.sizes import bases
from iosonde.model.advice import Advice, Argument
from iosonde.model.errors import UsageError
from iosonde.model.jobs import JobTable

if TYPE_CHECKING:
    from iosonde.model.arrays import Places


_MOST_NAMED = 12
MOST_RUNS = 30
"""Most runs; each is compared with its whole history, which takes a while."""


def worth_a_look(table: JobTable, job_id: str, most: int = MOST_RUNS) -> list[str]:
    """A job's runs farthest below the best of their kind, at most ``most``; unknown performances last.

    As ``find_run`` takes them for a step.
    """
    rows = np.flatnonzero(table.job_id == job_id)
    share = table.metrics.get(FRACTION, np.full(len(table), np.nan))[rows]
    order = np.argsort(share, kind="stable")
    return run_names(table, rows[order[:most]])


def find_run(table: JobTable, job_id: str, step: str | None = None) -> int:
    """Row of a job's run.

    ``step``: the run's step, its motif, or ``#2`` for the second of the job's runs in the table.
    Raises UsageError: no such job or step; several runs and no step.
    """
    job_id = known_id(table, job_id)
    rows = np.flatnonzero(table.job_id == job_id)
    if len(rows) == 0:
        known = list(dict.fromkeys(str(name) for name in table.job_id))
        if not known:
            why = f" ({'; '.join(map(str, table.reasons))})" if table.reasons else ""
            raise UsageError(f"no row of {table.source or 'the table'} is left{why}")
        if known == [""]:
            raise UsageError(
                f"no column of {table.source} holds job IDs",
                expected="a mapping that names it",
                hint=Advice(Argument("mapping", "FILE")),
            )
        near = difflib.get_close_matches(job_id, known, n=3)
        where = f" in {table.source}" if table.source else ""
        raise UsageError(
            f"there is no job {job_id!r}{where}",
            expected=f"one of its {len(known)} jobs",
            hint=", ".join(near),
        )
    if step is None:
        if len(rows) == 1:
            return int(rows[0])
        raise UsageError(f"job {job_id} has {len(rows)} runs", expected=_runs(table, rows))
    if step.startswith("#") and step[1:].isdecimal() and 1 <= int(step[1:8]) <= len(rows):
        return int(rows[int(step[1:8]) - 1])
    for names in (table.step, table.motif, bases(table)):
        found = [int(row) for row in rows if str(names[row]) == step]
        if len(found) == 1:
            return found[0]
    raise UsageError(f"job {job_id} has no one run {step!r}", expected=_runs(table, rows))


def run_names(table: JobTable, rows: Places | None = None) -> list[str]:
    """Step argument of ``find_run`` for each row: "" if the job's id suffices, else step, motif or ``#2``.

    ``rows``: which; None: all.
    """
    asked = np.arange(len(table)) if rows is None else rows
    ids = table.job_id.tolist()
    runs: dict[str, list[int]] = {ids[row]: [] for row in asked.tolist()}
    for row, job in enumerate(ids):
        if job in runs:
            runs[job].append(row)
    of_job = {job: np.array(some, dtype=np.intp) for job, some in runs.items()}
    return [_name_among(table, of_job[ids[row]], row) for row in asked.tolist()]


def _name_among(table: JobTable, rows: Places, row: int) -> str:
    """Name of a row among the runs of its job."""
    if len(rows) == 1:
        return ""
    for names in (table.step, table.motif):
        if names[row] and np.count_nonzero(names[rows] == names[row]) == 1:
            return str(names[row])
    return f"#{int(np.flatnonzero(rows == row)[0]) + 1}"


def _runs(table: JobTable, rows: Places) -> str:
    """``a step: #1 (0.1 ior read), #2 (...)``."""
    words = []
    for number, row in enumerate(rows[:_MOST_NAMED].tolist(), 1):
        what = f"{table.step[row]} {table.motif[row]} {table.file_system[row]}".split()
        words.append(f"#{number} ({' '.join(what)})")
    more = f" and {len(rows) - _MOST_NAMED} more" if len(rows) > _MOST_NAMED else ""
    return f"a step: {', '.join(words)}{more}"
