"""Tail probabilities of distributions, for arrays of any shape."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats, Ints


def normal_share(z: Floats) -> Floats:
    """Share of a standard normal variable below ``z``. NaN stays NaN."""
    from scipy.special import ndtr  # type: ignore[import-untyped, unused-ignore]

    share: Floats = ndtr(z)
    return share


def normal_quantile(p: Floats) -> Floats:
    """Quantile of the standard normal distribution at ``p``. NaN stays NaN."""
    from scipy.special import ndtri  # type: ignore[import-untyped, unused-ignore]

    z: Floats = ndtri(p)
    return z


def normal_density(z: Floats) -> Floats:
    """Density of a standard normal variable at ``z``."""
    density: Floats = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    return density


def poisson_tail(count: Ints, expected: Floats) -> Floats:
    """Probability of at least ``count`` if ``expected`` are expected; 1 for a count of 0."""
    from scipy.special import gammainc  # type: ignore[import-untyped, unused-ignore]

    tail: Floats = np.where(count > 0, gammainc(np.maximum(count, 1), expected), 1.0)
    return tail
