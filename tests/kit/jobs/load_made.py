"""A generated load that ends when the simulated probe does, with one user whose load is known."""

from dataclasses import replace

import numpy as np

from benchmarks.truth.load.week import Cluster, generate
from iosonde.jobs.attribution.grid import Grid, NodeOps
from iosonde.jobs.attribution.join import Joined, join
from iosonde.jobs.load.history import LoadHistory, gathered
from tests.kit.samples.stores import HOUR, NOW

HOG, HOG_JOB = "u59", "777"
HOG_NS = NOW - 3 * HOUR, NOW - 2 * HOUR
HOG_PER_S = 20_000.0
"""Of each of its two nodes."""


def made(days: float = 2.0, jobs: int = 1500, seed: int = 3) -> Joined:
    """A cluster of 40 nodes; job 777 of u59 does 40,000 operations/s for an hour, on nodes of its own."""
    week = generate(Cluster(exclusive=30, shared=10, jobs=jobs, days=days, users=30), seed)
    recorded, allocations = week.recorded, week.allocations
    shift = NOW - recorded.grid.end_ns
    shift -= shift % recorded.grid.step_ns
    grid = Grid(recorded.grid.begin_ns + shift, recorded.grid.step_ns, recorded.grid.cells)
    moved = allocations.shifted(shift)
    begin, end = (int((time - grid.begin_ns) // grid.step_ns) for time in HOG_NS)
    ops = np.concatenate([recorded.ops, np.zeros((2, grid.cells), np.float32)])
    ops[-2:, begin:end] = HOG_PER_S * grid.step_ns / 1e9
    run, nodes = len(moved), (*moved.nodes, "x001", "x002")
    hog = {"job_id": HOG_JOB, "user": HOG, "account": "a5", "name": "hog"}
    texts = {
        name: np.append(getattr(moved, name), np.array([value], object))
        for name, value in hog.items()
    }
    whole = replace(
        moved,
        **texts,
        begin_ns=np.append(moved.begin_ns, grid.begin_ns + begin * grid.step_ns),
        end_ns=np.append(moved.end_ns, grid.begin_ns + end * grid.step_ns),
        going_on=np.append(moved.going_on, False),
        run=np.append(moved.run, [run, run]),
        node=np.append(moved.node, [len(nodes) - 2, len(nodes) - 1]),
        cpus=np.append(moved.cpus, [4.0, 4.0]),
        nodes=nodes,
    )
    return join(NodeOps(grid, nodes, ops, np.ones_like(ops)), whole)


def history(**cluster: float) -> LoadHistory:
    """The same as the server keeps it."""
    return gathered([made(**cluster)])
