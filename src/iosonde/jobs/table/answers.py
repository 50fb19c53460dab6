"""Tables of jobs, from files or a store, and the list of their jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from iosonde.jobs.table.from_files import Loaded, load_tables, mappings, picked
from iosonde.jobs.table.known_id import known_id
from iosonde.jobs.table.leakage import judged
from iosonde.jobs.table.listing import (
    JOB_COLUMNS,
    JobFilter,
    JobList,
    Sort,
    chosen_jobs,
    listed,
    must_be_jobs,
)
from iosonde.jobs.table.runs import find_run
from iosonde.jobs.table.slowness import slowness
from iosonde.jobs.table.source import LISTED, from_files, from_store, must_have, remarks
from iosonde.jobs.table.which_job import found_job
from iosonde.model.answer import RowTable
from iosonde.model.json_types import as_json

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from iosonde.connectors.source import Settings
    from iosonde.connectors.tables.mapping import Mapping
    from iosonde.jobs.table.derived import Peak
    from iosonde.jobs.table.from_files import Wanted
    from iosonde.model.answer import Block
    from iosonde.model.errors import InputFileError, IosondeError
    from iosonde.model.jobs import JobTable

    Note = Callable[[str], None]
    Aliased = Callable[[JobTable], JobTable]
    Span = tuple[int | None, int | None]
    """Begin and end in ns, None = open."""

__all__ = [
    "JobFilter",
    "JobList",
    "JobsAnswer",
    "Loaded",
    "Sort",
    "file_jobs",
    "file_tables",
    "find_run",
    "job_in_files",
    "job_in_store",
    "judged",
    "known_id",
    "list_jobs",
    "listed_jobs",
    "mappings",
    "must_have",
    "select",
    "store_jobs",
    "task_table",
]


class JobsAnswer(NamedTuple):
    """Jobs of a list. ``sort``: their order; ``now_ns``: what their dates are written for."""

    found: JobList
    sort: Sort = "time"
    now_ns: int = 0

    def shown(self) -> list[Block]:
        """A row a job, without columns of which nothing is known; how many more there are."""
        from iosonde.jobs.table.text import list_blocks

        return list_blocks(self.found, self.sort, self.now_ns)

    def data(self) -> dict[str, Any]:
        """Every job of the list; missing is None."""
        return dict(as_json(self.found))

    def records(self) -> list[dict[str, Any]]:
        """A record a job."""
        return [dict(as_json(one)) for one in self.found.jobs]

    def table(self) -> RowTable:
        """A row a job."""
        return RowTable(JOB_COLUMNS, self.records())


def list_jobs(
    table: JobTable | None,
    which: JobFilter,
    limit: int | None = None,
    sort: Sort = "time",
    offset: int = 0,
    *,
    now_ns: int = 0,
) -> JobsAnswer:
    """Jobs of a filter, newest or slowest first; at most ``limit`` of them, without the first ``offset``.

    ``table``: None has no jobs. Raises UsageError: it names no jobs.
    """
    if table is None:
        return JobsAnswer(JobList(0, 0, []), sort, now_ns)
    must_be_jobs(table)
    slower = slowness(table)
    rows = chosen_jobs(table, which, sort, slower)
    jobs = listed(table, rows[offset:][:limit], slower)
    return JobsAnswer(JobList(len(table), len(rows), jobs), sort, now_ns)


def select(
    table: JobTable, file_system: Wanted, motif: Wanted, span_ns: Span = (None, None)
) -> JobTable:
    """Only the jobs of a file system and motif, one or several, that began in a span; None: any.

    Raises UsageError (no such file system or motif), NothingMeasuredError (no job).
    """
    return picked(table, (file_system, motif), span_ns)


def store_jobs(
    root: Path, peak: Peak = "max", *, scheduled: bool = False, shown: Aliased | None = None
) -> Loaded:
    """The jobs of a store with a performance; ``scheduled``: others as well; ``shown``: as they may be shown.

    Raises NothingMeasuredError: it holds none.
    """
    return Loaded(from_store(root, peak, scheduled=scheduled, shown=shown), (), "store")


def listed_jobs(root: Path, shown: Aliased | None = None) -> JobTable:
    """The jobs of a store, also those that only a scheduler recorded, with the numbers of a list.

    Raises as ``store_jobs``.
    """
    return from_store(root, metrics=LISTED, scheduled=True, shown=shown)


def job_in_store(
    root: Path, job_id: str, note: Note, unknown: Callable[[], IosondeError]
) -> tuple[JobTable, str]:
    """Jobs beside one of the store, and its whole id. ``unknown``: makes the error about an id that is not there.

    Raises UsageError (several jobs begin or end so), NothingMeasuredError (no performance).
    """
    table = from_store(root, job_id=job_id)
    must_have(root, table, job_id)
    return table, found_job(table, job_id, note, unknown=unknown)


def task_table(root: Path, job_id: str) -> JobTable:
    """Jobs beside one of the store, by its raw id. Raises NothingMeasuredError."""
    return from_store(root, job_id=job_id)


def file_jobs(
    paths: Sequence[Path],
    given: Sequence[Path | Mapping],
    settings: Settings,
    note: Note,
    peak: Peak = "max",
) -> JobTable:
    """The jobs of files, all in one table. ``given``: mappings. Raises UsageError (mapping), InputFileError."""
    return from_files(paths, given, settings, note, peak)


def job_in_files(table: JobTable, job_id: str, note: Note) -> str:
    """The whole id of a job of files. Raises UsageError: there is none, or several."""
    return found_job(table, job_id, note, of_store=False)


def file_tables(
    paths: Sequence[Path], given: Sequence[Path], settings: Settings, note: Note, peak: Peak
) -> list[Loaded]:
    """The tables of files, each by itself. Raises as ``file_jobs``."""
    told: list[InputFileError] = []
    loaded = load_tables(paths, mappings(given), settings, told.append, of=peak)
    for line in remarks(loaded, told):
        note(line)
    return loaded
