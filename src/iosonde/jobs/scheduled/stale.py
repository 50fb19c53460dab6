"""Runs that a record of days ago says are running: they are followed until the last record, not until now."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np

from iosonde.engine.parts import parts, select_together
from iosonde.engine.spool import literal
from iosonde.jobs.scheduled.runs import ScheduledRun, scheduled_runs
from iosonde.jobs.store.jobs import JOBS
from iosonde.model.jobs import Job
from iosonde.model.names import slug
from iosonde.model.units import DAY_NS

STALE_NS = DAY_NS
"""From this age of the newest record on, nobody knows whether a job still runs."""
_PARTS = 2
"""Newest months of a source: the last one may have nothing of the cluster."""


def runs_of(root: Path, records: Iterable[Job], now_ns: int) -> list[ScheduledRun]:
    """As ``scheduled_runs``; what runs by records older than ``STALE_NS`` is followed until the last of them.

    Where it is itself the last record there is no later instant: it is followed until now, and stale.
    """
    return [_run(root, run, now_ns) for run in scheduled_runs(records, now_ns)]


def _run(root: Path, run: ScheduledRun, now_ns: int) -> ScheduledRun:
    if not run.going_on or run.begin_ns is None:
        return run
    seen = _last_instant(root, run.job)
    if now_ns - max(run.begin_ns, seen) <= STALE_NS:
        return run
    if seen <= run.begin_ns:
        return replace(run, stale=True)
    return replace(run, end_ns=seen, going_on=False, stale=True)


def _last_instant(root: Path, job: Job) -> int:
    """Last begin or end in the records of a job's source and cluster (ns): they are no older."""
    own = [path for path in parts(root, JOBS) if path.name == f"{slug(job.source)}.parquet"]
    found = select_together(
        "max(greatest(start_ns, end_ns)) AS last",
        own[-_PARTS:],
        f"source = {literal(job.source)} AND system = {literal(job.system)} AND state <> 'PENDING'",
    )
    values = [np.ma.asarray(one["last"]).tolist() for one in found]
    return max((int(one) for some in values for one in some if one is not None), default=0)
