"""Jobs of a store that an id means, as users write it.

::

    4711_7, 600+1, 4711, a raw id -> a job: its raw id, and the id as users write it
    4711 of an array, 600         -> its tasks or components, in order
    4711.batch                    -> the job 4711
    4711 of two clusters          -> both jobs; 4711@west is one of them

The last task of an array has the array's number as its raw id: the number alone means the array. Of stores that have
no ids as users write them, an id means the job of exactly this id, as it always did.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from iosonde.connectors.scheduler.job_ids import (
    cluster_of,
    part_of,
    step_of,
    told_apart,
    waiting,
    waits,
)
from iosonde.engine.parts import parts, select_together
from iosonde.engine.spool import literal
from iosonde.jobs.store.jobs import JOBS, read_jobs
from iosonde.model.jobs import Job

_WHOLES = {"_": "array", "+": "heterogeneous job"}
_PARTS = {"_": "task", "+": "component"}


class MeantJob(NamedTuple):
    """A job. ``job_id``: raw; ``written``: as users write it; ``waits``: number of tasks, of those that wait.

    ``system``: its cluster, where several have its id; "": records of all are its.
    """

    job_id: str
    written: str
    waits: int = 0
    system: str = ""

    def records(self, found: Iterable[Job]) -> list[Job]:
        """Those of records with this raw id that are of this job, with its id.

        Tasks that wait have the raw id of the array's last task: their record is not one of it.
        """
        own = cluster_of(self.written)[0] if self.system else self.written
        some = [one for one in found if one.shown_id in ("", own)]
        if not self.system:
            return some
        told = "" if self.written == self.job_id else self.written
        return [replace(one, shown_id=told) for one in some if one.system in ("", self.system)]


class Meant(NamedTuple):
    """Jobs that an id means: one, or the parts of ``whole`` ("array 4711", "": it is none).

    ``part``: "task" or "component". ``remark``: what is said of how the id was read; "" if it is the job's own.
    """

    jobs: tuple[MeantJob, ...]
    whole: str = ""
    part: str = ""
    remark: str = ""


def meant(root: Path, asked: str) -> Meant | None:
    """What an id means; None: no job of the store. Raises StoreError."""
    found = _without_step(root, asked)
    name, cluster = cluster_of(asked)
    if found is None and cluster:
        found = _without_step(root, name, cluster)
    step = step_of(asked)
    if found is not None or step is None:
        return found
    job, name = step
    found = _without_step(root, job)
    if found is None:
        return None
    # Of array 1 the step 1.batch is that of the task whose raw id is 1.
    own = tuple(one for one in found.jobs if found.whole and one.job_id == job and not one.waits)
    found = Meant(own) if own else found
    whole = found.whole or f"job {found.jobs[0].written}"
    return found._replace(
        remark=f"{asked} is step {name} of {whole}, which is explained as a whole"
    )


def records(root: Path, job: MeantJob) -> list[Job]:
    """Everything that the store has of a job, by begin. Raises StoreError."""
    return job.records(read_jobs(root, job_id=job.job_id))


def _without_step(root: Path, asked: str, cluster: str = "") -> Meant | None:
    """``cluster``: only jobs of it; "": of all."""
    rows = [row for row in _rows(root, asked) if not cluster or row.system == cluster]
    written = {row for row in rows if row.written == asked and row.shown}
    own = {row for row in rows if row.job_id == asked}
    tasks = [row for row in rows if _whole_of(row.written) == asked]
    if written:
        return _one(written, asked, cluster)
    if tasks:
        return _parts(asked, tasks, own)
    if own:
        return _one(own, asked, cluster)
    return _waiting(root, asked)


class _Row(NamedTuple):
    """Ids of records. ``shown``: the store has it as users write it."""

    job_id: str
    written: str
    shown: bool
    scheduled: bool
    system: str


def _rows(root: Path, asked: str) -> list[_Row]:
    """Records of an id, raw or as written, and of its tasks and components."""
    text, both = literal(asked[:200]), "coalesce(shown_id, job_id)"
    begins = " OR ".join(f"starts_with({both}, {literal(asked[:200] + sign)})" for sign in _WHOLES)
    columns = (
        f"DISTINCT job_id, {both} AS written, shown_id IS NOT NULL AS shown, system, "
        "(state <> '' OR nodes IS NOT NULL OR node_names <> '') AS scheduled"
    )
    where = f"job_id = {text} OR shown_id = {text} OR {begins}"
    found: list[_Row] = []
    for columns_of in select_together(columns, parts(root, JOBS), where):
        named: dict[str, Any] = {
            name: np.ma.asarray(column).tolist() for name, column in columns_of.items()
        }
        found += [_Row(*row) for row in zip(*(named[name] for name in _Row._fields), strict=True)]
    return found


def _whole_of(written: str) -> str:
    part = part_of(written)
    return "" if part is None else part.whole


def _one(rows: set[_Row], asked: str, cluster: str) -> Meant:
    """The job of this id, or one of each cluster: first one that a scheduler calls so, then one with both ids."""
    clusters = sorted({row.system for row in rows if row.system})
    if len(clusters) > 1:
        some = [_best({row for row in rows if row.system == name}, asked) for name in clusters]
        names = told_apart([row.written for row in some], clusters)
        jobs = (
            MeantJob(row.job_id, name, system=row.system)
            for row, name in zip(some, names, strict=True)
        )
        return Meant(tuple(jobs), f"id {asked} in {len(clusters)} clusters", "job")
    best = _best(rows, asked)
    remark = "" if best.written == asked else f"{asked} is the raw id of job {best.written}"
    written = f"{best.written}@{cluster}" if cluster else best.written
    return Meant((MeantJob(best.job_id, written, system=cluster),), remark=remark)


def _best(rows: set[_Row], asked: str) -> _Row:
    return min(
        rows, key=lambda row: (not (row.scheduled and row.written == asked), not row.shown, row)
    )


def _parts(asked: str, rows: list[_Row], own: set[_Row]) -> Meant:
    """Tasks or components, and a job of this id of a cluster that has no such tasks."""
    shown = {row.written for row in rows if row.shown}
    rows = [row for row in rows if row.shown or row.written not in shown]
    systems = {row.system for row in rows}
    rows += [
        row for row in own if row.written == asked and row.scheduled and row.system not in systems
    ]
    known = {part.number for row in rows if (part := part_of(row.written)) is not None}
    jobs: dict[tuple[str, str], tuple[tuple[int, int], MeantJob]] = {}
    sign = "_"
    names = told_apart([row.written for row in rows], [row.system for row in rows])
    for row, name in zip(rows, names, strict=True):
        system = row.system if name != row.written else ""
        part = part_of(row.written)
        if part is None:
            jobs[row.job_id, name] = ((-1, 0), MeantJob(row.job_id, name, system=system))
            continue
        sign = part.sign
        many = 0
        place = (0, int(part.number)) if part.number.isdecimal() else (1, 0)
        if place[0]:
            many = waiting(part.number) - sum(
                n.isdecimal() and waits(part.number, int(n)) for n in known
            )
            if many <= 0:  # what an earlier import saw waiting has run since
                continue
        jobs[row.job_id, name] = (place, MeantJob(row.job_id, name, many, system))
    ordered = [job for _, job in sorted(jobs.values())]
    whole = f"{_WHOLES[sign]} {asked}"
    if len(ordered) == 1:
        remark = f"{whole} has one {_PARTS[sign]} here: {ordered[0].written}"
        return Meant(tuple(ordered), remark=remark)
    return Meant(tuple(ordered), whole, _PARTS[sign])


def _waiting(root: Path, asked: str) -> Meant | None:
    """Tasks that wait, of which one is asked for."""
    part = part_of(asked)
    if part is None or part.sign != "_" or not part.number.isdecimal():
        return None
    for row in _rows(root, part.whole):
        other = part_of(row.written)
        if (
            other is not None
            and other.whole == part.whole
            and waits(other.number, int(part.number))
        ):
            job = MeantJob(row.job_id, row.written, waiting(other.number))
            return Meant((job,), remark=f"{asked} is one of the tasks {row.written}")
    return None
