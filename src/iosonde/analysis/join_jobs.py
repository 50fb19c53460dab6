"""Jobs and what servers recorded, put together: what the store knows of a job's time becomes numbers of the job."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from iosonde.analysis.servers import LOOK_BACK_NS, environment_in
from iosonde.model.jobs import Job
from iosonde.store.jobs import PERFORMANCES, read_jobs, write_jobs
from iosonde.store.passing import Passing

Key = tuple[str, str, str, int | None]
_TOGETHER = 500


class Joined(NamedTuple):
    """``jobs``: how many were looked at; ``with_more``: of these, of how many something was known."""

    jobs: int
    with_more: int


def join(
    root: Path,
    *,
    keys: Collection[Key] | None = None,
    span_ns: tuple[int, int] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Joined:
    """Put together what is known of jobs whose performance is: those of ``keys``, and all that ran in the span.

    Both None: every job. What was known before and is known better now is replaced. Raises StoreError.
    """
    wanted = [job for job in read_jobs(root) if _wanted(job, keys, span_ns)]
    more = 0
    with Passing(root) as store:
        for begin in range(0, len(wanted), _TOGETHER):
            some = wanted[begin : begin + _TOGETHER]
            store.know_nodes([job.job_id for job in some if not job.node_names])
            found: list[Job] = []
            for done, job in enumerate(some, begin):
                if progress is not None:
                    progress(done, len(wanted))
                store.forget((job.start_ns or 0) - 2 * LOOK_BACK_NS)
                scalars = environment_in(store, job)
                if scalars:
                    found.append(replace(job, scalars=scalars))
            write_jobs(root, found)
            more += len(found)
    if progress is not None and wanted:
        progress(len(wanted), len(wanted))
    return Joined(len(wanted), more)


def _wanted(job: Job, keys: Collection[Key] | None, span_ns: tuple[int, int] | None) -> bool:
    if not any(name in job.scalars for name in PERFORMANCES):
        return False
    if keys is None and span_ns is None:
        return True
    if keys is not None and job.key in keys:
        return True
    if span_ns is None or job.start_ns is None:
        return False
    return job.start_ns < span_ns[1] and (job.end_ns or job.start_ns) >= span_ns[0]
