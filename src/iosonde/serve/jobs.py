"""``/api/jobs``: which jobs there are, newest first."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from iosonde.jobs.table.listing import ListedJob, found_jobs, listed
from iosonde.model import parameters
from iosonde.model.errors import MissingPartError, NothingMeasuredError
from iosonde.serve.job_table import JobTables
from iosonde.serve.params import DIGITS, Parameters, Text

_LISTED = ("job", "run", "step", "motif", "file_system", "start_ns", "end_ns")


class JobsQuery(Parameters):
    """What ``/api/jobs`` is asked."""

    search: Text = Field("", description=parameters.JOB_SEARCH)
    limit: Annotated[int, Field(ge=1, le=500), DIGITS] = Field(
        100, description="so many jobs at most"
    )


def jobs_listed(jobs: JobTables, query: JobsQuery) -> dict[str, Any]:
    """How many jobs there are, how many match, the newest of these. No jobs at all are no error."""
    try:
        table = jobs.newest().judged
    except (NothingMeasuredError, MissingPartError):
        return {"n": 0, "n_found": 0, "jobs": []}
    rows = found_jobs(table, tuple(query.search.lower().split()))
    return {
        "n": len(table),
        "n_found": len(rows),
        "jobs": [_shown(job) for job in listed(table, rows[: query.limit])],
    }


def _shown(job: ListedJob) -> dict[str, Any]:
    return {name: getattr(job, name) for name in _LISTED}
