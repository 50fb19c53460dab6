"""``/api/jobs``: which jobs there are.

::

    /api/jobs    search=WORDS  limit=1..500            newest first; all words, in id, step, motif or file system
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from iosonde.jobs.answers import list_jobs
from iosonde.jobs.table.listing import JobList, jobs_data
from iosonde.model.errors import MissingPartError, NothingMeasuredError
from iosonde.serve import params
from iosonde.serve.job_table import JobTables

if TYPE_CHECKING:
    from starlette.datastructures import QueryParams

_LIMIT, _MOST = 100, 500


class JobsRequest(NamedTuple):
    """What ``/api/jobs`` is asked."""

    words: tuple[str, ...]
    limit: int


def jobs_listed(jobs: JobTables, asked: JobsRequest) -> dict[str, Any]:
    """How many jobs there are, how many match, the newest of these. No jobs at all are no error."""
    try:
        table = jobs.newest().judged
    except (NothingMeasuredError, MissingPartError):
        return jobs_data(JobList(0, 0, []))
    return jobs_data(list_jobs(table, asked.words, asked.limit))


def jobs_request(query: QueryParams) -> JobsRequest:
    """The checked parameters of ``/api/jobs``. Raises RefusalError."""
    params.known(query, ("search", "limit"))
    words = tuple(params.text(query, "search").lower().split())
    return JobsRequest(words, params.count(query, "limit", _MOST) or _LIMIT)
