"""The id of a table of jobs that an id means, as users write it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from iosonde.connectors.scheduler.job_ids import cluster_of, part_of, step_of
from iosonde.model.errors import UsageError

if TYPE_CHECKING:
    from iosonde.model.jobs import JobTable

_MOST_NAMED = 6


def known_id(table: JobTable, asked: str) -> str:
    """The id itself, or that of a raw id, of a step's job or of an array's only task; else ``asked``.

    Raises UsageError: an array, or a heterogeneous job, has several.
    """
    if (table.job_id == asked).any():
        return asked
    if tasks := _parts(table, asked):
        if len(tasks) == 1:
            return tasks[0]
        some = ", ".join(tasks[:_MOST_NAMED]) + (", ..." if tasks[_MOST_NAMED:] else "")
        raise UsageError(f"{asked} is the id of {len(tasks)} jobs", expected=f"one of them: {some}")
    rows = np.flatnonzero((table.label("raw_id") == asked) & (asked != ""))
    if len(rows):
        return str(table.job_id[rows[-1]])
    name, cluster = cluster_of(asked)
    if cluster and (table.label("system")[table.job_id == name] == cluster).any():
        return name
    step = step_of(asked)
    return asked if step is None else known_id(table, step[0])


def _parts(table: JobTable, asked: str) -> list[str]:
    """Tasks or components of an id, or jobs of several clusters, in order."""
    begins = (f"{asked}_", f"{asked}+", f"{asked}@")
    ids = {one for one in map(str, table.job_id) if one.startswith(begins)}
    parts = {one: part_of(one) for one in ids}
    known = {
        one: "" if part is None else part.number
        for one, part in parts.items()
        if part or "@" in one
    }
    return sorted(known, key=lambda one: (len(known[one]), known[one], one))
