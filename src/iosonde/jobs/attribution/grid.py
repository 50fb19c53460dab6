"""Operations of nodes on a common time grid, with the covered share of each cell.

Clocks and intervals of nodes differ. An amount that passed in [begin, end) goes to the cells by their shares of
that time, so none is lost and none is made: in = on the grid + outside + recorded twice. A cell without records
is missing, not zero: its coverage says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from iosonde.model.arrays import Flags, Floats, Instants, Places
    from iosonde.model.metrics import MetricBlock

    Cells = NDArray[np.float32]

OPS = (
    *("read_ops", "write_ops", "opens", "closes", "getattrs", "setattrs", "getxattrs", "setxattrs"),
    *("mkdirs", "rmdirs", "mknods", "links", "unlinks", "renames", "statfss", "readdirs"),
    *("creates", "syncs", "punches", "lookups", "accesses", "other_ops"),
)
"""Metrics whose sum is a node's operations."""
_AT_ONCE = 4_000_000


class Grid(NamedTuple):
    """``cells`` steps of ``step_ns`` from ``begin_ns`` (UTC)."""

    begin_ns: int
    step_ns: int
    cells: int

    @property
    def end_ns(self) -> int:
        """End of the last cell."""
        return self.begin_ns + self.step_ns * self.cells

    def place(self, time_ns: Instants) -> Floats:
        """Instants as fractional cell positions within [0, cells]."""
        return np.clip((time_ns - self.begin_ns) / self.step_ns, 0.0, float(self.cells))


class CounterSamples(NamedTuple):
    """Amounts recorded by nodes, shapes (S,): ``amount`` on ``node`` in [begin, end). NaN = unknown."""

    node: Places
    begin_ns: Instants
    end_ns: Instants
    amount: Floats


@dataclass(frozen=True)
class NodeOps:
    """``ops`` (N, T) float32: operations in each cell; ``covered`` (N, T) float32: part of it with records, 0 to 1.

    Operations of time without records are not in ``ops``: where ``covered`` is below 1, it is a lower bound.
    """

    grid: Grid
    nodes: tuple[str, ...]
    ops: Cells
    covered: Cells
    outside: float = 0.0
    """Operations recorded outside of the grid."""
    twice: float = 0.0
    """Operations recorded twice for the same time of a node."""

    def between(self, begin_ns: int, end_ns: int) -> NodeOps:
        """The cells that overlap [begin, end), as views."""
        low = max(0, (begin_ns - self.grid.begin_ns) // self.grid.step_ns)
        high = min(self.grid.cells, -((self.grid.begin_ns - end_ns) // self.grid.step_ns))
        high = max(low, high)
        begin = self.grid.begin_ns + low * self.grid.step_ns
        grid = Grid(begin, self.grid.step_ns, high - low)
        return NodeOps(grid, self.nodes, self.ops[:, low:high], self.covered[:, low:high])


def regrid(samples: CounterSamples, grid: Grid, nodes: Sequence[str]) -> NodeOps:
    """Samples of any clock, resampled to the grid. Samples without length or amount cover nothing."""
    ops = np.zeros((len(nodes), grid.cells), np.float32)
    covered = np.zeros_like(ops)
    kept = np.isfinite(samples.amount) & (samples.end_ns > samples.begin_ns)
    order = np.flatnonzero(kept)
    order = order[np.lexsort((samples.begin_ns[order], samples.node[order]))]
    node, amount = samples.node[order], samples.amount[order]
    begin, end = samples.begin_ns[order], samples.end_ns[order]
    fresh = np.minimum(np.maximum(begin, _ends_before(node, end)), end)
    share = (end - fresh) / (end - begin)
    twice = float(np.sum(amount * (1 - share)))
    amount = amount * share
    low, high = grid.place(fresh), grid.place(end)
    with np.errstate(invalid="ignore", divide="ignore"):
        inside = np.where(end > fresh, (high - low) * grid.step_ns / (end - fresh), 0.0)
    outside = float(np.sum(amount * (1 - inside)))
    amount = amount * inside
    for part in range(0, len(node), _AT_ONCE):
        cut = slice(part, part + _AT_ONCE)
        _spread((ops, covered), node[cut], (low[cut], high[cut]), amount[cut])
    return NodeOps(grid, tuple(nodes), ops, np.minimum(covered, 1.0, out=covered), outside, twice)


def of_blocks(blocks: Iterable[MetricBlock], grid: Grid, metrics: Sequence[str] = OPS) -> NodeOps:
    """Operations of clients (nodes): the sum of their metrics; covered if all metrics of a node are.

    Sources and file systems of a node are added up. Blocks of other levels, kinds and metrics are ignored.
    """
    wanted = [
        b for b in blocks if b.level == "client" and b.kind == "delta" and b.metric in metrics
    ]
    nodes = sorted({name for block in wanted for name in block.components})
    places = {name: place for place, name in enumerate(nodes)}
    ops = np.zeros((len(nodes), grid.cells), np.float32)
    covered = np.full_like(ops, np.inf)
    outside = twice = 0.0
    for key in sorted({(b.source, b.system, b.metric) for b in wanted}):
        group = [b for b in wanted if (b.source, b.system, b.metric) == key]
        part = regrid(_samples(group, places), grid, nodes)
        rows = sorted({places[name] for block in group for name in block.components})
        ops[rows] += part.ops[rows]
        covered[rows] = np.minimum(covered[rows], part.covered[rows])
        outside, twice = outside + part.outside, twice + part.twice
    covered[np.isinf(covered)] = 0.0
    return NodeOps(grid, tuple(nodes), ops, covered, outside, twice)


def _samples(blocks: Iterable[MetricBlock], places: dict[str, int]) -> CounterSamples:
    parts = []
    for block in blocks:
        known: Flags = np.isfinite(block.value) & (block.step_ns > 0)[:, None]
        at, column = np.nonzero(known)
        node = np.array([places[name] for name in block.components], dtype=np.intp)[column]
        begin = block.time_ns[at]
        parts.append(
            CounterSamples(node, begin, begin + block.step_ns[at], block.value[at, column])
        )
    return CounterSamples(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _ends_before(node: Places, end: Instants) -> Instants:
    """Latest end of the earlier samples of the node; rows are sorted by node and start."""
    before = np.full(len(node), np.iinfo(np.int64).min)
    first = np.flatnonzero(np.diff(node, prepend=-1))
    for begin, stop in pairwise([*first.tolist(), len(node)]):
        before[begin + 1 : stop] = np.maximum.accumulate(end[begin:stop])[:-1]
    return before


def _spread(
    onto: tuple[Cells, Cells], node: Places, between: tuple[Floats, Floats], amount: Floats
) -> None:
    """Distribute amounts and coverage over cells in proportion to overlap."""
    ops, covered = onto
    low, high = between
    rows = np.flatnonzero(high > low)
    node, low, high, amount = node[rows], low[rows], high[rows], amount[rows]
    first = np.floor(low).astype(np.int64)
    count = np.ceil(high).astype(np.int64) - first
    of = np.repeat(np.arange(len(rows)), count)
    cell = first[of] + np.arange(len(of)) - np.repeat(np.cumsum(count) - count, count)
    part = np.minimum(high[of], cell + 1) - np.maximum(low[of], cell)
    cells = ops.shape[1]
    flat = node[of] * cells + cell
    unique, at = np.unique(flat, return_inverse=True)
    share = np.bincount(at, part)
    each = np.bincount(at, amount[of] * part / (high - low)[of])
    ops.reshape(-1)[unique] += each.astype(np.float32)
    covered.reshape(-1)[unique] += share.astype(np.float32)
