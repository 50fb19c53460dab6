"""A cluster's week: heavy-tailed jobs on exclusive and shared nodes, checkpoints, steady readers, hogs.

    made = generate(Cluster(), seed=1)

Run times and numbers of nodes are lognormal, users Zipf's. Of the jobs 80% do no I/O, 12% write checkpoints every 30
to 60 min for 1 to 3 min, 6% do a little all the time, 2% are hogs. Each node has a background of its own. On a shared
node up to six jobs run side by side. The truth is operations of each allocation, and of each node's background.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from iosonde.jobs.attribution.allocations import Allocations
from iosonde.jobs.attribution.grid import Grid, NodeOps

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats, Texts

S = 1_000_000_000
BEGIN_NS = 1_788_220_800 * S
"""2026-09-01 00:00 UTC."""
KINDS = ("none", "checkpoint", "steady", "hog")
SHARES = (0.80, 0.12, 0.06, 0.02)
RATES = ((60.0, 0.8), (4.0, 0.8), (150.0, 0.7))
"""Median operations per second and spread of ln of the last three, while they do I/O."""


@dataclass(frozen=True)
class Cluster:
    """What is generated; the usual values are the reference week's."""

    exclusive: int = 140
    shared: int = 56
    jobs: int = 23_500
    days: float = 7.0
    step_s: int = 30
    slots: int = 6
    """Jobs that a shared node takes at once."""
    users: int = 60
    phased: float = 0.0
    """Share of hogs and steady jobs that do their I/O in one part of their run only."""
    shares: tuple[float, ...] = SHARES
    rates: tuple[tuple[float, float], ...] = RATES
    background: float = 1.0
    """Operations per second of a node without jobs, mean over nodes."""


@dataclass(frozen=True)
class Made:
    """``truth`` (A,): operations of each allocation; ``kind`` (R,) of each run; ``idle``: of the background."""

    recorded: NodeOps
    allocations: Allocations
    truth: Floats
    kind: Texts
    idle: float
    exclusive: int
    """Nodes before this one take one job at a time."""

    def of_runs(self) -> Floats:
        """(R,) Operations of each run over its nodes."""
        return np.bincount(self.allocations.run, self.truth, minlength=len(self.allocations))


def generate(cluster: Cluster, seed: int) -> Made:
    """Jobs, records and truth, from one seed."""
    rng = np.random.default_rng(seed)
    nodes = cluster.exclusive + cluster.shared
    cells = int(cluster.days * 86_400 / cluster.step_s)
    grid = Grid(BEGIN_NS, cluster.step_s * S, cells)
    allocations, kind = _place(cluster, rng)
    level = rng.gamma(2.0, cluster.background / 2.0, nodes)
    ops = np.empty((nodes, cells), np.float32)
    for node in range(nodes):
        ops[node] = rng.standard_gamma(2.0, cells, dtype=np.float32) * (
            level[node] / 2.0 * cluster.step_s
        )
    idle = float(ops.sum(dtype=np.float64))
    truth = np.zeros(len(allocations.run))
    shape = _shapes(kind, cluster, rng)
    for pair, (run, node) in enumerate(zip(allocations.run, allocations.node, strict=True)):
        if kind[run] != "none":
            begin, end = int(allocations.begin_ns[run]), int(allocations.end_ns[run])
            truth[pair] = _add(ops[node], grid, (begin, end), shape[run], rng)
    names = allocations.nodes
    covered = np.ones((nodes, cells), np.float32)
    return Made(
        NodeOps(grid, names, ops, covered), allocations, truth, kind, idle, cluster.exclusive
    )


def _place(cluster: Cluster, rng: np.random.Generator) -> tuple[Allocations, Texts]:
    """Jobs on nodes, first come, first served; each on the nodes that are free first."""
    wide = int(cluster.jobs * 0.2)
    duration = np.clip(rng.lognormal(np.log(3600), 1.2, cluster.jobs), 60, 3 * 86_400)
    length = cluster.days * 86_400
    on_shared = np.zeros(cluster.jobs, bool)
    on_shared[rng.permutation(cluster.jobs)[wide:]] = True
    if not cluster.exclusive:
        on_shared[:] = True
    if not cluster.shared:
        on_shared[:] = False
    size = np.where(on_shared, 1, np.clip(rng.lognormal(0.3, 1.0, cluster.jobs), 1, 64)).astype(int)
    arrival = np.sort(rng.uniform(-0.1 * length, length, cluster.jobs))
    free = {
        False: np.full(cluster.exclusive, arrival[0]),
        True: np.full(cluster.shared * cluster.slots, arrival[0]),
    }
    begin = np.empty(cluster.jobs)
    pairs: list[tuple[int, int]] = []
    for job in range(cluster.jobs):
        places = free[bool(on_shared[job])]
        many = min(int(size[job]), len(places))
        taken = np.argpartition(places + 1e-3 * rng.random(len(places)), many - 1)[:many]
        begin[job] = max(arrival[job], places[taken].max())
        places[taken] = begin[job] + duration[job]
        if on_shared[job]:
            taken = cluster.exclusive + np.unique(taken // cluster.slots)
        pairs += [(job, int(node)) for node in taken]
    kind = rng.choice(np.array(KINDS, object), cluster.jobs, p=cluster.shares)
    weight = 1.0 / np.arange(1, cluster.users + 1)
    user = rng.choice(cluster.users, cluster.jobs, p=weight / weight.sum())
    begin_ns = BEGIN_NS + (begin * S).astype(np.int64)
    run, node = np.array(pairs, dtype=np.intp).T
    count = cluster.exclusive + cluster.shared
    return Allocations(
        job_id=np.array([str(1000 + job) for job in range(cluster.jobs)], object),
        user=np.array([f"u{one:02d}" for one in user], object),
        account=np.array([f"a{one % 9}" for one in user], object),
        name=np.array([f"app{one % 17}" for one in user], object),
        begin_ns=begin_ns,
        end_ns=begin_ns + (duration * S).astype(np.int64),
        going_on=np.zeros(cluster.jobs, bool),
        run=run,
        node=node,
        cpus=np.full(len(run), 4.0),
        nodes=tuple(f"n{one:03d}" for one in range(count)),
    ), kind


def _shapes(kind: Texts, cluster: Cluster, rng: np.random.Generator) -> Floats:
    """(R, 6) Rate while it does I/O (1/s); period, length and phase of checkpoints (s); the part of its run with I/O.

    Of those without checkpoints ``phased`` do their I/O in one part of the run: at its begin, in its middle or its end.
    """
    many = len(kind)
    rate = np.select(
        [kind == "checkpoint", kind == "steady", kind == "hog"],
        [rng.lognormal(np.log(mean), spread, many) for mean, spread in cluster.rates],
        0.0,
    )
    period = rng.uniform(1800, 3600, many)
    burst = np.where(kind == "checkpoint", rng.uniform(60, 180, many), 0.0)
    part = np.where(rng.random(many) < cluster.phased, rng.uniform(0.1, 0.6, many), 1.0)
    part[kind == "checkpoint"] = 1.0
    since = rng.choice([0.0, 0.5, 1.0], many) * (1.0 - part)
    return np.column_stack([rate, period, burst, rng.uniform(0, period), since, since + part])


def _add(
    ops: np.ndarray,
    grid: Grid,
    span_ns: tuple[int, int],
    shape: Floats,
    rng: np.random.Generator,
) -> float:
    """Add what one allocation does to the cells of its node; the operations within the grid."""
    begin_ns, end_ns = span_ns
    begin, end = (float(one) for one in grid.place(np.array([begin_ns, end_ns])))
    if end <= begin:
        return 0.0
    first, last = int(begin), int(np.ceil(end))
    edge = np.clip(np.arange(first, last + 1, dtype=np.float64), begin, end)
    rate, period, burst, phase, since, until = shape.tolist()
    run = (end_ns - begin_ns) / grid.step_ns
    start = (begin_ns - grid.begin_ns) / grid.step_ns
    step_s = grid.step_ns / 1e9
    active = np.diff(np.clip(edge, start + since * run, start + until * run)) * step_s
    if burst:
        age = (edge - start) * step_s + phase
        active = np.diff(np.floor(age / period) * burst + np.minimum(age % period, burst))
    amount = active * rate * rng.standard_gamma(4.0, len(active)) / 4.0
    ops[first:last] += amount.astype(np.float32)
    return float(amount.sum())
