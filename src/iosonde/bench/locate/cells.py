"""Robust slowness of each target and direction, from transfers.

Slowness of a transfer is the logarithm of its time a byte, less the median of its phase (repetition and direction). A
cell is a target in a phase. What follows from the number of bytes on a target and from disk position is taken out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from iosonde.bench.locate.robust import group_huber, group_median, mad

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats, Ints
    from iosonde.model.transfers import Transfers


@dataclass(frozen=True)
class Rows:
    """Usable transfers, one row for each of their targets. Shapes (rows,).

    The slowest of a file's targets sets its time, so each has all of it: the slow one stands out among many files.
    """

    slowness: Floats
    phase: Ints
    """``repetition * directions + direction``, both as indices of the lists below."""
    target: Ints
    host: Ints
    bytes: Floats
    position: Floats
    place: Ints
    """Row index in the transfers."""
    directions: tuple[int, ...]
    repetitions: tuple[int, ...]
    targets: int

    @property
    def phases(self) -> int:
        """Number of phases."""
        return len(self.directions) * len(self.repetitions)

    def cell(self) -> Ints:
        """Number of each row's cell."""
        return self.phase * self.targets + self.target

    def table(self, by_cell: Floats) -> Floats:
        """Values by cell as (repetitions, targets, directions)."""
        shape = (len(self.repetitions), len(self.directions), self.targets)
        return by_cell.reshape(shape).transpose(0, 2, 1)


def rows_of(transfers: Transfers) -> Rows:
    """Rows with bytes, a time and known targets. Slowness is centred by phase."""
    stripes = transfers.stripes
    row = stripes.row_of()
    entry = np.flatnonzero(transfers.usable()[row])
    place, target = row[entry], stripes.target[entry]
    repetitions, rep = np.unique(transfers.repetition[place], return_inverse=True)
    directions, way = np.unique(transfers.direction[place], return_inverse=True)
    phase = rep * len(directions) + way
    whole = transfers.bytes[place].astype(np.float64)
    slowness = np.log(transfers.seconds()[place] / whole)
    slowness -= group_median(slowness, phase, len(repetitions) * len(directions))[phase]
    position = transfers.position
    return Rows(
        slowness,
        phase.astype(np.int64),
        target.astype(np.int64),
        transfers.host[place].astype(np.int64),
        whole * stripes.share[entry],
        np.full(len(place), np.nan) if position is None else position[place],
        place,
        tuple(directions.tolist()),
        tuple(repetitions.tolist()),
        len(transfers.targets),
    )


@dataclass(frozen=True)
class CellLocations:
    """Locations of cells: ``centre``, ``files`` and ``file_scale`` (of one transfer around it, by direction)."""

    centre: Floats
    files: Ints
    weight: Floats
    """Weight of each row in its cell, 0 to 1."""
    file_scale: Floats


def locations(rows: Rows, slowness: Floats, use: Floats | None = None) -> CellLocations:
    """Huber location of each cell; ``use``: rows with weight 0 are left out."""
    cell, count = rows.cell(), rows.phases * rows.targets
    way = rows.phase % len(rows.directions)
    given = np.ones(len(cell)) if use is None else use
    some = given > 0
    middle = group_median(slowness[some], cell[some], count)
    files = np.bincount(cell[some], minlength=count)
    away = slowness - middle[cell]
    # Medians of few values lie close to them.
    away = away * np.sqrt(files[cell] / np.maximum(files[cell] - 1, 1))
    many = some & (files[cell] >= 2)
    scale = np.array([mad(away[many & (way == k)]) for k in range(len(rows.directions))])
    scale = np.maximum(scale, 1e-4)
    centre, weight = np.full(count, np.nan), np.zeros(len(cell))
    for k, one in enumerate(scale.tolist()):
        mine = way == k
        found, w = group_huber(
            slowness[mine], cell[mine], count, one, start=middle, use=given[mine]
        )
        own = np.arange(count) // rows.targets % len(rows.directions) == k
        centre = np.where(own, found, centre)
        weight[mine] = w
    return CellLocations(centre, files, weight, scale)
