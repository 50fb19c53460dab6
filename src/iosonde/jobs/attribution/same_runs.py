"""Deduplication of runs that several sources have."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from iosonde.model.jobs import Job

_LATE = 1 << 62


def once(jobs: Iterable[Job]) -> list[Job]:
    """Runs of one source each: of records with one id and overlapping times those of the fuller source count."""
    by_id: dict[str, list[Job]] = defaultdict(list)
    for job in jobs:
        if not job.step:
            by_id[job.job_id].append(job)
    found: list[Job] = []
    for some in by_id.values():
        if len({job.source for job in some}) == 1:
            found += some
            continue
        kept: list[Job] = []
        for job in sorted(some, key=_fullness):
            if not any(_same_run(job, other) for other in kept):
                kept.append(job)
        found += kept
    return sorted(found, key=lambda job: (job.start_ns or 0, job.job_id, job.source))


def _fullness(job: Job) -> tuple[bool, bool, bool, str]:
    return (not job.node_names, job.end_ns is None, not job.user, job.source)


def _same_run(one: Job, other: Job) -> bool:
    if one.source == other.source or (one.system and other.system and one.system != other.system):
        return False
    if one.start_ns is None or other.start_ns is None:
        return True
    return one.start_ns < (other.end_ns or _LATE) and other.start_ns < (one.end_ns or _LATE)
