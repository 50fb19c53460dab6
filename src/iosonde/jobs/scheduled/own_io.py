"""What a job did itself, from counters in the store: its own (Lustre job_stats, control groups) or its nodes'.

Counters of a node count for the job alone only while nobody else has the node: nodes that it shared are left out, and
counted. Where all were shared, the numbers are of everybody on them, and say so. Amounts of steps that the job's begin
or end cuts are divided by time, as ``jobs.attribution.grid`` does. Missing is None, not 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from iosonde.jobs.attribution.allocations import node_places
from iosonde.jobs.attribution.grid import OPS, Grid
from iosonde.jobs.attribution.records import OwnedComponent, on_grid, owner_of
from iosonde.jobs.store.jobs import read_jobs
from iosonde.jobs.store.operations import recorded_components

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from iosonde.model.jobs import Job

_READ, _WRITTEN = ("read_bytes",), ("written_bytes",)
_LONGEST_STEP_NS = 300_000_000_000
_SHORTEST_STEP_NS = 1_000_000_000


@dataclass(frozen=True)
class OwnIo:
    """Amounts in a job's time; None = no counter of it. ``covered``: part of the (nodes') time with records, 0 to 1.

    ``origin``: ``job`` (its own counters) or ``nodes``. ``nodes``: that counted; ``shared``: that it had together with
    others; ``missing``: without records. ``alone``: nothing in the numbers is anybody else's.
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


def own_io(root: Path, job: Job, begin_ns: int, end_ns: int) -> OwnIo | None:
    """What the counters of a job, else of its nodes, say of [begin, end); None: there are none. Raises StoreError."""
    metrics = (*OPS, *_READ, *_WRITTEN)
    found = recorded_components(root, ("client", "job"), metrics, begin_ns, end_ns)
    owned = [one for one in map(owner_of, found) if one is not None]
    mine = [one for one in owned if one.job == job.job_id]
    if mine:
        return _amounts(root, "job", mine, (begin_ns, end_ns), (0, 0, 0), alone=True)
    names = sorted({one.node for one in owned if not one.job})
    places = node_places(job.node_names, names)
    if not places:
        return None
    nodes = {names[at] for at in places.values()}
    shared = _shared(root, job, nodes, names, (begin_ns, end_ns))
    told = nodes - shared or nodes
    rows = [one for one in owned if not one.job and one.node in told]
    missing = len(job.node_names) - len(places)
    counts = (len(told), len(shared), missing)
    return _amounts(root, "nodes", rows, (begin_ns, end_ns), counts, alone=not told & shared)


def _shared(
    root: Path, job: Job, nodes: set[str], names: Sequence[str], span_ns: tuple[int, int]
) -> set[str]:
    """Nodes that other jobs had in a part of the span."""
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
    )
