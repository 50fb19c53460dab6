"""Jobs that make up a column at an instant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from iosonde.jobs.load.history import FIELDS
from iosonde.jobs.load.spans import dense
from iosonde.model.json_types import Instant, JsonObject

if TYPE_CHECKING:
    from iosonde.jobs.load.history import Column, LoadHistory


@dataclass(frozen=True)
class JobLoad(JsonObject):
    """A run of a job in [begin, end) of a question. ``mean_per_s``, ``most_per_s``: operations, the largest cell's."""

    job_id: str
    user: str
    account: str
    name: str
    begin_ns: Instant
    end_ns: Instant
    nodes: int
    ops: float
    mean_per_s: float
    most_per_s: float


@dataclass(frozen=True)
class JobLoads(JsonObject):
    """Runs of a column in a range."""

    total: int
    """Runs that ran then."""
    jobs: tuple[JobLoad, ...]
    """Some of them, the largest first."""


def jobs_at(
    history: LoadHistory, column: Column, name: str | None, span_ns: tuple[int, int], most: int
) -> JobLoads:
    """Runs of the column ``name`` (None: of all) in a span. Groups of nodes have no runs."""
    grid, runs = history.grid, history.runs
    low = max(0, (span_ns[0] - grid.begin_ns) // grid.step_ns)
    high = min(grid.cells, -((grid.begin_ns - span_ns[1]) // grid.step_ns))
    there = (runs.begin_ns < span_ns[1]) & (runs.end_ns > span_ns[0])
    if column != "nodes" and name is not None:
        there &= getattr(runs, FIELDS.get(column, column)).astype(str) == name
    chosen = np.flatnonzero(there)
    if high <= low or not len(chosen):
        return JobLoads(0, ())
    place = np.full(len(runs.job_id), -1)
    place[chosen] = np.arange(len(chosen))
    found = dense(history.run_cells, low, high, place, len(chosen))
    ops, largest = found.ops.sum(axis=1), found.most.max(axis=1)
    step_s = grid.step_ns / 1e9
    order = np.argsort(-ops, kind="stable")[:most]
    return JobLoads(
        len(chosen),
        tuple(
            JobLoad(
                str(runs.job_id[run]),
                str(runs.user[run]),
                str(runs.account[run]),
                str(runs.name[run]),
                int(runs.begin_ns[run]),
                int(runs.end_ns[run]),
                int(runs.nodes[run]),
                float(ops[at]),
                float(ops[at]) / ((high - low) * step_s),
                float(largest[at]) / step_s,
            )
            for at, run in zip(order.tolist(), chosen[order].tolist(), strict=True)
        ),
    )
