"""Density of a positive quantity on a logarithmic axis: a histogram, smoothed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats, Ints


LEAST = 20
"""Least number of values for a density."""
_LEAST_CELLS = 8.0
"""Least bandwidth in cells: single tail values form no comb, and the grid is invisible."""
_REACH = 4.0
"""Cut-off of a kernel, in bandwidths."""


class Density(NamedTuple):
    """``log10`` and ``density``, shape (points,): density per decade, which integrates to 1.

    ``bandwidth`` in decades; ``median_log10`` to a cell.
    """

    log10: Floats
    density: Floats
    bandwidth: float
    median_log10: float


def log_density(level: Ints, n: Ints, per_decade: int) -> Density | None:
    """Density of values counted on a logarithmic grid.

    Shape: (cells,) each -> (points,). ``level``: floor(per_decade * log10(value)), ascending; ``n`` values
    there. Unit: that of the values, as log10. A Gaussian kernel whose bandwidth is Silverman's rule on log10 of
    the values: 0.9 min(s, IQR / 1.34) n^(-1/5), at least eight cells. Missing data: None below ``LEAST`` values.
    Source: Silverman, Density Estimation for Statistics and Data Analysis (1986), eq. 3.31; binned, which for cells
    far narrower than the kernel is as good (Wand and Jones, Kernel Smoothing, 1995, appendix D).
    """
    total = int(n.sum())
    if total < LEAST:
        return None
    middle = (level + 0.5) / per_decade
    mean = float(np.average(middle, weights=n))
    spread = float(np.sqrt(np.average((middle - mean) ** 2, weights=n) * total / (total - 1)))
    below = np.cumsum(n)
    q25, q50, q75 = (
        float(middle[np.searchsorted(below, np.ceil(q * total))]) for q in (0.25, 0.5, 0.75)
    )
    iqr = (q75 - q25) / 1.34
    width = 0.9 * (min(spread, iqr) if iqr > 0 else spread) * total**-0.2
    width = max(width, _LEAST_CELLS / per_decade)
    reach = int(np.ceil(_REACH * width * per_decade))
    counts = np.zeros(int(level[-1] - level[0]) + 1 + 2 * reach)
    counts[level - level[0] + reach] = n
    offsets = np.arange(-reach, reach + 1) / per_decade
    kernel = np.exp(-0.5 * (offsets / width) ** 2)
    smooth = np.convolve(counts, kernel / kernel.sum(), mode="same") * per_decade / total
    places = (np.arange(len(counts)) + level[0] - reach + 0.5) / per_decade
    return Density(places, smooth, width, q50)
