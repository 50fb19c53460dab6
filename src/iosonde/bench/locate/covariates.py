"""Slowness explained without a slow component: bytes on a target or server, and disk position."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from iosonde.bench.locate.robust import FEW, biweight_fit, mad, repeated_median

if TYPE_CHECKING:
    from iosonde.bench.locate.cells import Rows
    from iosonde.model.arrays import Flags, Floats, Ints

LOAD_SPREAD, POSITION_SPREAD = 0.02, 0.05
"""Least standard deviation of ln bytes, and of position, over targets for a fit."""
POSITION_KNOWN = 0.8
SPOILED = 3.0
"""Distance of slopes, in standard errors of the other direction's, beyond which a fault has spoiled one."""
_KNEES = (0.25, 0.5, 0.75)


@dataclass(frozen=True)
class Covariates:
    """``explained``: of each cell, shape (cells,). ``position``: ln of the time at the inner edge over the outer one,
    and its standard error, by direction; NaN without positions.
    """

    explained: Floats
    position: Floats
    position_se: Floats


def fit(rows: Rows, centre: Floats, servers: Ints | None) -> Covariates:
    """Robust regression by direction, over all cells of it. ``servers``: of each target, -1 unknown."""
    cells, n, ways = len(centre), rows.targets, len(rows.directions)
    cell = rows.cell()
    load = np.asarray(np.bincount(cell, rows.bytes, cells), dtype=np.float64)
    files = np.bincount(cell, minlength=cells)
    known = np.isfinite(rows.position)
    with np.errstate(invalid="ignore", divide="ignore"):
        place = np.bincount(cell[known], rows.position[known], cells) / np.bincount(
            cell[known], minlength=cells
        )
    explained = np.zeros(cells)
    slope, error = np.full(ways, np.nan), np.full(ways, np.nan)
    phase: Ints = np.arange(cells) // n
    for k in range(ways if len(np.unique(rows.target)) >= FEW else 0):
        mine = (phase % ways == k) & np.isfinite(centre)
        columns = _load_columns(load, phase, n, mine, servers)
        positions = _positions(place, mine)
        if positions is not None:
            columns.append(positions)
        if not columns:
            continue
        design, beta = _best(columns, centre, files, mine, positions is not None)
        fitted = design @ beta
        explained[mine] = fitted[mine] - np.median(fitted[mine])
        if positions is not None:
            left = centre[mine] - fitted[mine]
            slope[k] = beta[-1]
            spread = np.std(positions[mine]) * np.sqrt(len(np.unique(np.flatnonzero(mine) % n)))
            error[k] = mad(left - np.median(left)) / spread
    _share_slope(explained, slope, error, place, phase % ways)
    return Covariates(explained, slope, error)


def _share_slope(explained: Floats, slope: Floats, error: Floats, place: Floats, way: Ints) -> None:
    """Replace a slope that a fault has spoiled by the other direction's: disks are the same in both."""
    if len(slope) < 2 or not np.isfinite(error).all():
        return
    good, bad = int(np.argmin(error)), int(np.argmax(error))
    if error[bad] <= SPOILED * error[good]:
        return
    mine = (way == bad) & np.isfinite(place)
    explained[mine] += (slope[good] - slope[bad]) * (place[mine] - np.median(place[mine]))
    slope[bad], error[bad] = slope[good], error[good]


def _start(design: Floats, values: Floats) -> Floats:
    """Robust starting coefficients, one by one on the residuals of the others, two rounds."""
    beta = np.zeros(design.shape[1])
    for _ in range(2):
        for k in range(1, design.shape[1]):
            left = values - design @ beta + design[:, k] * beta[k]
            beta[k] = repeated_median(design[:, k], left)
    return beta


def _positions(place: Floats, mine: Flags) -> Floats | None:
    """Mean position of each cell, if most cells of a direction have one and they differ."""
    used = np.isfinite(place) & mine
    if used.sum() < max(POSITION_KNOWN * mine.sum(), 2) or np.std(place[used]) < POSITION_SPREAD:
        return None
    return np.where(np.isfinite(place), place, np.mean(place[used]))


def _load_columns(
    load: Floats, phase: Ints, n: int, mine: Flags, servers: Ints | None
) -> list[Floats]:
    """Logarithm of bytes on the target, and on its server, if they differ."""
    columns = []
    with np.errstate(divide="ignore"):
        by_target = np.log(np.where(load > 0, load, 1.0))
    if np.std(by_target[mine]) > LOAD_SPREAD:
        columns.append(by_target - by_target[mine].mean())
    if servers is not None and (servers >= 0).all():
        number = phase * (servers.max() + 1) + np.tile(servers, len(load) // n)
        on_server = np.bincount(number, load)[number]
        targets = np.bincount(servers)[np.tile(servers, len(load) // n)]
        by_server = np.log(np.where(on_server > 0, on_server / targets, 1.0))
        if np.std(by_server[mine]) > LOAD_SPREAD:
            columns.append(by_server - by_server[mine].mean())
    return columns


def _best(
    columns: list[Floats], centre: Floats, files: Ints, mine: Flags, position: bool
) -> tuple[Floats, Floats]:
    """Design and coefficients; with a bend in the effect of load if that fits better."""
    one = np.ones(len(centre))
    trials = [np.column_stack([one, *columns])]
    if len(columns) > position:
        load = columns[0]
        for level in _KNEES:
            bend = np.maximum(load - np.quantile(load[mine], level), 0)
            if np.std(bend[mine]) > LOAD_SPREAD:
                trials.append(np.column_stack([one, columns[0], bend, *columns[1:]]))
    best: tuple[float, Floats, Floats] | None = None
    weight = files[mine] / np.median(files[mine])
    weight = np.minimum(weight, 1.0)
    for design in trials:
        beta = biweight_fit(design[mine], centre[mine], weight, _start(design[mine], centre[mine]))
        left = centre[mine] - design[mine] @ beta
        cost = float(np.mean(np.abs(left))) * (1.0 if design is trials[0] else 1.05)
        if best is None or cost < best[0]:
            best = cost, design, beta
    assert best is not None
    return best[1], best[2]
