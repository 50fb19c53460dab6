"""Stored records as operations of nodes on a grid: components to nodes, and each operation once.

A node may have several sources (collectl beside mountstats). Those of different file systems add up; of sources
that may have seen the same operations the one with most records counts, others where it has none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.jobs.attribution.grid import OPS, CounterSamples, Grid, NodeOps, regrid
from iosonde.jobs.store.operations import RecordedComponent, amount_rows

if TYPE_CHECKING:
    from iosonde.jobs.attribution.grid import Cells
    from iosonde.model.arrays import Places


class OwnedComponent(NamedTuple):
    """A component and the owner of its operations: a node, or ``job`` (on ``node``; "" = anywhere)."""

    of: RecordedComponent
    node: str
    job: str

    @property
    def row(self) -> str:
        """Row name: a node, a job, or a job's part on a node."""
        return f"{self.job}@{self.node}" if self.job and self.node else self.job or self.node


def owner_of(component: RecordedComponent) -> OwnedComponent | None:
    """Owner of a component's operations; None if unknown (a mount point or export without its host).

    ``n001:9100`` and ``n001:/work`` are of node ``n001``; a job's component is ``4711`` or ``4711@place``.
    """
    name, system = component.component, component.system
    if component.level == "job":
        job, _, place = name.partition("@")
        of_server = bool(system) and place.startswith(f"{system}-")
        return OwnedComponent(component, "" if of_server else place, job) if job else None
    if not name or name.startswith("/") or name == system:
        return None
    if system and name.startswith(f"{system}-"):  # a Lustre mount: fs-ffff88105db50000
        return None
    return OwnedComponent(component, name.partition(":")[0], "")


def on_grid(
    root: Path, wanted: Sequence[OwnedComponent], grid: Grid, metrics: Sequence[str] = OPS
) -> NodeOps:
    """Operations of each row (a node or job) on the grid, each once. Raises StoreError."""
    rows = sorted({one.row for one in wanted})
    place = {name: at for at, name in enumerate(rows)}
    found: dict[str, NodeOps] = {}
    systems: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for source in sorted({one.of.source for one in wanted}):
        mine = [one for one in wanted if one.of.source == source]
        for one in mine:
            systems[source][one.row].add(one.of.system)
        of_row = {one.of: place[one.row] for one in mine}
        found[source] = _of_source(root, of_row, rows, grid, metrics)
    # Stable: of sources with as many records the first by name counts.
    order = sorted(found, key=lambda name: -float(found[name].covered.sum(dtype=np.float64)))
    whole = found[order[0]]
    seen = systems[order[0]]
    for source in order[1:]:
        for row, names in systems[source].items():
            _add(whole, found[source], place[row], apart=_apart(seen[row], names))
            seen[row] |= names
    return whole


def _apart(some: set[str], others: set[str]) -> bool:
    """True if they are certainly different file systems."""
    return not some or ("" not in some | others and not some & others)


def _add(whole: NodeOps, other: NodeOps, row: int, *, apart: bool) -> None:
    ops, covered = other.ops[row], other.covered[row]
    if apart:
        fresh = not whole.covered[row].any()
        whole.ops[row] += ops
        whole.covered[row] = covered if fresh else np.minimum(whole.covered[row], covered)
        return
    free = whole.covered[row] == 0
    whole.ops[row][free] = ops[free]
    whole.covered[row][free] = covered[free]


def _of_source(
    root: Path,
    places: Mapping[RecordedComponent, int],
    rows: Sequence[str],
    grid: Grid,
    metrics: Sequence[str],
) -> NodeOps:
    """Operations of one source: components of a row add up; a metric is covered if all components are."""
    ops = np.zeros((len(rows), grid.cells), np.float32)
    covered = np.zeros_like(ops)
    at = np.array(list(places.values()), dtype=np.intp)
    outside = twice = 0.0
    for some in amount_rows(root, list(places), metrics, grid.begin_ns, grid.end_ns):
        series, index = np.unique(some.series, return_inverse=True)
        owner = np.zeros(len(series), dtype=np.intp)
        owner[index] = some.who
        end = some.begin_ns + some.step_ns
        part = _part_of(grid, int(some.begin_ns.min()), int(end.max()))
        samples = CounterSamples(index, some.begin_ns, end, some.amount)
        day = regrid(samples, part, [str(one) for one in series])
        low = (part.begin_ns - grid.begin_ns) // grid.step_ns
        cut = slice(low, low + part.cells)
        who, known = _by(owner, day.covered, np.minimum)
        row, covering = _by(at[who], known, np.maximum)
        covered[row, cut] += covering
        row, passed = _by(at[owner], day.ops, np.add)
        ops[row, cut] += passed
        outside, twice = outside + day.outside, twice + day.twice
    return NodeOps(grid, tuple(rows), ops, np.minimum(covered, 1.0, out=covered), outside, twice)


def _part_of(grid: Grid, begin_ns: int, end_ns: int) -> Grid:
    """Cells of a grid that overlap [begin, end)."""
    low = min(grid.cells, max(0, (begin_ns - grid.begin_ns) // grid.step_ns))
    high = min(grid.cells, -((grid.begin_ns - end_ns) // grid.step_ns))
    return Grid(grid.begin_ns + low * grid.step_ns, grid.step_ns, max(0, high - low))


def _by(keys: Places, rows: Cells, how: np.ufunc) -> tuple[Places, Cells]:
    """Distinct keys, ascending, and the combined rows of each."""
    order = np.argsort(keys, kind="stable")
    unique, first = np.unique(keys[order], return_index=True)
    return unique, how.reduceat(rows[order], first, axis=0)
