"""All that is kept of a time's load: operations of runs and of groups of nodes in cells, and of all nodes together.

Of each kind of column the coarser levels are made when they are first asked for. A year of 200 nodes and 200,000 jobs at
30 s takes about 0.5 GiB.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np

from iosonde.jobs.attribution.grid import Grid
from iosonde.jobs.load.run_cells import run_cells
from iosonde.jobs.load.spans import Spans, levels, merged

if TYPE_CHECKING:
    from iosonde.jobs.attribution.join import Joined
    from iosonde.model.arrays import Floats, Instants, Texts
    from iosonde.model.quality import LeftOut

Column = Literal["user", "account", "name", "job", "nodes"]
COLUMNS: tuple[Column, ...] = get_args(Column)
_FIELD = {"job": "job_id"}
MOST_GROUPS = 40
"""Groups of nodes; nodes with fewer letters in common are put together until there are no more."""
_KEPT = 3
"""Kinds of columns of which levels are kept."""


class Rows(NamedTuple):
    """Columns of one kind: their ``names`` (M,), their cells from the finest level to the coarsest."""

    names: tuple[str, ...]
    levels: tuple[Spans, ...]


@dataclass(frozen=True)
class Runs:
    """Runs of jobs, shapes (R,), as ``Allocations`` has them; ``nodes``: how many each had."""

    job_id: Texts
    user: Texts
    account: Texts
    name: Texts
    begin_ns: Instants
    end_ns: Instants
    nodes: Floats


@dataclass
class LoadHistory:
    """``total``, ``covered`` (T,): operations of all nodes in each cell, part of their time with records.

    ``runs``, ``run_cells``: a span a run. ``groups``: operations of groups of nodes, jobs' or not.
    """

    grid: Grid
    total: Floats
    covered: Floats
    runs: Runs
    run_cells: Spans
    groups: Rows
    left_out: tuple[LeftOut, ...] = ()
    _rows: dict[Column, Rows] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def rows(self, column: Column) -> Rows:
        """The columns of one kind. Safe to use from several threads."""
        if column == "nodes":
            return self.groups
        with self._lock:
            found = self._rows.pop(column, None) or self._made(column)
            self._rows[column] = found
            for older in list(self._rows)[:-_KEPT]:
                del self._rows[older]
            return found

    def _made(self, column: Column) -> Rows:
        names, row = np.unique(
            getattr(self.runs, _FIELD.get(column, column)).astype(str), return_inverse=True
        )
        whole = merged(self.run_cells, row[self.run_cells.row])
        return Rows(tuple(names.tolist()), levels(whole, self.grid.cells))


def gathered(parts: Iterable[Joined]) -> LoadHistory:
    """Loads of adjoining times, the earliest first, as one. Raises ValueError: no part, or other nodes, steps or times."""
    grid: Grid | None = None
    nodes: tuple[str, ...] = ()
    totals, covers, grouped, runs, cells = [], [], [], [], []
    left_out: tuple[LeftOut, ...] = ()
    names: tuple[str, ...] = ()
    for part in parts:
        here, recorded = part.recorded.grid, part.recorded
        if grid is None:
            grid, nodes, left_out = here, recorded.nodes, part.allocations.left_out
            names, places = node_groups(nodes)
        elif here.begin_ns != grid.end_ns or here.step_ns != grid.step_ns:
            raise ValueError("parts do not adjoin")
        else:
            grid = Grid(grid.begin_ns, grid.step_ns, grid.cells + here.cells)
        if recorded.nodes != nodes:
            raise ValueError("parts name different nodes")
        totals.append(recorded.ops.sum(axis=0, dtype=np.float64))
        covers.append(recorded.covered.mean(axis=0, dtype=np.float64))
        grouped.append(_sums_of(recorded.ops, places, len(names)))
        runs.append(_runs(part))
        cells.append((run_cells(part), grid.cells - here.cells))
    if grid is None:
        raise ValueError("no part")
    groups = _regular(np.concatenate(grouped, axis=1))
    return LoadHistory(
        grid,
        np.concatenate(totals),
        np.concatenate(covers),
        Runs(*(np.concatenate(column) for column in zip(*runs, strict=True))),
        _together(cells),
        Rows(names, levels(groups, grid.cells)),
        left_out,
    )


def node_groups(nodes: Sequence[str]) -> tuple[tuple[str, ...], np.ndarray]:
    """Groups by name, and the group of each node: ``n001`` to ``n099`` are ``n0*`` where nodes are many."""
    names = list(nodes)
    for digits in range(6):
        names = [_shortened(node, digits) for node in nodes]
        if len(set(names)) <= MOST_GROUPS:
            break
    unique, place = np.unique(np.array(names, dtype=str), return_inverse=True)
    return tuple(unique.tolist()), place


def _shortened(node: str, digits: int) -> str:
    """A name without the last digits of its last number, without its domain: ``n0*``."""
    host = node.split(".")[0]
    found = re.fullmatch(r"(.*?)(\d+)(\D*)", host)
    if digits == 0 or found is None:
        return host
    head, number, tail = found.groups()
    return f"{head}{number[: max(0, len(number) - digits)]}*{tail}"


def _sums_of(ops: np.ndarray, place: np.ndarray, many: int) -> np.ndarray:
    found = np.zeros((many, ops.shape[1]), np.float32)
    for node, row in enumerate(place.tolist()):
        found[row] += ops[node]
    return found


def _regular(ops: np.ndarray) -> Spans:
    """Rows that have a value in each cell."""
    rows, cells = ops.shape
    offset = cells * np.arange(rows + 1, dtype=np.int64)
    return Spans(np.arange(rows), np.zeros(rows, np.int64), offset, ops.reshape(-1))


def _runs(part: Joined) -> tuple[np.ndarray, ...]:
    one = part.allocations
    nodes = np.bincount(one.run, minlength=len(one)).astype(np.float64)
    return one.job_id, one.user, one.account, one.name, one.begin_ns, one.end_ns, nodes


def _together(parts: Sequence[tuple[Spans, int]]) -> Spans:
    """Spans of several grids as those of one; each comes with the cell that its grid begins at."""
    rows = np.cumsum([0, *(len(spans.row) for spans, _ in parts)])
    sizes = np.cumsum([0, *(len(spans.ops) for spans, _ in parts)])
    offsets = [spans.offset[:-1] + size for (spans, _), size in zip(parts, sizes, strict=False)]
    return Spans(
        np.concatenate([spans.row + row for (spans, _), row in zip(parts, rows, strict=False)]),
        np.concatenate([spans.first + begin for spans, begin in parts]),
        np.concatenate([*offsets, sizes[-1:]]).astype(np.int64),
        np.concatenate([spans.ops for spans, _ in parts]),
    )
