"""``/api/jobs``: list of jobs, newest first."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from iosonde.jobs.table.answers import JobFilter, JobList, Sort, list_jobs
from iosonde.model import parameters
from iosonde.model.errors import MissingPartError, NothingMeasuredError
from iosonde.serve.job_table import JobTables
from iosonde.serve.params import DIGITS, PageQuery, Text


class JobsQuery(PageQuery):
    """Parameters of ``/api/jobs``."""

    search: Text = Field("", description=parameters.JOB_SEARCH)
    since_ns: Annotated[int, DIGITS] | None = Field(None, description=parameters.JOBS_SINCE)
    until_ns: Annotated[int, DIGITS] | None = Field(None, description=parameters.JOBS_UNTIL)
    user: Text = Field("", description=parameters.JOBS_OF_USER)
    account: Text = Field("", description=parameters.JOBS_OF_ACCOUNT)
    node: Text = Field("", description=parameters.JOBS_OF_NODE)
    file_system: Text = Field("", description=parameters.ONE_FILE_SYSTEM)
    slow: bool = Field(False, description=parameters.JOBS_SLOW)
    sort: Sort = Field("time", description=parameters.JOBS_SORT)


def jobs_listed(jobs: JobTables, query: JobsQuery) -> JobList:
    """How many jobs there are, how many match, the newest of these. No jobs at all are no error."""
    try:
        table = jobs.newest().judged
    except (NothingMeasuredError, MissingPartError):
        return JobList(0, 0, [])
    which = JobFilter(
        words=tuple(query.search.lower().split()),
        since_ns=query.since_ns,
        until_ns=query.until_ns,
        user=query.user or None,
        account=query.account or None,
        node=query.node or None,
        file_system=query.file_system or None,
        slow=query.slow,
    )
    return list_jobs(table, which, query.limit, query.sort, query.offset).found
