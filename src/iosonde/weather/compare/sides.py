"""The two samples of a comparison: as given, and sorted with the share below each value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from iosonde.weather.compare import dependence

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats


@dataclass(frozen=True)
class Period:
    """Side of a comparison: (samples,) each, ``at_s`` (s) ascending, positive ``weight``.

    ``value`` in any unit, finite; samples without a value are left out by the caller.
    """

    at_s: Floats
    value: Floats
    weight: Floats


class Side:
    """A period, sorted."""

    def __init__(self, period: Period) -> None:
        self.value = period.value
        self.blocks = dependence.blocks_of(period.at_s, period.weight)
        values, place = np.unique(self.value, return_inverse=True)
        each = np.bincount(place, weights=self.blocks.weight)
        self.sorted: Floats = values
        self.below: Floats = np.cumsum(each)
        self.ranks: Floats = (self.below - each / 2)[place]
        """Share below, equal values half counted."""

    def is_below(self, p: float) -> Floats:
        """1 where a sample is at or below the quantile, in time order."""
        below: Floats = (self.value <= self.quantile(np.array(p))).astype(np.float64)
        return below

    def quantile(self, p: Floats) -> Floats:
        """Nearest-rank quantiles; NaN outside (0, 1)."""
        place = np.searchsorted(self.below, np.clip(p, 0, 1) - 1e-12)
        found = self.sorted[np.minimum(place, len(self.sorted) - 1)]
        inside: Floats = np.where((p > 0) & (p < 1), found, np.nan)
        return inside
