"""Join of jobs with server records: records of a job's time become numbers of the job."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from iosonde.jobs.environment.servers import LOOK_BACK_NS, environment_in
from iosonde.jobs.store.jobs import write_scalars
from iosonde.jobs.store.scan import Passing
from iosonde.jobs.store.with_performance import measured_jobs
from iosonde.model.jobs import Job, JobKey

_TOGETHER = 500


class JoinCounts(NamedTuple):
    """``jobs``: number of jobs examined; ``with_more``: number of these with any record."""

    jobs: int
    with_more: int


def join(
    root: Path,
    *,
    keys: Collection[JobKey] | None = None,
    span_ns: tuple[int, int] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> JoinCounts:
    """Join records with jobs of known performance: those of ``keys``, and all that ran in the span.

    Both None: every job. What was known before and is known better now is replaced. Raises StoreError.
    """
    wanted = measured_jobs(root, keys=keys, span_ns=span_ns)
    more = 0
    with Passing(root) as store:
        for begin in range(0, len(wanted), _TOGETHER):
            some = wanted[begin : begin + _TOGETHER]
            store.know_nodes([job.job_id for job in some if not job.node_names])
            timed = [job for job in some if job.start_ns is not None and job.end_ns is not None]
            if timed:
                store.know_company(
                    min(job.start_ns or 0 for job in timed), max(job.end_ns or 0 for job in timed)
                )
            found: list[Job] = []
            for done, job in enumerate(some, begin):
                if progress is not None:
                    progress(done, len(wanted))
                store.forget((job.start_ns or 0) - 2 * LOOK_BACK_NS)
                scalars = environment_in(store, job)
                if scalars:
                    found.append(replace(job, scalars=scalars))
            write_scalars(root, found)
            more += len(found)
    if progress is not None and wanted:
        progress(len(wanted), len(wanted))
    return JoinCounts(len(wanted), more)
