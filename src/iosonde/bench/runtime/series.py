"""Numbers per time bin as an array: they add up over ranks without loss."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iosonde.bench.runtime.histogram import Counts


@dataclass(frozen=True, slots=True, eq=False)
class BinnedSeries:
    """Numbers per time bin, such as bytes per 0.25 s: bin i starts at (first + i) x bin_ns since the Unix epoch.

    Bins without a number are 0; ``values`` is int64, shape (bins,).
    """

    bin_ns: int
    first: int
    values: Counts

    def plus(self, other: BinnedSeries) -> BinnedSeries:
        """Sum of both, bin by bin. Raises ValueError for different bin lengths."""
        if self.bin_ns != other.bin_ns:
            raise ValueError(f"bins of {self.bin_ns} ns and of {other.bin_ns} ns")
        first = min(self.first, other.first)
        end = max(self.first + len(self.values), other.first + len(other.values))
        values = np.zeros(end - first, dtype=np.int64)
        for part in (self, other):
            begin = part.first - first
            values[begin : begin + len(part.values)] += part.values
        return BinnedSeries(self.bin_ns, first, values)
