"""I/O of a job from counters in the store: its own (Lustre job_stats, control groups) or its nodes'.

Counters of a node count for the job alone only while nobody else has the node: nodes that it shared are left out, and
counted. Where all were shared, the numbers are of everybody on them, and say so. Amounts of steps that the job's begin
or end cuts are divided by time, as ``jobs.attribution.grid`` does. Missing is None, not 0.

The I/O rate is bytes over the time in which bytes moved: the union of the steps of its counters that are above zero. So
it is at most as fine as the steps; of a job that moves data in short bursts it is a lower bound. Where only one
snapshot of job_stats was imported, there are totals and no rate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from iosonde.jobs.attribution.allocations import node_places
from iosonde.jobs.attribution.grid import OPS, Grid
from iosonde.jobs.attribution.records import OwnedComponent, on_grid, owner_of
from iosonde.jobs.store.jobs import read_jobs
from iosonde.jobs.store.operations import amount_rows, recorded_components

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from iosonde.model.jobs import Job

_READ, _WRITTEN = ("read_bytes",), ("written_bytes",)
_LONGEST_STEP_NS = 300_000_000_000
_SHORTEST_STEP_NS = 1_000_000_000
_EARLY_NS = 300_000_000_000
"""Tolerated difference between the clocks of servers and the scheduler."""
_OWN = ("own_read_bytes", "own_written_bytes", "own_reads", "own_writes", "own_opens", "own_stats")


@dataclass(frozen=True)
class OwnIo:
    """Amounts in a job's time; None = no counter. ``covered``: share of the (nodes') time with records, 0 to 1.

    ``origin``: ``job`` (counters of servers or control groups for this job) or ``nodes``. ``nodes``: that counted;
    ``shared``: that it had together with others; ``missing``: without records. ``alone``: nothing in the numbers is
    anybody else's. ``active_s``: steps in which bytes moved; ``bytes_per_s``: bytes over these; ``step_s``: the usual
    length of a step.
    """

    origin: str
    sources: tuple[str, ...]
    operations: float | None
    read_bytes: float | None
    written_bytes: float | None
    covered: float
    nodes: int
    shared: int
    missing: int
    alone: bool
    active_s: float | None = None
    bytes_per_s: float | None = None
    step_s: float | None = None


def own_io(
    root: Path, job: Job, begin_ns: int, end_ns: int, records: Sequence[Job]
) -> OwnIo | None:
    """Amounts of a job's counters, else of its nodes', in [begin, end); None without any. Raises StoreError.

    ``records``: all that the store has of its id.
    """
    metrics = (*OPS, *_READ, *_WRITTEN)
    found = recorded_components(root, ("client", "job"), metrics, begin_ns, end_ns)
    owned = [one for one in map(owner_of, found) if one is not None]
    mine = [one for one in owned if one.job == job.job_id]
    if mine:
        return _amounts(root, "job", mine, (begin_ns, end_ns), (0, 0, 0), alone=True)
    names = sorted({one.node for one in owned if not one.job})
    places = node_places(job.node_names, names)
    if not places:
        return _totals(records, begin_ns, end_ns)
    nodes = {names[at] for at in places.values()}
    shared = _shared(root, job, nodes, names, (begin_ns, end_ns))
    told = nodes - shared or nodes
    rows = [one for one in owned if not one.job and one.node in told]
    missing = len(job.node_names) - len(places)
    counts = (len(told), len(shared), missing)
    return _amounts(root, "nodes", rows, (begin_ns, end_ns), counts, alone=not told & shared)


def _totals(records: Sequence[Job], begin_ns: int, end_ns: int) -> OwnIo | None:
    """Totals of one snapshot of a job's counters; None without one."""
    counted = [
        one
        for one in records
        if not (one.app or one.api)
        and one.start_ns is not None
        and begin_ns - _EARLY_NS <= one.start_ns < end_ns
        and any(name in one.scalars for name in _OWN)
    ]
    if not counted:
        return None

    def total(*names: str) -> float | None:
        found = [
            one.scalars[name].value for one in counted for name in names if name in one.scalars
        ]
        known = [value for value in found if value is not None]
        return sum(known) if known else None

    return OwnIo(
        origin="job",
        sources=tuple(sorted({one.source for one in counted})),
        operations=total(*_OWN[2:]),
        read_bytes=total(_OWN[0]),
        written_bytes=total(_OWN[1]),
        covered=1.0,
        nodes=0,
        shared=0,
        missing=0,
        alone=True,
    )


def _moved(
    root: Path, owned: Sequence[OwnedComponent], span_ns: tuple[int, int]
) -> tuple[float, float]:
    """Bytes in the steps that overlap a span, each cut to it, and the total length of those with any (s)."""
    begin, end = span_ns
    parts: list[tuple[int, int]] = []
    total = 0.0
    for rows in amount_rows(root, [one.of for one in owned], (*_READ, *_WRITTEN), begin, end):
        first = np.maximum(rows.begin_ns, begin)
        last = np.minimum(rows.begin_ns + rows.step_ns, end)
        moving = (np.nan_to_num(rows.amount) > 0) & (last > first)
        share = (last - first)[moving] / rows.step_ns[moving]
        total += float((rows.amount[moving] * share).sum())
        parts += zip(first[moving].tolist(), last[moving].tolist(), strict=True)
    length, reached = 0, begin
    for first_ns, last_ns in sorted(parts):
        length += max(0, last_ns - max(first_ns, reached))
        reached = max(reached, last_ns)
    return total, length / 1e9


def _shared(
    root: Path, job: Job, nodes: set[str], names: Sequence[str], span_ns: tuple[int, int]
) -> set[str]:
    """Nodes shared with other jobs in a part of the span."""
    found: set[str] = set()
    for other in read_jobs(root, overlapping=span_ns, scalars=False):
        if other.job_id != job.job_id and not other.step and other.node_names:
            places = node_places(other.node_names, names)
            found |= {names[at] for at in places.values()}
    return found & nodes


def _amounts(
    root: Path,
    origin: str,
    owned: Sequence[OwnedComponent],
    span_ns: tuple[int, int],
    counts: tuple[int, int, int],
    *,
    alone: bool,
) -> OwnIo:
    begin, end = span_ns
    usual = int(np.median([one.of.step_ns for one in owned]))
    step = min(max(usual, _SHORTEST_STEP_NS), _LONGEST_STEP_NS)
    cells = max(1, round((end - begin) / step))
    grid = Grid(begin, max(1, (end - begin) // cells), cells)
    amounts: list[float | None] = []
    covered: list[float] = []
    for metrics in (OPS, _READ, _WRITTEN):
        recorded = on_grid(root, owned, grid, metrics)
        known = recorded.covered.any()
        amounts.append(float(recorded.ops.sum(dtype=np.float64)) if known else None)
        if known:
            covered.append(float(recorded.covered.mean(dtype=np.float64)))
    operations, read, written = amounts
    moved, active_s = _moved(root, owned, span_ns)
    nodes, shared, missing = counts
    return OwnIo(
        origin=origin,
        sources=tuple(sorted({one.of.source for one in owned})),
        operations=operations,
        read_bytes=read,
        written_bytes=written,
        covered=max(covered, default=0.0),
        nodes=nodes,
        shared=shared,
        missing=missing,
        alone=alone,
        active_s=active_s or None,
        bytes_per_s=moved / active_s if active_s else None,
        step_s=usual / 1e9,
    )
