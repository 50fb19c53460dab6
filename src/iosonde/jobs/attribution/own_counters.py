"""Counters of one job, or of one node as a whole, that need no division."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from iosonde.jobs.attribution.allocations import texts_of
from iosonde.jobs.attribution.join import Joined
from iosonde.jobs.attribution.rates import RunRates

if TYPE_CHECKING:
    from iosonde.jobs.attribution.allocations import Allocations
    from iosonde.jobs.attribution.grid import NodeOps
    from iosonde.model.arrays import Flags, Texts
    from iosonde.model.jobs import Job

_PROCESS = re.compile(r".+\.(\d{1,10})")
"""``cp.1000``: Lustre's jobid_var procname_uid."""


def covered_throughout(recorded: NodeOps, own: Flags) -> NodeOps:
    """Coverage extended before a job's first and after its last record, while other jobs have records.

    ``own`` (N,): rows that count for one job.
    """
    covered = recorded.covered.copy()
    some = np.flatnonzero(own)
    anybody = covered[some].max(axis=0)
    for row in some.tolist():
        known = np.flatnonzero(covered[row])
        if len(known):
            covered[row, : known[0] + 1] = anybody[: known[0] + 1]
            covered[row, known[-1] :] = anybody[known[-1] :]
    return replace(recorded, covered=covered)


def with_own(
    placed: Allocations, recorded: NodeOps, owners: Mapping[int, str], jobs: Sequence[Job]
) -> Allocations:
    """Allocations, with a permanent run for each row of ``owners`` (row -> job).

    An id that jobs of several clusters have is of nobody: counters do not say which.
    """
    clusters: dict[str, set[str]] = defaultdict(set)
    for job in jobs:
        clusters[job.job_id].add(job.system)
    jobs = [job for job in jobs if len(clusters[job.job_id] - {""}) <= 1]
    ids = list(owners.values())

    def text(field: str, of_job: Callable[[str], str]) -> Texts:
        known = dict(zip((job.job_id for job in jobs), texts_of(jobs, field), strict=True))
        more = [known[one] if one in known else of_job(one) for one in ids]
        return np.concatenate([getattr(placed, field), np.array([*more, ""], dtype=object)[:-1]])

    many, grid = len(ids), recorded.grid
    return replace(
        placed,
        job_id=text("job_id", str),
        user=text("user", _user_in),
        account=text("account", lambda _: ""),
        name=text("name", lambda _: ""),
        begin_ns=np.append(placed.begin_ns, np.full(many, grid.begin_ns)),
        end_ns=np.append(placed.end_ns, np.full(many, grid.end_ns)),
        going_on=np.append(placed.going_on, np.zeros(many, np.bool_)),
        run=np.append(placed.run, len(placed) + np.arange(many)),
        node=np.append(placed.node, np.array(list(owners), dtype=np.intp)),
        cpus=np.append(placed.cpus, np.full(many, np.nan)),
        nodes=recorded.nodes,
    )


def without_background(joined: Joined, own: Flags) -> Joined:
    """``joined`` without background in rows ``own`` (N,), which belong to their run alone."""
    rates = joined.rates
    background = np.where(own, 0.0, rates.background)
    rates = replace(rates, background=background, own=np.where(own, 0.0, rates.own))
    return replace(joined, rates=rates)


def by_node(joined: Joined) -> Joined:
    """``joined`` with one permanent run per node: shares are then those of nodes."""
    recorded = joined.recorded
    names = [name.rpartition("@")[2] for name in recorded.nodes]
    many = len(names)
    column = np.array([*names, ""], dtype=object)[:-1]
    runs = replace(
        joined.allocations,
        job_id=column,
        user=column,
        account=column,
        name=column,
        begin_ns=np.full(many, recorded.grid.begin_ns),
        end_ns=np.full(many, recorded.grid.end_ns),
        going_on=np.zeros(many, np.bool_),
        run=np.arange(many),
        node=np.arange(many),
        cpus=np.full(many, np.nan),
    )
    none = np.zeros(many)
    return Joined(recorded, runs, RunRates(none, none > 0, none + 1, none, none, none))


def _user_in(job: str) -> str:
    found = _PROCESS.fullmatch(job)
    return f"uid {found[1]}" if found else ""
