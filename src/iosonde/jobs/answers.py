"""The questions about jobs, one function each: what the command line, the page and notebooks call.

A door parses what people write, calls one of these and renders what it gets; analysis modules load when they are
called.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from iosonde.jobs.climate.climate import Climate, OnDate
    from iosonde.jobs.climate.motifs import Motifs
    from iosonde.jobs.climate.validation import Validated
    from iosonde.jobs.correlate.correlate import Correlated
    from iosonde.jobs.explain.explain import Explanation
    from iosonde.jobs.explain.words import JobVerdict
    from iosonde.jobs.table.derived import By
    from iosonde.jobs.table.listing import JobList
    from iosonde.jobs.umami.diagram import History, Umami
    from iosonde.model.jobs import JobTable

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


class ClimateAnswer(NamedTuple):
    """What changed; ``on``: on the day that was asked for; ``validations``: what a prediction would be worth."""

    climate: Climate
    on: OnDate | None = None
    validations: tuple[Validated, ...] = ()


class ClimateRuns(NamedTuple):
    """A climate with its runs. ``runs``: of each series (job, run) of every run, as ``find_run`` takes them.

    ``n``: jobs of the table; ``file_systems motifs``: those with a series long enough for a change.
    """

    climate: Climate
    runs: list[list[tuple[str, str]]]
    n: int
    file_systems: list[str]
    motifs: list[str]


def list_jobs(table: JobTable, words: Sequence[str] = (), limit: int | None = None) -> JobList:
    """Jobs in which every word occurs; at most ``limit`` of them. Raises UsageError: the table names no jobs."""
    from iosonde.jobs.table.listing import JobList, found_jobs, listed, must_be_jobs

    must_be_jobs(table)
    rows = found_jobs(table, words)
    return JobList(len(table), len(rows), listed(table, rows[:limit]))


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
) -> Correlated:
    """What goes with ``y``. ``metrics``: None: those that could explain it.

    Raises UsageError (no such metric), NothingMeasuredError (no row with y; no metric).
    """
    from iosonde.jobs.correlate.correlate import correlate as correlated

    return correlated(table, y, metrics, by, controls)


def climate(
    table: JobTable,
    file_system: str | None = None,
    motif: str | None = None,
    span_ns: Span = (None, None),
    *,
    day_ns: int | None = None,
    validate: bool = False,
) -> ClimateAnswer:
    """What changed for good. ``day_ns``: also what changed on the UTC day that holds it.

    Raises UsageError (no performance; no such file system or motif), NothingMeasuredError (no run).
    """
    from iosonde.jobs.climate.climate import changed_on, picked
    from iosonde.jobs.climate.climate import climate as climate_of

    since, until = span_ns
    found = climate_of(table, file_system=file_system, motif=motif, since_ns=since, until_ns=until)
    on = None if day_ns is None else changed_on(found, day_ns)
    if not validate:
        return ClimateAnswer(found, on)
    from iosonde.jobs.climate.validation import validated

    return ClimateAnswer(found, on, validated(picked(table, file_system, motif, since, until)))


def motifs(table: JobTable) -> Motifs:
    """Clusters of jobs, from what they did. Raises UsageError: the table has no features."""
    from iosonde.jobs.climate.motifs import motifs as clusters

    return clusters(table)


def climate_runs(
    table: JobTable,
    file_system: str | None = None,
    motif: str | None = None,
    span_ns: Span = (None, None),
) -> ClimateRuns:
    """``climate``, and the name of every run: what a click on a dot leads to. Raises as ``climate``."""
    import numpy as np

    from iosonde.jobs.climate.climate import SMALLEST_SERIES, picked
    from iosonde.jobs.table.runs import run_names

    found = climate(table, file_system, motif, span_ns).climate
    named = replace(table, step=np.array(run_names(table), dtype=object))
    some = picked(named, file_system, motif, *span_ns)
    strata = some.strata()
    runs = [
        list(zip(some.job_id[rows].tolist(), some.step[rows].tolist(), strict=True))
        for rows in (strata[one.file_system, one.motif] for one in found.series)
    ]
    usable = picked(table, None, None, None, None).strata()
    keys = [key for key, rows in usable.items() if len(rows) >= SMALLEST_SERIES]
    places, motifs = sorted({key[0] for key in keys}), sorted({key[1] for key in keys})
    return ClimateRuns(found, runs, len(table), places, motifs)
