"""The runs that a run is compared with: as if they did what it did itself, and since the last lasting change.

Source: docs/methods/umami.md, what is usual.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.jobs.explain.own_doing import OwnChange, own_changes
from iosonde.jobs.explain.own_level import OwnLevel, own_level
from iosonde.jobs.table.runs import find_run
from iosonde.jobs.table.sizes import sized
from iosonde.jobs.umami.diagram import History, history_of, measured
from iosonde.jobs.umami.since import Since, since

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats, Places
    from iosonde.model.jobs import JobTable


PERFORMANCE = ("performance_bytes_per_s", "performance_ops_per_s", "fraction_of_peak_ratio")
"""Performance metrics that can be explained: the first that the run has."""
SLOW_FROM = 0.1
"""Least loss of a slow run; below, it is as usual in any quartile."""


class Comparable(NamedTuple):
    """``others``: rows of the history since the last change; ``y`` (n,): performance of every row of the table."""

    others: Places
    y: Floats
    own: tuple[OwnChange, ...]
    """What the run did otherwise itself; what its performance depends on comes first."""
    level: OwnLevel | None
    since: Since | None


def comparable(table: JobTable, row: int, others: Places, y: Floats) -> Comparable:
    """What the run of ``row`` is compared with, of its history ``others`` and the performance ``y`` (n,)."""
    level = own_level(table, row, others, y)
    own = own_changes(table, row, others)
    if level is not None:
        y = level.y
        own = (level.change, *(one for one in own if one.what != level.change.what))
    rows = np.append(others, row)
    order = rows[np.argsort(table.start_ns[rows], kind="stable")]
    changed = since(table.start_ns[order], y[order], int(np.flatnonzero(order == row)[0]))
    if changed is not None:
        others = others[changed.of(table.start_ns[others])]
    return Comparable(others, y, own, level, changed)


class Run(NamedTuple):
    """A run and its history. ``table``: in classes of size; ``y`` (n,): the performance ``measure`` of every row."""

    table: JobTable
    row: int
    others: Places
    measure: str
    y: Floats
    notes: tuple[str, ...]


def run_of(
    table: JobTable, job_id: str, step: str | None, history: History, last: int | None
) -> Run:
    """The run of a job. Raises UsageError: no such job, several runs."""
    table = sized(table)
    row = find_run(table, job_id, step)
    others, notes = history_of(table, row, history)
    others = others if last is None else others[-last:]
    known = (n for n in PERFORMANCE if n in table.metrics and np.isfinite(table.metrics[n][row]))
    measure = next(known, PERFORMANCE[0])
    y = measured(table.metrics.get(measure, np.full(len(table), np.nan)))
    return Run(table, row, others, measure, y, notes)


def usual_since(
    table: JobTable, job_id: str, step: str | None, history: History, last: int | None
) -> Since | None:
    """The last lasting change before a run. Raises UsageError: no such job, several runs."""
    run = run_of(table, job_id, step, history, last)
    return comparable(run.table, run.row, run.others, run.y).since
