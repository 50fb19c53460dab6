"""A straight line through a series whose errors hang together, and how sure its slope is."""

import math
from dataclasses import dataclass

import numpy as np

ROUNDS = 2000
LEVEL = 0.95


@dataclass(frozen=True)
class Slope:
    """Change per unit of time, with its 95 % interval."""

    value: float
    lower: float
    upper: float
    n: int

    def __str__(self) -> str:
        return f"{self.value:+.3f} ({self.lower:+.3f} to {self.upper:+.3f}), n = {self.n}"


def fit(times: np.ndarray, values: np.ndarray, seed: int = 1) -> Slope:
    """Least squares; the interval from circular blocks of residuals (Politis and Romano 1992).

    Blocks are long enough for the autocorrelation of the residuals as an AR(1) process, sqrt(n) at least. Fewer than
    12 points say nothing: the interval is everything.
    """
    n = len(times)
    if n < 12:
        return Slope(math.nan, -math.inf, math.inf, n)
    centred = times - times.mean()
    weights = centred / (centred @ centred)
    slope = float(weights @ values)
    residuals = values - values.mean() - slope * centred
    # Residuals of a fit are smaller than the errors.
    residuals *= math.sqrt(n / (n - 2))
    block = _block(residuals)
    random = np.random.default_rng(seed)
    starts = random.integers(0, n, (ROUNDS, math.ceil(n / block)))
    index = (starts[:, :, None] + np.arange(block)) % n
    drawn = residuals[index.reshape(ROUNDS, -1)[:, :n]]
    off = drawn @ weights
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(off, [tail, 1 - tail])
    return Slope(slope, slope - float(high), slope - float(low), n)


def _block(residuals: np.ndarray) -> int:
    """Three times the distance over which residuals still resemble each other."""
    n, variance = len(residuals), float(residuals @ residuals)
    rho = float(residuals[1:] @ residuals[:-1]) / variance if variance > 0 else 0.0
    rho = min(max(rho, 0.0), 0.99)
    distance = (1 + rho) / (1 - rho)
    return int(min(max(math.sqrt(n), 3 * distance), n / 4))
