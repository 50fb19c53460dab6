"""Slow client hosts: files of a host compared with those of other hosts on the same targets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from iosonde.bench.locate.robust import group_huber, scale_of

if TYPE_CHECKING:
    from iosonde.bench.locate.cells import CellLocations, Rows
    from iosonde.model.arrays import Floats

LEAST_HOSTS = 4
"""Least number of hosts for a typical host."""
LEAST_EFFECT = 0.07
"""Least effect, in logarithms: about 7%."""
FALSE_HOSTS = 0.002
"""Probability of any false slow host in a healthy run."""
FEW_FILES = 4
"""Largest number of files of an OST among which outliers are not identifiable."""
CONSISTENT = 0.7
"""Least share of a host's files with a third of its effect."""


@dataclass(frozen=True)
class SlowHost:
    """``effect``: ln of the time factor of its files. ``alike``: share of its files that show it."""

    host: int
    effect: float
    error: float
    p: float
    alike: float
    files: int


def slow_hosts(
    rows: Rows, cells: CellLocations, slowness: Floats, left_out: set[int]
) -> list[SlowHost]:
    """Hosts whose files are slower than the others' on the same targets, slowest first.

    ``left_out``: hosts found before, whose files are no reference.
    """
    from scipy import special  # type: ignore[import-untyped, unused-ignore]

    apart, widening = _without_own(rows, cells, slowness, left_out)
    usable = np.isfinite(apart) & (rows.host >= 0) & ~np.isin(rows.host, list(left_out))
    if not usable.any():
        return []
    apart, host, count = apart[usable], rows.host[usable], int(rows.host.max()) + 1
    way, alone = rows.phase[usable] % len(rows.directions), apart / widening[usable]
    scale = [scale_of(alone[way == k], tails=False) for k in range(len(rows.directions))]
    z = alone / np.maximum(scale, 1e-4)[way]
    centre, _ = group_huber(z, host, count, 1.0)
    files = np.bincount(host, minlength=count)
    present = np.flatnonzero(files)
    if len(present) < LEAST_HOSTS:
        return []
    t = (centre * np.sqrt(files))[present]
    t = t - np.median(t)
    spread = max(scale_of(t, tails=len(present) >= 20), 0.7)
    p = special.stdtr(max(2, 0.8 * len(present) - 2), -t / spread) * len(present)
    found = []
    for place in np.flatnonzero(p < FALSE_HOSTS).tolist():
        mine = host == present[place]
        effect = float(np.median(apart[mine]))
        alike = float(np.mean(apart[mine] > effect / 3))
        if effect >= LEAST_EFFECT and alike >= CONSISTENT:
            error = effect / float(t[place] / spread)
            found.append(
                SlowHost(
                    int(present[place]), effect, error, float(p[place]), alike, int(mine.sum())
                )
            )
    return sorted(found, key=lambda one: -one.effect)


def _without_own(
    rows: Rows, cells: CellLocations, slowness: Floats, left_out: set[int]
) -> tuple[Floats, Floats]:
    """Slowness of each row minus that of other hosts' rows in its cell, NaN if there are none, and the
    factor by which few others widen its scatter.
    """
    cell = rows.cell()
    count = len(cells.centre)
    # Of so few files none can be told to be the odd one.
    weight = np.where(cells.files[cell] <= FEW_FILES, 1.0, cells.weight) * ~np.isin(
        rows.host, list(left_out)
    )
    span = int(rows.host.max()) + 2
    _, own = np.unique(cell * span + rows.host + 1, return_inverse=True)
    total, mass = np.bincount(cell, weight, count), np.bincount(cell, weight * slowness, count)
    own_total, own_mass = np.bincount(own, weight), np.bincount(own, weight * slowness)
    rest = total[cell] - own_total[own]
    with np.errstate(invalid="ignore", divide="ignore"):
        other = (mass[cell] - own_mass[own]) / rest
    return np.where(rest > 0.5, slowness - other, np.nan), np.sqrt(1 + 1 / np.maximum(rest, 0.5))
