"""History of load: operations of runs and of groups of nodes in cells, and of all nodes together.

Of each kind of column the coarser levels are made when they are first asked for. A year of 200 nodes and 200,000 jobs
at 30 s takes about 0.5 GiB.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np

from iosonde.jobs.attribution.grid import Grid
from iosonde.jobs.load.run_cells import run_cells
from iosonde.jobs.load.spans import CellSpans, levels, merged

if TYPE_CHECKING:
    from iosonde.jobs.attribution.join import Joined
    from iosonde.model.arrays import Floats, Instants, Texts
    from iosonde.model.quality import LeftOut

Column = Literal["user", "account", "name", "job", "nodes"]
COLUMNS: tuple[Column, ...] = get_args(Column)
FIELDS = {"job": "job_id"}
MOST_GROUPS = 40
"""Most groups of nodes; nodes are merged by shorter prefixes until there are no more."""
_KEPT = 3
"""Most kinds of columns whose levels are cached."""


class LoadRows(NamedTuple):
    """Columns of one kind: their ``names`` (M,), and cells from the finest level to the coarsest."""

    names: tuple[str, ...]
    levels: tuple[CellSpans, ...]


@dataclass(frozen=True)
class Runs:
    """Runs of jobs, shapes (R,), as in ``Allocations``; ``nodes``: number of nodes of each."""

    job_id: Texts
    user: Texts
    account: Texts
    name: Texts
    begin_ns: Instants
    end_ns: Instants
    nodes: Floats


@dataclass
class LoadHistory:
    """``total``, ``covered`` (T,): operations of all nodes in each cell, share of their time with records.

    ``runs``, ``run_cells``: a span a run. ``groups``: operations of groups of nodes, jobs' or not.
    """

    grid: Grid
    total: Floats
    covered: Floats
    runs: Runs
    run_cells: CellSpans
    groups: LoadRows
    left_out: tuple[LeftOut, ...] = ()
    _rows: dict[Column, LoadRows] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def rows(self, column: Column) -> LoadRows:
        """The columns of one kind. Safe to use from several threads."""
        if column == "nodes":
            return self.groups
        with self._lock:
            found = self._rows.pop(column, None) or self._made(column)
            self._rows[column] = found
            for older in list(self._rows)[:-_KEPT]:
                del self._rows[older]
            return found

    def _made(self, column: Column) -> LoadRows:
        names, row = np.unique(
            getattr(self.runs, FIELDS.get(column, column)).astype(str), return_inverse=True
        )
        whole = merged(self.run_cells, row[self.run_cells.row])
        return LoadRows(tuple(names.tolist()), levels(whole, self.grid.cells))


def gathered(parts: Iterable[Joined], groups: Mapping[str, str] | None = None) -> LoadHistory:
    """Concatenate loads of consecutive periods; gaps between them have no records.

    ``groups``: the group of each node (None: ``node_groups`` of the first part). Raises ValueError: no part, or one
    that has other steps or begins before the one ahead of it ends.
    """
    found: list[_TimePart] = []
    for part in parts:
        grid = part.recorded.grid
        if found and (grid.step_ns, grid.begin_ns >= found[-1].grid.end_ns) != (
            found[0].grid.step_ns,
            True,
        ):
            raise ValueError("parts have different steps, or overlap")
        groups = groups or node_groups(part.recorded.nodes)
        found.append(_part(part, groups))
    if not found or groups is None:
        raise ValueError("no part")
    first, last = found[0].grid, found[-1].grid
    cells = (last.end_ns - first.begin_ns) // first.step_ns
    grid = Grid(first.begin_ns, first.step_ns, int(cells))
    names = tuple(sorted(set(groups.values())))
    totals, covered = np.zeros(grid.cells), np.zeros(grid.cells)
    grouped = np.zeros((len(names), grid.cells), np.float32)
    for one in found:
        low = (one.grid.begin_ns - grid.begin_ns) // grid.step_ns
        cut = slice(low, low + one.grid.cells)
        totals[cut], covered[cut] = one.total, one.covered
        for name, row in one.groups.items():
            grouped[names.index(name), cut] = row
    starts = [(one.grid.begin_ns - grid.begin_ns) // grid.step_ns for one in found]
    return LoadHistory(
        grid,
        totals,
        covered,
        Runs(
            *(np.concatenate(column) for column in zip(*(one.runs for one in found), strict=True))
        ),
        _together([(one.cells, start) for one, start in zip(found, starts, strict=True)]),
        LoadRows(names, levels(_regular(grouped), grid.cells)),
        found[-1].left_out,
    )


class _TimePart(NamedTuple):
    """Load of one period, without its records."""

    grid: Grid
    total: Floats
    covered: Floats
    groups: dict[str, np.ndarray]
    runs: tuple[np.ndarray, ...]
    cells: CellSpans
    left_out: tuple[LeftOut, ...]


def _part(part: Joined, groups: Mapping[str, str]) -> _TimePart:
    recorded = part.recorded
    sums: dict[str, np.ndarray] = {}
    for row, node in enumerate(recorded.nodes):
        sums[groups[node]] = (
            sums[groups[node]] + recorded.ops[row] if groups[node] in sums else recorded.ops[row]
        )
    return _TimePart(
        recorded.grid,
        recorded.ops.sum(axis=0, dtype=np.float64),
        recorded.covered.mean(axis=0, dtype=np.float64),
        sums,
        _runs(part),
        run_cells(part),
        part.allocations.left_out,
    )


def node_groups(nodes: Sequence[str]) -> dict[str, str]:
    """Group of each node, by name: ``n001`` to ``n099`` are ``n0*`` if nodes are many."""
    found: dict[str, str] = {}
    for digits in range(6):
        found = {node: _shortened(node, digits) for node in nodes}
        if len(set(found.values())) <= MOST_GROUPS:
            break
    return found


def _shortened(node: str, digits: int) -> str:
    """A name without domain and the last digits of its last number: ``n0*``."""
    host = node.split(".", maxsplit=1)[0]
    found = re.fullmatch(r"(.*?)(\d+)(\D*)", host)
    if digits == 0 or found is None:
        return host
    head, number, tail = found.groups()
    return f"{head}{number[: max(0, len(number) - digits)]}*{tail}"


def _regular(ops: np.ndarray) -> CellSpans:
    """Rows with a value in each cell."""
    rows, cells = ops.shape
    offset = cells * np.arange(rows + 1, dtype=np.int64)
    return CellSpans(np.arange(rows), np.zeros(rows, np.int64), offset, ops.reshape(-1))


def _runs(part: Joined) -> tuple[np.ndarray, ...]:
    one = part.allocations
    nodes = np.bincount(one.run, minlength=len(one)).astype(np.float64)
    return one.job_id, one.user, one.account, one.name, one.begin_ns, one.end_ns, nodes


def _together(parts: Sequence[tuple[CellSpans, int]]) -> CellSpans:
    """Concatenate spans of several grids, each with the first cell of its grid."""
    rows = np.cumsum([0, *(len(spans.row) for spans, _ in parts)])
    sizes = np.cumsum([0, *(len(spans.ops) for spans, _ in parts)])
    offsets = [spans.offset[:-1] + size for (spans, _), size in zip(parts, sizes, strict=False)]
    return CellSpans(
        np.concatenate([spans.row + row for (spans, _), row in zip(parts, rows, strict=False)]),
        np.concatenate([spans.first + begin for spans, begin in parts]),
        np.concatenate([*offsets, sizes[-1:]]).astype(np.int64),
        np.concatenate([spans.ops for spans, _ in parts]),
    )
