"""Slowness of each target and direction over all repetitions, corrected for clients, bytes and disk position."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from iosonde.bench.locate import cells as cells_of
from iosonde.bench.locate import clients, covariates

if TYPE_CHECKING:
    from iosonde.bench.locate.cells import CellLocations, Rows
    from iosonde.bench.locate.covariates import Covariates
    from iosonde.model.arrays import Floats, Ints


@dataclass(frozen=True)
class Effects:
    """Slowness of targets: ``y`` (targets, K), its files' variance, and ``by_repetition`` (repetitions, targets, K)."""

    y: Floats
    file_variance: Floats
    by_repetition: Floats


def effects_of(
    rows: Rows, servers: Ints | None
) -> tuple[list[clients.SlowHost], Effects, Covariates]:
    """Slow hosts, effects of targets without those hosts, and effects of bytes and positions."""
    slowness, use = rows.slowness, np.ones(len(rows.slowness))
    every: list[clients.SlowHost] = []
    for _ in range(4):
        cells = cells_of.locations(rows, rows.slowness, use)
        explained = covariates.fit(rows, cells.centre, servers)
        slowness = rows.slowness - explained.explained[rows.cell()]
        cells = cells_of.locations(rows, slowness, use)
        out = {one.host for one in every}
        more = clients.slow_hosts(rows, cells, slowness, out)
        if not more:
            break
        # The slowest may make others on its targets look slow or fast: one at a time where few are found.
        every += more if len(more) > 8 else more[:1]
        use = np.where(np.isin(rows.host, [one.host for one in every]), 0.0, 1.0)
    return every, _combined(rows, cells), explained


def _combined(rows: Rows, cells: CellLocations) -> Effects:
    """Combine repetitions per target and direction: Huber location for three or more."""
    table = rows.table(cells.centre)
    files = rows.table(cells.files.astype(np.float64))
    table = table - np.nanmedian(table, axis=1, keepdims=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a target without files has no slowness
        centre = np.nanmedian(table, axis=0) if len(table) > 2 else np.nanmean(table, axis=0)
    if len(table) > 2:
        scale = np.nanmedian(np.abs(np.diff(table, axis=0)), axis=(0, 1)) / (0.6745 * np.sqrt(2))
        for _ in range(3):
            weight = np.fmin(1.0, 1.345 * scale / np.maximum(np.abs(table - centre), 1e-9))
            weight = np.where(np.isfinite(table), weight, 0.0)
            total = weight.sum(0)
            mean = (weight * np.nan_to_num(table)).sum(0) / np.maximum(total, 1e-12)
            centre = np.where(total > 0, mean, np.nan)
    count = np.maximum(files.sum(0), 1)
    return Effects(centre, cells.file_scale**2 / count, table)
