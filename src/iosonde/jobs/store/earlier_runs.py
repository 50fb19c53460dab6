"""Jobs of the store without their numbers: earlier ones of a kind, and ids similar to a missing one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.connectors.scheduler.job_ids import part_of
from iosonde.engine.parts import parts, select_together
from iosonde.engine.spool import literal
from iosonde.jobs.store.jobs import JOBS, month_of
from iosonde.model.frames import NULL_NS

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats, Instants
    from iosonde.model.jobs import Job

_COMPLETED = "COMPLETED"


class EarlierRuns(NamedTuple):
    """Completed jobs by start, shapes (n,): ``nodes`` is NaN if unknown."""

    begin_ns: Instants
    run_s: Floats
    nodes: Floats


def earlier_runs(root: Path, job: Job) -> EarlierRuns:
    """Completed jobs of the same name, user and cluster that started before a job; none if it has no name or user.

    What several sources recorded counts once. Raises StoreError.
    """
    begins, ends, nodes = ([np.empty(0, dtype=np.int64)] for _ in range(3))
    if job.start_ns is not None and job.name and job.user:
        where = (
            f"step = '' AND state = '{_COMPLETED}' AND name = {literal(job.name)} "
            f'AND "user" = {literal(job.user)} AND start_ns < {int(job.start_ns)} '
            f"AND end_ns > start_ns AND system IN ({literal(job.system)}, '') AND job_id <> ''"
        )
        columns = "job_id, start_ns, end_ns, nodes"
        seen: set[tuple[str, int]] = set()
        for found in select_together(
            columns, parts(root, JOBS, last=month_of(job.start_ns)), where
        ):
            start, end = (
                np.ma.getdata(found[name]).astype(np.int64) for name in columns.split(", ")[1:3]
            )
            keys = list(zip(found["job_id"].tolist(), start.tolist(), strict=True))
            fresh = np.zeros(len(keys), dtype=np.bool_)
            for place, key in enumerate(keys):
                fresh[place] = key not in seen
                seen.add(key)
            begins.append(start[fresh])
            ends.append(end[fresh])
            nodes.append(np.ma.filled(found["nodes"], NULL_NS).astype(np.int64)[fresh])
    begin, end, count = (np.concatenate(some) for some in (begins, ends, nodes))
    order = np.argsort(begin, kind="stable")
    size = np.where(count == NULL_NS, np.nan, count.astype(np.float64))
    return EarlierRuns(begin[order], ((end - begin) / 1e9)[order], size[order])


class KnownJobs(NamedTuple):
    """Jobs of a store: number, range of starts (ns), sources, some similar ids.

    ``parts``: all ids that begin or end with it, at least two signs of it. ``tasks``: some id is that of a task of an
    array or of a component, as users write it.
    """

    n: int
    first_ns: int | None
    last_ns: int | None
    sources: tuple[str, ...]
    alike: tuple[str, ...]
    parts: tuple[str, ...]
    tasks: bool = False


def known_jobs(root: Path, like: str = "", most: int = 3) -> KnownJobs:
    """Known jobs, with the ids most similar to ``like``: by common start or end first, then by spelling."""
    ids: set[str] = set()
    sources: set[str] = set()
    begins: list[int] = []
    near: dict[str, tuple[int, int]] = {}
    text, written = literal(like[:100]), "coalesce(shown_id, job_id)"
    columns = (
        f"{written} AS written, source, min(start_ns) AS first, max(start_ns) AS last, "
        f"min(levenshtein({written}, {text})) AS apart, "
        f"bool_or(starts_with({written}, {text}) OR suffix({written}, {text})) AS part"
    )
    for found in select_together(
        columns, parts(root, JOBS), "job_id <> '' GROUP BY written, source"
    ):
        rows = zip(*(np.ma.asarray(found[name]).tolist() for name in found), strict=True)
        for job_id, source, first, last, apart, part in rows:
            ids.add(job_id)
            sources.add(source)
            begins += [one for one in (first, last) if one is not None]
            near[job_id] = (0 if part else 1, int(apart))
    longest = max(1, len(like) // 2)
    alike = sorted(
        (one for one, (other, apart) in near.items() if not other or apart <= longest),
        key=lambda one: (*near[one], one),
    )
    first_ns, last_ns = (min(begins), max(begins)) if begins else (None, None)
    tasks = any(part_of(one) is not None for one in ids)
    some = tuple(sorted(one for one, (other, _) in near.items() if not other and len(like) > 1))
    return KnownJobs(
        len(ids), first_ns, last_ns, tuple(sorted(sources)), tuple(alike[:most]), some, tasks
    )
