"""A generated cluster as the files that a site has: collectl of each node, sacct, a probe's operations.

    event = hog_event(seed=9)
    write_files(event, Path("files"))        # collectl/n001.tab ..., sacct.txt, samples.csv

A hog works on four nodes for half an hour to two hours of a day; a probe's reads grow with all operations.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from benchmarks.truth.load.week import BEGIN_NS, Cluster, Made, S, generate

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats

TARGET = "/work"
HOG = "900001"
HOG_NODES = ("h1", "h2", "h3", "h4")
SMALL = Cluster(exclusive=24, shared=8, jobs=500, days=1.0)
_READ_US = 4000.0


class HogEvent(NamedTuple):
    """The cluster without the hog, and what the hog's nodes did (4, T) in [begin, end), operations in each cell.

    ``slowdown`` (T,) of each cell. ``hog`` False: nobody made it, those nodes are idle.
    """

    made: Made
    hog: bool
    begin_ns: int
    end_ns: int
    ops: Floats
    slowdown: Floats


def hog_event(
    seed: int, *, hog: bool = True, cluster: Cluster = SMALL, rate: float = 2000.0
) -> HogEvent:
    """A day with a hog of ``rate`` operations per second on each of its nodes, or with a fault of the storage."""
    rng = np.random.default_rng(seed)
    made = generate(cluster, seed)
    step_s, cells = cluster.step_s, made.recorded.grid.cells
    first = int(rng.integers(cells // 3, cells // 2))
    last = first + int(rng.integers(1800, 7200)) // step_s
    ops = rng.standard_gamma(2.0, (len(HOG_NODES), cells)) * step_s / 2
    if hog:
        noise = rng.standard_gamma(4.0, (len(HOG_NODES), last - first)) / 4.0
        ops[:, first:last] += noise * rate * step_s
    total = (made.recorded.ops.sum(axis=0) + ops.sum(axis=0)) / step_s
    slowdown = 1 + rng.uniform(3, 10) * total / (len(HOG_NODES) * rate)
    if not hog:
        slowdown[first:last] *= rng.uniform(3, 10)
    slowdown *= np.exp(0.1 * rng.standard_normal(cells))
    at = BEGIN_NS + np.array([first, last]) * step_s * S
    return HogEvent(made, hog, int(at[0]), int(at[1]), ops, slowdown)


def write_files(event: HogEvent, folder: Path, seed: int = 0) -> list[Path]:
    """The files, in a folder that is made; clocks of nodes are some seconds apart."""
    rng = np.random.default_rng(seed)
    (folder / "collectl").mkdir(parents=True)
    grid = event.made.recorded.grid
    ends = grid.begin_ns // S + grid.step_ns // S * np.arange(1, grid.cells + 1)
    rows = [*event.made.recorded.ops, *event.ops]
    names = [*event.made.recorded.nodes, *HOG_NODES]
    paths = []
    for name, ops in zip(names, rows, strict=True):
        paths.append(folder / "collectl" / f"{name}.tab")
        reads = np.round(0.7 * ops).astype(int)
        writes = np.round(ops - 0.7 * ops).astype(int)
        late = int(rng.integers(0, 5))
        lines = ["# Collectl:   V4.3.1-1  Options: -P -oU -on", "#UTC [NFS]ReadsC [NFS]WritesC"]
        lines += [
            f"{end + late} {read} {write}"
            for end, read, write in zip(ends.tolist(), reads.tolist(), writes.tolist(), strict=True)
        ]
        paths[-1].write_text("\n".join(lines) + "\n")
    paths += [folder / "sacct.txt", folder / "samples.csv"]
    paths[-2].write_text(_sacct(event))
    paths[-1].write_text(_samples(event, rng))
    return paths


def _sacct(event: HogEvent) -> str:
    runs = event.made.allocations
    nodes: dict[int, list[str]] = {}
    for run, node in zip(runs.run.tolist(), runs.node.tolist(), strict=True):
        nodes.setdefault(run, []).append(runs.nodes[node])
    rows = ["JobIDRaw|User|Account|State|Start|End|NNodes|NodeList|JobName"]
    for run in range(len(runs)):
        begin, end = int(runs.begin_ns[run]) // S, int(runs.end_ns[run]) // S
        head = f"{runs.job_id[run]}|{runs.user[run]}|{runs.account[run]}|COMPLETED|{begin}|{end}"
        rows.append(f"{head}|{len(nodes[run])}|{','.join(nodes[run])}|{runs.name[run]}")
    hog = f"{HOG}|mallory|phys|COMPLETED|{event.begin_ns // S}|{event.end_ns // S}|4"
    rows += [f"{hog}|{','.join(HOG_NODES)}|many|small reads"] if event.hog else []
    return "\n".join(rows) + "\n"


def _samples(event: HogEvent, rng: np.random.Generator) -> str:
    """A read every ten seconds, lognormal with a heavy tail, and a create that the load does not reach."""
    grid = event.made.recorded.grid
    at = np.arange(grid.begin_ns, grid.end_ns, 10 * S)
    slow = event.slowdown[np.minimum((at - grid.begin_ns) // grid.step_ns, grid.cells - 1)]
    read = _READ_US * slow * np.exp(0.3 * rng.standard_normal(len(at)))
    read *= np.where(rng.random(len(at)) < 0.01, rng.pareto(1.5, len(at)) + 1, 1)
    create = 800 * np.exp(0.3 * rng.standard_normal(len(at)))
    rows = ["time,op,latency_us,host"]
    for time_ns, one, other in zip(at.tolist(), read.tolist(), create.tolist(), strict=True):
        stamp = datetime.fromtimestamp(time_ns / S, UTC).isoformat()
        rows += [f"{stamp},read,{one:.0f},login1", f"{stamp},create,{other:.0f},login1"]
    return "\n".join(rows) + "\n"
