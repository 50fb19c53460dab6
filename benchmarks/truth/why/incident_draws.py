"""Distributions of the noise of incidents' latencies: factors around 1."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from iosonde.model.arrays import Floats

Draw = Callable[[np.random.Generator, int], Floats]


def _lognormal(rng: np.random.Generator, n: int) -> Floats:
    return np.exp(0.3 * rng.standard_normal(n))


def _heavy(rng: np.random.Generator, n: int) -> Floats:
    return _lognormal(rng, n) * np.where(rng.random(n) < 0.02, 1 + rng.pareto(1.5, n), 1.0)


def _bimodal(rng: np.random.Generator, n: int) -> Floats:
    """A quarter comes from a cache, twenty times as quick."""
    return _lognormal(rng, n) * np.where(rng.random(n) < 0.25, 0.05, 1.0)


def _autocorrelated(rng: np.random.Generator, n: int) -> Floats:
    """A level that wanders over minutes."""
    from scipy.signal import lfilter  # type: ignore[import-untyped, unused-ignore]

    rho = 0.97
    walk = lfilter([0.2 * (1 - rho**2) ** 0.5], [1, -rho], rng.standard_normal(n))
    return _lognormal(rng, n) * np.exp(np.asarray(walk))


DRAWS: dict[str, Draw] = {
    "lognormal": _lognormal,
    "heavy tail": _heavy,
    "bimodal": _bimodal,
    "autocorrelated": _autocorrelated,
}
