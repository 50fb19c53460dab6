"""A straight line through a series whose errors hang together, and how sure its slope is."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

LEVEL = 0.95
FEWEST = 12


@dataclass(frozen=True)
class Slope:
    """Change per unit of time, with its 95% interval."""

    value: float
    lower: float
    upper: float
    n: int

    def __str__(self) -> str:
        return f"{self.value:+.3f} ({self.lower:+.3f} to {self.upper:+.3f}), n = {self.n}"


def fit(times: np.ndarray, values: np.ndarray) -> Slope:
    """Least squares; the interval counts neighbours that resemble each other as fewer points.

    With residuals of lag-one correlation rho, n points are worth ``m = n (1 - rho) / (1 + rho)`` (Santer et al. 2000,
    doi:10.1029/1999JD901105); rho is corrected for the trend that was taken out, -(2 + 4 rho) / n. Below 12 points
    nothing is said: the interval is everything.
    """
    n = len(times)
    if n < FEWEST:
        return Slope(math.nan, -math.inf, math.inf, n)
    centred = times - times.mean()
    spread = float(centred @ centred)
    slope = float(centred @ values) / spread
    residuals = values - values.mean() - slope * centred
    squares = float(residuals @ residuals)
    if squares == 0:
        return Slope(slope, slope, slope, n)
    rho = float(residuals[1:] @ residuals[:-1]) / squares
    rho = min(max(rho + (2 + 4 * rho) / n, 0.0), 0.99)
    worth = max(n * (1 - rho) / (1 + rho), 3.0)
    error = math.sqrt(squares / (worth - 2) / spread)
    half = float(student.ppf((1 + LEVEL) / 2, worth - 2)) * error
    return Slope(slope, slope - half, slope + half, n)
