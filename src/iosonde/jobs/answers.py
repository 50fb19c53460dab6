"""The questions about jobs, one function each: what the command line, the page and notebooks call.

A door parses what people write, calls one of these and renders what it gets; analysis modules load when they are
called.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import tzinfo
    from pathlib import Path

    from iosonde.jobs.correlate.correlate import Correlated
    from iosonde.jobs.explain.explain import Explanation
    from iosonde.jobs.explain.words import JobVerdict
    from iosonde.jobs.scheduled.story import ScheduledStory
    from iosonde.jobs.scheduled.words import StoryWords
    from iosonde.jobs.table.listing import JobFilter, JobList, Sort
    from iosonde.jobs.umami.diagram import History, Umami
    from iosonde.model.arrays import Texts
    from iosonde.model.errors import IosondeError
    from iosonde.model.jobs import By, Job, JobTable

    Span = tuple[int | None, int | None]
    """Begin and end in ns, None = open."""


class JobAnswer(NamedTuple):
    """An explanation, its verdict, and the job's history metric by metric."""

    explanation: Explanation
    verdict: JobVerdict
    umami: Umami


class RunAnswer(NamedTuple):
    """Why one of a job's runs was slow. ``run``: as ``find_run`` takes it."""

    run: str
    explanation: Explanation
    verdict: JobVerdict


class RunAnswers(NamedTuple):
    """Runs of one job, the largest loss first. ``left_out``: how many more there are."""

    runs: list[RunAnswer]
    left_out: int


class ScheduledAnswer(NamedTuple):
    """A run that the scheduler knows, and what is said of it."""

    story: ScheduledStory
    words: StoryWords


def list_jobs(
    table: JobTable,
    which: JobFilter,
    limit: int | None = None,
    sort: Sort = "time",
    offset: int = 0,
) -> JobList:
    """Jobs of a filter, newest or slowest first; at most ``limit`` of them, without the first ``offset``.

    Raises UsageError: it names no jobs.
    """
    from iosonde.jobs.table.listing import JobList, chosen_jobs, listed, must_be_jobs
    from iosonde.jobs.table.slowness import slowness

    must_be_jobs(table)
    slower = slowness(table)
    rows = chosen_jobs(table, which, sort, slower)
    return JobList(len(table), len(rows), listed(table, rows[offset:][:limit], slower))


def umami(
    table: JobTable,
    job_id: str,
    step: str | None = None,
    *,
    metrics: Sequence[str] | None = None,
    also: Sequence[str] = (),
    history: History = "earlier",
    last: int | None = None,
) -> Umami:
    """A run within its history. ``metrics``: the rows; None: the usual ones, and ``also``.

    Raises UsageError: no such job, run or metric.
    """
    from iosonde.jobs.umami.diagram import standard_rows
    from iosonde.jobs.umami.diagram import umami as diagram

    if metrics is None and also:
        metrics = [*standard_rows(table), *also]
    return diagram(table, job_id, step, metrics=metrics, last=last, history=history)


def explain_job(
    table: JobTable,
    job_id: str,
    step: str | None = None,
    *,
    history: History = "earlier",
    last: int | None = None,
    metrics: Sequence[str] = (),
) -> JobAnswer:
    """Why a run was slow, of a table whose metrics are ``judged``.

    ``metrics``: rows of the diagram; none: the performance, those of the verdict, and the usual ones of the table.
    Raises UsageError: no such job, run or metric.
    """
    found, verdict = _explained(table, job_id, step, history, last)
    rows = metrics or [name for name in _rows(found, verdict, table) if name in table.metrics]
    diagram = umami(table, job_id, step, metrics=rows, history=history, last=last)
    return JobAnswer(found, verdict, diagram)


def explain_runs(
    table: JobTable, job_id: str, *, history: History = "earlier", last: int | None = None
) -> RunAnswers:
    """Why the runs of one job were slow, those farthest below the best of their kind. As ``explain_job``."""
    from iosonde.jobs.table.runs import worth_a_look

    runs = [
        RunAnswer(name, *_explained(table, job_id, name, history, last))
        for name in worth_a_look(table, job_id)
    ]
    runs.sort(key=lambda run: _order(run.explanation.loss))
    return RunAnswers(runs, int((table.job_id == job_id).sum()) - len(runs))


def has_records(root: Path, job_id: str) -> bool:
    """Whether the store has anything of a job of exactly this id. Raises StoreError."""
    from iosonde.jobs.store.jobs import read_jobs

    return bool(read_jobs(root, job_id=job_id, scalars=False))


def job_ids(root: Path) -> list[str]:
    """Ids of all jobs of the store. Raises StoreError."""
    from iosonde.jobs.store.jobs import job_ids as ids

    return ids(root)


def records_of(root: Path, job_id: str) -> list[Job]:
    """Everything that the store has of a job of exactly this id, by begin. Raises StoreError."""
    from iosonde.jobs.store.jobs import read_jobs

    return read_jobs(root, job_id=job_id)


def has_performance(records: Sequence[Job]) -> bool:
    """Whether the records of a job say how fast its I/O was."""
    from iosonde.jobs.store.jobs import PERFORMANCES

    return any(
        scalar is not None and scalar.value is not None
        for job in records
        for scalar in map(job.scalars.get, PERFORMANCES)
    )


def scheduled_job(
    root: Path,
    records: Sequence[Job],
    now_ns: int,
    step: str | None = None,
    *,
    zone: tzinfo | None = None,
) -> ScheduledAnswer | None:
    """A job of which a scheduler's records are in the store: storage while it ran, run time, own I/O; None: none is.

    ``records``: as ``records_of``; ``step``: ``#1``, the first of its runs; None: the last one.
    Raises UsageError (no such run), StoreError.
    """
    from iosonde.jobs.scheduled.runs import chosen_run, scheduled_runs
    from iosonde.jobs.scheduled.story import story_of
    from iosonde.jobs.scheduled.words import say_story

    runs = scheduled_runs(records, now_ns)
    if not runs:
        return None
    story = story_of(root, chosen_run(runs, step), now_ns, records)
    return ScheduledAnswer(story, say_story(story, zone))


def meanwhile(
    root: Path, table: JobTable, row: int, now_ns: int, records: Sequence[Job]
) -> ScheduledAnswer | None:
    """The same for the run in a row of the table, in its own time; None: nobody probed, no scheduler knows it.

    Raises StoreError.
    """
    from iosonde.jobs.scheduled.runs import recorded_run, scheduled_runs
    from iosonde.jobs.scheduled.story import story_of
    from iosonde.jobs.scheduled.words import say_story

    runs = scheduled_runs(records, now_ns)
    story = story_of(root, recorded_run(table, row, runs), now_ns, records, brief=True)
    if not (runs or story.storage or story.own_io):
        return None
    return ScheduledAnswer(story, say_story(story))


def meant_job(root: Path, job_id: str, warn: Callable[[str], None]) -> str:
    """The id of the store that is meant: itself, or the only one that begins or ends with it; else itself."""
    from iosonde.jobs.store.earlier_runs import known_jobs
    from iosonde.jobs.table.which_job import SHORTEST_PART

    if len(job_id) < SHORTEST_PART or has_records(root, job_id):
        return job_id
    parts = known_jobs(root, job_id).parts
    if len(parts) != 1:
        return job_id
    warn(f"there is no job {job_id}: {parts[0]} is the only one that begins or ends so")
    return parts[0]


def unknown_job(root: Path, job_id: str) -> IosondeError:
    """The error about an id that the store does not have: ids like it, what there is, how to import."""
    from iosonde.jobs.scheduled.unknown import unknown_job as error_about
    from iosonde.jobs.store.earlier_runs import known_jobs

    return error_about(root, job_id, known_jobs(root, job_id))


def _order(loss: float) -> float:
    return -loss if math.isfinite(loss) else math.inf


def _explained(
    table: JobTable, job_id: str, step: str | None, history: History, last: int | None
) -> tuple[Explanation, JobVerdict]:
    from iosonde.jobs.explain.explain import explain
    from iosonde.jobs.explain.words import judge

    found = explain(table, job_id, step, history=history, last=last)
    return found, judge(found)


def _rows(found: Explanation, verdict: JobVerdict, table: JobTable) -> list[str]:
    from iosonde.jobs.umami.diagram import standard_rows

    told = (one.metric for one in verdict.told)
    return list(dict.fromkeys((found.measure, *told, *verdict.twins, *standard_rows(table))))


def select(
    table: JobTable, file_system: str | None, motif: str | None, span_ns: Span = (None, None)
) -> JobTable:
    """Only the jobs of a file system and motif that began in a span; None: any.

    Raises UsageError (no such file system or motif), NothingMeasuredError (no job).
    """
    from iosonde.jobs.table.from_files import picked

    return picked(table, (file_system, motif), span_ns)


def correlate(
    table: JobTable,
    y: str,
    metrics: Sequence[str] | None = None,
    by: Sequence[By] = ("file_system", "motif"),
    controls: Sequence[str] = (),
    *,
    regions: Texts | None = None,
) -> Correlated:
    """What goes with ``y``. ``metrics``: None: those that could explain it; ``regions``: as ``regions_of``.

    Raises UsageError (no such metric), NothingMeasuredError (no row with y; no metric).
    """
    from iosonde.jobs.correlate.correlate import correlate as correlated

    return correlated(table, y, metrics, by, controls, regions=regions)


def regions_of(table: JobTable, boundaries_ns: Sequence[int] = ()) -> Texts:
    """(n,) the piece of time of each run: between boundaries, or without them of its file system's climates.

    Raises UsageError (boundaries that do not ascend), NothingMeasuredError (no climates).
    """
    from iosonde.jobs.climate.regions import between, climates

    return between(table, boundaries_ns) if boundaries_ns else climates(table)
