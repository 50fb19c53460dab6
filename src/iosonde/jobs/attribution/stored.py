"""Attribution from the store: operations of nodes or jobs, joined with the scheduler's allocations.

Nodes' records (collectl, mountstats, node_exporter, mmpmon) are divided among the jobs that had the node. Counters of
single jobs (Lustre job_stats, control groups) need no division: such a row counts for its job and has no background.
Where both cover an interval, jobs' own counters count.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.jobs.attribution.allocations import allocations_of
from iosonde.jobs.attribution.blame import AROUND_NS, SLOT_NS, SLOTS_OF_EVENT
from iosonde.jobs.attribution.grid import OPS, Grid
from iosonde.jobs.attribution.join import Joined, join
from iosonde.jobs.attribution.own_counters import (
    covered_throughout,
    with_own,
    without_background,
)
from iosonde.jobs.attribution.records import OwnedComponent, on_grid, owner_of
from iosonde.jobs.attribution.same_runs import once
from iosonde.jobs.store.jobs import read_jobs
from iosonde.jobs.store.operations import recorded_components
from iosonde.model.errors import NothingMeasuredError
from iosonde.model.units import format_time

if TYPE_CHECKING:
    from iosonde.model.arrays import Flags
    from iosonde.model.jobs import Job

SHORTEST_NS = 10_000_000_000
"""Least step; shorter records are added up to it, or to a twelfth of the interval, unless a step is requested."""
_MOST_CELLS = 400_000_000
_HALF = 0.5


class RecordChoice(NamedTuple):
    """Filter of records. None = all."""

    systems: Sequence[str] | None = None
    """File systems or exports, as the records name them."""
    sources: Sequence[str] | None = None
    """Tools, such as ``collectl``."""
    metrics: Sequence[str] = OPS
    per_job: bool = True
    """Use jobs' own counters if present."""


class StoredLoad(NamedTuple):
    """``joined``, and its sources."""

    joined: Joined
    own: Flags
    """(N,) Rows of ``joined`` that belong to one job."""
    sources: tuple[str, ...]
    systems: tuple[str, ...]
    unnamed: int
    """Number of series without a node: mount points or exports without a host."""
    without: tuple[str, ...]
    """Nodes of jobs in the interval without records."""


def stored(
    root: Path,
    begin_ns: int,
    end_ns: int,
    *,
    now_ns: int,
    step_ns: int | None = None,
    around_ns: int = AROUND_NS,
    choice: RecordChoice | None = None,
) -> Joined:
    """Operations and allocations in [begin, end) and ``around_ns`` before and after. As ``stored_load``."""
    return stored_load(
        root, begin_ns, end_ns, now_ns=now_ns, step_ns=step_ns, around_ns=around_ns, choice=choice
    ).joined


def stored_load(
    root: Path,
    begin_ns: int,
    end_ns: int,
    *,
    now_ns: int,
    step_ns: int | None = None,
    around_ns: int = AROUND_NS,
    choice: RecordChoice | None = None,
) -> StoredLoad:
    """As ``stored``, with the records it is made of.

    ``step_ns``: of the grid; None: the usual step of the records, 10 s (of a short interval a twelfth) to 5 min. Cells
    without records are not covered, never zero. Raises StoreError; NothingMeasuredError: no records of nodes or
    jobs, or no job with nodes, in [begin, end).
    """
    which = choice or RecordChoice()
    first, last = begin_ns - around_ns, min(end_ns + around_ns, max(now_ns, end_ns))
    owned, unnamed = _owned(root, which, (first, last))
    there = [one for one in owned if _overlaps(one, begin_ns, end_ns)]
    if not there:
        raise _no_records(owned, unnamed, _when(begin_ns, end_ns, now_ns))
    owned = _one_kind(_each_once(owned, which.systems), there, (begin_ns, end_ns))
    rows = {one.row: one for one in owned}
    shortest = min(SHORTEST_NS, max(1, (end_ns - begin_ns) // SLOTS_OF_EVENT))
    grid = _grid(owned, (first, last), len(rows), (step_ns, shortest))
    recorded = on_grid(root, owned, grid, which.metrics)
    jobs = once(read_jobs(root, overlapping=(first, last), scalars=False))
    own = np.array([bool(rows[name].job) for name in recorded.nodes])
    if own.any():
        recorded = covered_throughout(recorded, own)
    nodes = [name if not mine else "" for name, mine in zip(recorded.nodes, own, strict=True)]
    placed = allocations_of([job for job in jobs if job.node_names], nodes, now_ns)
    owners = {row: rows[recorded.nodes[row]].job for row in np.flatnonzero(own).tolist()}
    allocations = with_own(placed, recorded, owners, jobs)
    if not len(allocations.within(begin_ns, end_ns)):
        raise _no_jobs(jobs, recorded.nodes, _when(begin_ns, end_ns, now_ns))
    return StoredLoad(
        without_background(join(recorded, allocations), own),
        own,
        tuple(sorted({one.of.source for one in owned})),
        tuple(sorted({one.of.system for one in owned if one.of.system})),
        unnamed,
        _without(jobs, recorded.nodes, own, (begin_ns, end_ns)),
    )


def _owned(
    root: Path, which: RecordChoice, span_ns: tuple[int, int]
) -> tuple[list[OwnedComponent], int]:
    """Components with a known owner of their operations, and the number of others."""
    levels = ("client", "job") if which.per_job else ("client",)
    found = [
        one
        for one in recorded_components(root, levels, which.metrics, *span_ns)
        if (which.systems is None or one.system in which.systems)
        and (which.sources is None or one.source in which.sources)
    ]
    owned = [owner for one in found if (owner := owner_of(one)) is not None]
    return owned, len(found) - len(owned)


def _overlaps(one: OwnedComponent, begin_ns: int, end_ns: int) -> bool:
    return one.of.begin_ns < end_ns and one.of.end_ns > begin_ns


def _each_once(
    owned: Sequence[OwnedComponent], systems: Sequence[str] | None
) -> list[OwnedComponent]:
    """Without counters of a job on its nodes that may be of operations which servers counted for the job."""
    whole = {one.job for one in owned if one.job and not one.node}
    return [
        one
        for one in owned
        if not one.node or one.job not in whole or (systems is None and one.of.system)
    ]


def _one_kind(
    owned: Sequence[OwnedComponent], there: Sequence[OwnedComponent], span_ns: tuple[int, int]
) -> list[OwnedComponent]:
    """Jobs' own counters, and nodes without any; nodes alone if jobs' counters miss half of the time.

    Counters that say the job only are of all nodes.
    """
    begin, end = span_ns
    of_jobs = [one for one in there if one.job]
    first = min((one.of.begin_ns for one in of_jobs), default=end)
    last = max((one.of.end_ns for one in of_jobs), default=end)
    seen = min(last, end) - max(first, begin)
    nodes = [one for one in owned if not one.job]
    if seen < _HALF * (end - begin) and any(not one.job for one in there):
        return nodes
    jobs = [one for one in owned if one.job]
    if not jobs or any(not one.node for one in jobs):
        return jobs or nodes
    on = {one.node.lower() for one in jobs}
    return jobs + [one for one in nodes if one.node.lower() not in on]


def _grid(
    owned: Sequence[OwnedComponent],
    span_ns: tuple[int, int],
    rows: int,
    steps_ns: tuple[int | None, int],
) -> Grid:
    """Grid from the first record to the last, on whole steps since the epoch. Steps: the requested and the shortest."""
    usual = int(np.median([one.of.step_ns for one in owned]))
    wanted, shortest = steps_ns
    step = wanted or min(max(usual, shortest), SLOT_NS)
    begin = max(span_ns[0], min(one.of.begin_ns for one in owned))
    end = min(span_ns[1], max(one.of.end_ns for one in owned))
    while rows * (end - begin) // step > _MOST_CELLS:
        step *= 2
    begin = begin // step * step
    return Grid(begin, step, max(1, -((begin - end) // step)))


def _without(
    jobs: Sequence[Job], nodes: Sequence[str], own: Flags, span_ns: tuple[int, int]
) -> tuple[str, ...]:
    """Nodes of jobs in [begin, end) without records."""
    if own.any():
        return ()
    begin, end = span_ns
    short = {name.lower().split(".")[0] for name in nodes}
    had = {
        name
        for job in jobs
        if job.start_ns is not None and job.start_ns < end and (job.end_ns or end) > begin
        for name in job.node_names
    }
    return tuple(sorted(name for name in had if name.lower().split(".")[0] not in short))


def _when(begin_ns: int, end_ns: int, now_ns: int) -> str:
    return f"between {format_time(begin_ns, now_ns)} and {format_time(end_ns, now_ns)}"


def _no_records(owned: Sequence[OwnedComponent], unnamed: int, when: str) -> NothingMeasuredError:
    what = f"the store has no operations of nodes or jobs {when}"
    if owned:
        what += ": records end before it or begin after it"
    elif unnamed:
        what += f": {unnamed} series name a mount or an export, and no node"
    return NothingMeasuredError(
        what,
        expected="records of nodes (collectl, mountstats, node_exporter, mmpmon) or of jobs (Lustre job_stats)",
        hint="'iosonde import FILE', with --host NODE where a file names no node",
    )


def _no_jobs(jobs: Sequence[Job], nodes: Sequence[str], when: str) -> NothingMeasuredError:
    names = sorted({name for job in jobs for name in job.node_names})
    if names:
        what = f"no job {when} had a node with records: jobs name {_some(names)}, records {_some(nodes)}"
        return NothingMeasuredError(what, expected="the same names of nodes in both")
    return NothingMeasuredError(
        f"the store has records of {len(nodes)} nodes and no job with nodes {when}",
        expected="a scheduler's records, such as sacct with NodeList",
        hint="'iosonde import sacct.txt'",
    )


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 else "")
