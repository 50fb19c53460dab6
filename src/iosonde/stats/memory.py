"""How many independent values a series with a memory is worth.

The share of values below the median varies as that of n / kappa independent values::

    kappa = 1 + 2 sum_k (2 / pi) asin(rho_k)

``rho_k``: autocorrelation of the logarithms; ``(2 / pi) asin`` makes of it that of "below the median", exact for normal
values. The sum ends where a pair of neighbouring lags is not positive any more, and never rises (Geyer 1992, initial
monotone sequence). Subtracting the mean took ``kappa / n`` of each: ``kappa = k / (1 - kappa / n)``.
"""

from __future__ import annotations

import numpy as np

from iosonde.model.arrays import Floats

_FEWEST = 8
_MOST = 1 << 15
"""A longer series is judged on its first values."""
_CLIPPED = (0.05, 0.95)
"""Few very slow values are no memory."""


def worth(values: Floats) -> int:
    """Number of independent values whose median is as certain. ``values`` (n,): in order of time, above 0; no NaN.

    n where nothing shows a memory, and below 8 values, which show none.
    """
    n = len(values)
    if n < _FEWEST:
        return n
    some = np.log(np.maximum(values[:_MOST], 1e-300))
    some = np.clip(some, *np.quantile(some, _CLIPPED))
    centred = some - some.mean()
    if not centred.any():
        return n
    rho = _autocorrelation(centred)
    kappa = first = _monotone_sum(2 / np.pi * np.arcsin(np.clip(rho, -1.0, 1.0)))
    for _ in range(20):
        kappa = min(first / max(1 - kappa / len(some), 0.05), len(some) / 2)
    return max(1, int(n / max(kappa, 1.0)))


def _autocorrelation(centred: Floats) -> Floats:
    """(n,) At lags 0 to n - 1; 1 at lag 0."""
    n = len(centred)
    spectrum = np.abs(np.fft.rfft(centred, 2 * n)) ** 2
    found = np.fft.irfft(spectrum)[:n]
    return np.asarray(found / found[0])


def _monotone_sum(rho: Floats) -> float:
    """``1 + 2 sum rho_k`` over pairs of lags (2i, 2i + 1) while they are positive, none larger than the one before."""
    even = len(rho) // 2 * 2
    pairs = rho[:even:2] + rho[1:even:2]
    end = int(np.argmax(pairs <= 0)) if (pairs <= 0).any() else len(pairs)
    return float(2 * np.minimum.accumulate(pairs[:end]).sum() - 1) if end else 1.0
