"""Scaling of numbers of any size so that their squares do not overflow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats


def tamed(values: Floats) -> Floats:
    """``values`` (n,) or (n, p), n > 0, with columns divided by their largest magnitude: for unit-free methods.

    Missing data: NaN stays NaN, and a column of nothing else is left as it is.
    """
    largest = np.fmax.reduce(np.abs(values), axis=0)
    fit: Floats = values / np.where(largest > 0, largest, 1.0)
    return fit
