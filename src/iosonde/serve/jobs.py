"""``/api/jobs``: which jobs there are, newest first."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from iosonde.jobs.answers import list_jobs
from iosonde.jobs.table.listing import JobList, jobs_data
from iosonde.model import parameters
from iosonde.model.errors import MissingPartError, NothingMeasuredError
from iosonde.serve.job_table import JobTables
from iosonde.serve.params import DIGITS, Parameters, Text


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
        return jobs_data(JobList(0, 0, []))
    words = tuple(query.search.lower().split())
    return jobs_data(list_jobs(table, words, query.limit))
