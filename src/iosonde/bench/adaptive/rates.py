"""Corrected rates of one adaptive run as a table: measurements by waiting factors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

LEVELS = (0.0, 0.0625, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0)
"""Waiting factors that adaptive mode measures."""
OFF_NOMINAL = 1.1
"""Ratio of measured to nominal 1 + T beyond which a level is reported."""


@dataclass(frozen=True)
class Rates:
    """Rates of a run: nominal ``level`` T and ``measured`` T (median over measurements), shape (levels,), rising.

    ``corrected_per_s`` (measurements, levels): operations over the time spent in them, per second; NaN = missing.
    """

    level: Floats
    measured: Floats
    corrected_per_s: Floats

    @property
    def measurements(self) -> int:
        """Number of measurements with both the first and the last level."""
        return int(np.isfinite(self.corrected_per_s[:, [0, -1]]).all(axis=1).sum())

    def off_nominal(self) -> list[tuple[float, float]]:
        """Levels (nominal, measured) at which clients waited much longer or shorter than requested."""
        off = np.abs(np.log((1 + self.measured) / (1 + self.level))) > np.log(OFF_NOMINAL)
        return list(zip(self.level[off].tolist(), self.measured[off].tolist(), strict=True))


def rates(
    measurement: ArrayLike, level: ArrayLike, measured: ArrayLike, corrected_per_s: ArrayLike
) -> Rates:
    """Table of rates from one element per measurement, in any order. Rates that are not above 0 are missing.

    ``measurement``: its number among those of its level. A missing ``measured`` T counts as its level; measured
    twice (same number and level): their geometric mean.
    Raises ValueError unless there are rates at T = 0 and above, and clients did wait there.
    """
    factor = np.asarray(level, dtype=np.float64)
    rate = np.asarray(corrected_per_s, dtype=np.float64)
    waited = np.asarray(measured, dtype=np.float64)
    finite = np.isfinite(rate) & (rate > 0) & np.isfinite(factor)
    factor, rate, waited = factor[finite], rate[finite], waited[finite]
    levels, column = np.unique(factor, return_inverse=True)
    measurements, row = np.unique(np.asarray(measurement)[finite], return_inverse=True)
    if len(levels) < 2 or levels[0] != 0:
        raise ValueError("there are no rates with and without waits")
    total, count = np.zeros((2, len(measurements), len(levels)))
    np.add.at(total, (row, column), np.log(rate))
    np.add.at(count, (row, column), 1)
    waited = np.where(np.isfinite(waited), waited, factor)
    medians = [float(np.median(waited[column == place])) for place in range(len(levels))]
    if medians[-1] <= medians[0]:
        raise ValueError("clients did not wait at the largest waiting factor")
    with np.errstate(invalid="ignore", divide="ignore"):
        return Rates(levels, np.array(medians), np.exp(total / count))
